"""A network for the gate of tools: scripted name servers, and servers that answer with fixed bytes."""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

import anyio

from aeond.capabilities.egress.gate import Streams


def page(body: bytes = b"hello", status: int = 200, *fields: str) -> bytes:
    """A whole response."""
    head = "".join(f"{field}\r\n" for field in (*fields, f"Content-Length: {len(body)}"))
    return f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode("latin-1") + body


class ScriptedNetwork:
    """Answers questions and connections in the order given, and records each connection in `dials`. `sent` is what each
    server received."""

    def __init__(self, answers: Sequence[Sequence[str]] = (), responses: Sequence[bytes] = ()) -> None:
        self.answers = list(answers)
        self.responses = list(responses)
        self.dials: list[str] = []
        self.names: list[tuple[str, bool]] = []
        self.asked: list[str] = []
        self._servers: list[socket.socket] = []
        self._dialled = asyncio.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()

    async def resolve(self, host: str, _port: int) -> Sequence[str]:
        self.asked.append(host)
        if not self.answers:
            raise OSError("there is no such name")
        return self.answers.pop(0)

    async def dial(self, address: str, port: int, context: ssl.SSLContext | None, name: str) -> Streams:
        self.dials.append(f"{address}:{port}")
        self.names.append((name, context is not None))
        ours, theirs = socket.socketpair()
        self._servers.append(theirs)
        theirs.sendall(self.responses.pop(0))
        self._dialled.set()
        return await asyncio.open_connection(sock=ours)

    async def begun(self) -> None:
        """Returns once the first server has received something."""
        await self._dialled.wait()
        await anyio.wait_readable(self._servers[0])

    def sent(self) -> list[str]:
        received = []
        for server in self._servers:
            server.settimeout(30)
            received.append(b"".join(_received(server)).decode("latin-1"))
        return received


def _received(server: socket.socket) -> Iterator[bytes]:
    while True:
        try:
            data = server.recv(1 << 16)
        except ConnectionResetError:  # the client closed without reading everything
            return
        if not data:
            return
        yield data
