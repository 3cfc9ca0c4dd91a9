"""What every request passes before a façade's application sees it: host, origin, key, and the bounds of its body.

Every program on the machine can reach a port of the loopback interface, and so can every web page in a browser: by
its own requests, which carry an Origin, and by a name that it rebinds to the loopback address, which is the Host.
"""

from collections.abc import Callable, MutableMapping
from hmac import compare_digest
from typing import Any, Final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES: Final = 4 << 20
BODY_SECONDS: Final = 20.0
_NAMES: Final = ("127.0.0.1", "localhost")

Refusal = Callable[[int, str, str], bytes]
"""The JSON body for a refused request, in the form of the façade's protocol: from status, reason and message."""


class _RefusedError(Exception):
    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message


class Guard:
    """An ASGI application in front of another, which receives only requests with their complete body.

    Requests on a port need the key and a Host of the loopback interface; those on the Unix socket need neither,
    because only its owner can open it. A request with an Origin comes from a browser and is refused.
    """

    def __init__(self, application: ASGIApp, key: str, refusal: Refusal) -> None:
        self._application = application
        self._key = f"Bearer {key}".encode("utf-8", "replace") if key else b""
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the start and the end of the server: the protocols have no WebSockets
            await self._application(scope, receive, send)
            return
        try:
            self._check(scope)
            body = await _body(scope, receive)
        except _RefusedError as error:
            await self._refuse(error, send)
            return
        if body is not None:
            await self._application(scope, _replaying(body, receive), send)

    def _check(self, scope: Scope) -> None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        server: tuple[str, int | None] | None = scope.get("server")
        if _values(headers, b"origin"):
            raise _RefusedError(403, "wrong_origin", "Web pages may not use this server: send no Origin.")
        if server is not None and server[1] is None:
            return  # the Unix socket
        port = 0 if server is None else server[1]
        hosts = [f"{name}:{port}".encode() for name in _NAMES]
        if len(given := _values(headers, b"host")) != 1 or given[0].lower() not in hosts:
            raise _RefusedError(421, "wrong_host", f"This server is {hosts[0].decode()} and no other.")
        given = _values(headers, b"authorization")
        # Without a key, nothing is right: a port is never open to everybody.
        if len(given) != 1 or not self._key or not compare_digest(given[0], self._key):
            raise _RefusedError(
                401, "invalid_api_key", "Send the key of --key-file as a bearer token in Authorization."
            )

    async def _refuse(self, error: _RefusedError, send: Send) -> None:
        content = self._refusal(error.status, error.reason, error.message)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            (b"connection", b"close"),  # what remains of the body is not read
        ]
        if error.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await send({"type": "http.response.start", "status": error.status, "headers": headers})
        await send({"type": "http.response.body", "body": content})


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """The complete body; None if the client went away."""
    announced = _values(scope["headers"], b"content-length")
    if any(int(length) > MAX_BODY_BYTES for length in announced):  # h11 has checked that they are numbers
        raise _too_large()
    body = bytearray()
    with anyio.move_on_after(BODY_SECONDS):
        while True:
            message: MutableMapping[str, Any] = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > MAX_BODY_BYTES:
                raise _too_large()
            if not message.get("more_body", False):
                return bytes(body)
    raise _RefusedError(408, "request_timeout", f"The body did not arrive within {BODY_SECONDS:.0f} seconds.")


def _too_large() -> _RefusedError:
    return _RefusedError(413, "request_too_large", f"A request has at most {MAX_BODY_BYTES >> 20} MiB.")


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Delivers the body first, then what comes after it: that the client went away."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return first.pop() if first else await receive()

    return next_message
