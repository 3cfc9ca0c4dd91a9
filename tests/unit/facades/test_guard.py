"""The checks of requests before a façade's application sees them."""

import json
from typing import Any

import anyio
import pytest
from starlette.types import Message, Receive, Scope, Send

from aeond.facades import guard
from aeond.facades.guard import MAX_BODY_BYTES, Guard

KEY = "a key of sixteen characters or more"
BEARER = f"Bearer {KEY}".encode()
PORT = ("127.0.0.1", 8000)
UNIX = ("/run/user/7/facade.sock", None)
GOOD = [(b"host", b"127.0.0.1:8000"), (b"authorization", BEARER)]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body of the request."""
    message = await receive()
    assert not message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


def refusal(status: int, reason: str, message: str) -> bytes:
    return json.dumps({"status": status, "reason": reason, "message": message}).encode()


async def sent(
    server: tuple[str, int | None] | None,
    headers: list[tuple[bytes, bytes]],
    *parts: Message,
    key: str = KEY,
) -> tuple[int, bytes]:
    """The status and the body of the response; status 0 if there is none."""
    waiting = list(parts or [{"type": "http.request", "body": b"hello", "more_body": False}])
    answers: list[Any] = []

    async def receive() -> Message:
        if not waiting:
            await anyio.sleep_forever()
        return waiting.pop(0)

    async def send(message: Message) -> None:
        answers.append(message)

    await Guard(echo, key, refusal)({"type": "http", "server": server, "headers": headers}, receive, send)
    return (answers[0]["status"], answers[1]["body"]) if answers else (0, b"")


async def test_the_owner_of_the_unix_socket_needs_no_key() -> None:
    """On the Unix socket a request passes with any Host and without a key."""
    assert await sent(UNIX, [(b"host", b"localhost")]) == (200, b"hello")


@pytest.mark.parametrize("host", [b"127.0.0.1:8000", b"localhost:8000", b"LOCALHOST:8000"])
async def test_a_request_with_the_key_passes_on_the_port(host: bytes) -> None:
    """On the port a request for this server that carries the key passes."""
    assert await sent(PORT, [(b"host", host), (b"authorization", BEARER)]) == (200, b"hello")


@pytest.mark.parametrize(
    ("headers", "status", "reason"),
    [
        ([GOOD[0]], 401, "invalid_api_key"),
        ([GOOD[0], (b"authorization", b"Bearer wrong")], 401, "invalid_api_key"),
        ([GOOD[0], (b"authorization", BEARER + b" ")], 401, "invalid_api_key"),
        ([GOOD[0], (b"authorization", KEY.encode())], 401, "invalid_api_key"),
        ([*GOOD, GOOD[1]], 401, "invalid_api_key"),
        ([GOOD[1]], 421, "wrong_host"),
        ([(b"host", b"evil.example:8000"), GOOD[1]], 421, "wrong_host"),
        ([(b"host", b"127.0.0.1:8001"), GOOD[1]], 421, "wrong_host"),
        ([*GOOD, GOOD[0]], 421, "wrong_host"),
        ([*GOOD, (b"origin", b"http://127.0.0.1:8000")], 403, "wrong_origin"),
        ([*GOOD, (b"origin", b"null")], 403, "wrong_origin"),
    ],
)
async def test_other_requests_on_the_port_are_refused(
    headers: list[tuple[bytes, bytes]], status: int, reason: str
) -> None:
    """Without the key, for another host, as after DNS rebinding, or from a web page, a request is refused."""
    found, body = await sent(PORT, headers)
    assert (found, json.loads(body)["reason"]) == (status, reason)


async def test_a_port_without_a_key_admits_no_client() -> None:
    """If there is no key, no header is right, not even an empty one; nor is an address that is not known."""
    assert (await sent(PORT, [GOOD[0], (b"authorization", b"")], key=""))[0] == 401
    assert (await sent(None, GOOD))[0] == 421


async def test_a_web_page_is_refused_on_the_unix_socket_too() -> None:
    """A proxy that lets browsers reach the Unix socket does not let web pages in."""
    assert (await sent(UNIX, [(b"origin", b"https://evil.example")]))[0] == 403


async def test_a_body_in_parts_arrives_complete() -> None:
    """The application gets one body, however it was sent."""
    parts = [{"type": "http.request", "body": part, "more_body": part != b"c"} for part in (b"a", b"b", b"c")]
    assert await sent(UNIX, [], *parts) == (200, b"abc")


async def test_a_body_that_is_too_large_is_refused() -> None:
    """The limit holds for the announced length, before any of it is read, and for what is sent without one."""
    announced = [(b"content-length", str(MAX_BODY_BYTES + 1).encode())]
    assert (await sent(UNIX, announced))[0] == 413
    part = {"type": "http.request", "body": b"x" * (MAX_BODY_BYTES // 2 + 1), "more_body": True}
    assert (await sent(UNIX, [], part, part))[0] == 413


async def test_a_body_that_does_not_arrive_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that stops in the middle of its body is refused after a deadline."""
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.01)
    assert (await sent(UNIX, [], {"type": "http.request", "body": b"x", "more_body": True}))[0] == 408


async def test_a_client_that_goes_away_gets_no_answer() -> None:
    """Nothing is called for a request whose client hung up before its end."""
    assert await sent(UNIX, [], {"type": "http.disconnect"}) == (0, b"")
