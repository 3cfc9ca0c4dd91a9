"""One HTTP exchange: h11 speaks the protocol, asyncio moves the bytes.

Each exchange has a connection of its own. Closing it cancels the request, and no request is sent on a kept
connection that the server has just closed. (anyio's own sockets are not used: a cancelled read that becomes
readable in the same iteration of the loop raises in a callback.)
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING

from aeond.capabilities.llm.http.endpoints import BrokenExchangeError, Endpoint
from aeond.frozen import frozen

if TYPE_CHECKING:
    import h11

READ_BYTES = 1 << 16


@frozen
class Response:
    """Status, headers with lower-case names, and the body as it comes; from `gather` on in larger pieces, until these bytes come."""

    status: int
    headers: Mapping[str, str]
    body: AsyncGenerator[bytes, None]
    gather: Callable[[bytes], None]


@contextlib.asynccontextmanager
async def exchange(endpoint: Endpoint, method: str, path: str, content: bytes) -> AsyncIterator[Response]:
    """Sends a request with a JSON body and gives the response once its head is there.

    Raises BrokenExchangeError, also while the body is read, and what the endpoint raises when it cannot be
    reached. The connection is gone after the block.
    """
    import h11

    connection = h11.Connection(h11.CLIENT)
    headers = {
        "host": endpoint.host,
        "content-type": "application/json",
        "content-length": str(len(content)),
        **endpoint.headers,
    }
    request = h11.Request(method=method, target=endpoint.prefix + path, headers=list(headers.items()))
    reader, writer = await endpoint.connect()
    try:
        for part in (request, h11.Data(content), h11.EndOfMessage()):
            writer.write(connection.send(part) or b"")
        with contextlib.suppress(OSError):  # a server that refuses early says so before it closes
            await writer.drain()
        head = await next_event(connection, reader)
        while isinstance(head, h11.InformationalResponse):
            head = await next_event(connection, reader)
        if not isinstance(head, h11.Response):
            raise BrokenExchangeError("the connection closed without a response")
        named = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        async with contextlib.aclosing(body_of(connection, reader)) as body:
            yield Response(head.status_code, named, body, reader.gather)
    finally:
        writer.transport.abort()


async def body_of(connection: "h11.Connection", reader: asyncio.StreamReader) -> AsyncGenerator[bytes, None]:
    """What was read at once is given at once, whatever the chunks that it came in."""
    import h11

    event: object = h11.NEED_DATA
    while event is h11.NEED_DATA:
        event = await next_event(connection, reader)
        data = b""
        while isinstance(event, h11.Data):
            data += event.data
            event = parsed_event(connection)
        if data:
            yield data


async def next_event(connection: "h11.Connection", reader: asyncio.StreamReader) -> object:
    """The next thing that the server said; reads from it as long as that takes."""
    import h11

    while (event := parsed_event(connection)) is h11.NEED_DATA:
        try:
            data = await reader.read(READ_BYTES)
        except OSError as error:
            raise BrokenExchangeError(str(error) or "the connection broke") from error
        connection.receive_data(data)
    return event


def parsed_event(connection: "h11.Connection") -> object:
    """The next thing in what was read of the server; NEED_DATA where it is not complete."""
    import h11

    try:
        return connection.next_event()
    except h11.RemoteProtocolError as error:
        raise BrokenExchangeError(str(error) or "the connection broke") from error
