"""The server of the page: which request gets which response, from the start until it is interrupted."""

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from aeon_cli.text.encoding import plain
from aeon_web import assets
from aeon_web.access import HOST, Access
from aeon_web.calls import CALLS, Arguments, status_of
from aeon_web.exchange import MAX_CONNECTIONS, Connections, Request, Response
from aeon_web.stream import follow
from aeond_client.async_client import AsyncClient
from aeond_client.connection.retries import Retries
from aeond_client.connection.sockets import candidates
from aeond_client.errors import AeondError, InvalidInputError

# A person waits for the reply: three attempts within half a second.
_RETRIES = Retries(attempts=3)

OpenClient = Callable[[], AsyncClient]


async def serve(
    socket: str, port: int, ready: Callable[[Access], None], open_client: OpenClient | None = None
) -> None:
    """Serves the page on the loopback interface until it is cancelled; 0 is any free port.

    `ready` is called once the port is open. `open_client` makes a client for each call, by default one for the daemon
    at `socket`. Raises InvalidInputError if `socket` cannot be the path of one, OSError if the port is taken.
    """
    candidates(socket)  # raises InvalidInputError for a path that no socket can have
    page: Page | None = None

    async def answer(request: Request) -> Response:
        assert page is not None
        return await page.answer(request)

    connections = Connections(
        answer,
        lambda status: _error(status, "BAD_REQUEST", "The request is not acceptable."),
        lambda request: page is not None and page.access.admits(request),
    )
    server = await asyncio.start_server(connections.accept, HOST, port, backlog=MAX_CONNECTIONS)
    try:
        page = Page(Access(server.sockets[0].getsockname()[1]), socket, open_client)
        ready(page.access)
        await server.serve_forever()
    finally:
        server.close()
        await connections.close()


class Page:
    """The responses. Each call finds the daemon again, so that it may come and go."""

    def __init__(self, access: Access, socket: str, open_client: OpenClient | None = None) -> None:
        self.access = access
        self._socket = socket
        self._client = open_client or (lambda: AsyncClient(socket, retries=_RETRIES))
        self._assets = assets.load()

    async def answer(self, request: Request) -> Response:
        if not self.access.is_ours(request):
            return _error(421, "WRONG_HOST", f"This server is {self.access.origin} and no other.")
        if request.path in self._assets:
            if request.method not in {"GET", "HEAD"}:
                return _error(405, "WRONG_METHOD", "The page is read with GET.")
            found = self._assets[request.path]
            return found if request.method == "GET" else Response(found.status, found.headers)
        if not request.path.startswith("/api/"):
            return _error(404, "NOT_FOUND", "There is no such page.")
        if request.method != "POST" or not self.access.is_from_page(request):
            return _error(403, "WRONG_ORIGIN", "Calls are made by the page itself, with POST.")
        if request.headers.get("content-type") != "application/json":
            return _error(415, "WRONG_TYPE", "The arguments of a call are JSON.")
        try:
            return await self._call(request.path.removeprefix("/api/"), request)
        except AeondError as error:
            return _error(status_of(error), error.reason, error.message, error.error_id)

    async def _call(self, name: str, request: Request) -> Response:
        try:
            given = Arguments(json.loads(request.body))
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"The arguments are not JSON: {error}.", reason="INVALID_JSON") from error
        if name == "begin":
            return self._begin(given)
        if not self.access.admits(request):
            return _error(401, "NO_SESSION", "This page needs a new link: run aeonctl open again.")
        if name == "stream":
            headers = {**assets.HEADERS, "content-type": "text/event-stream"}
            run_id, after_seq = given.text("run_id"), given.number("after_seq")
            return Response(200, headers, partial(follow, self._client, self._socket, run_id, after_seq))
        call = CALLS.get(name)
        if call is None:
            return _error(404, "NOT_FOUND", "There is no such call.")
        async with self._client() as client:
            return _json(200, plain(await call(client, given)))

    def _begin(self, given: Arguments) -> Response:
        session = self.access.begin(given.text("token"))
        if session is None:
            return _error(
                401, "LINK_USED", "This link was used already, or is too old: run aeonctl open again."
            )
        return _json(200, {"key": session.key}, {"set-cookie": self.access.cookie_of(session)})


def _json(status: int, value: Any, more: dict[str, str] | None = None) -> Response:
    headers = {**assets.HEADERS, "content-type": "application/json", **(more or {})}
    return Response(status, headers, json.dumps(value, allow_nan=False).encode())


def _error(status: int, reason: str, message: str, error_id: str = "") -> Response:
    return _json(status, {"reason": reason, "message": message, "error_id": error_id})
