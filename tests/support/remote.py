"""Servers for the adapter of remote ones: real ones on a port, by TLS or without, and certificates of our own."""

import asyncio
import contextlib
import random
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import anyio
import trustme

from aeond.capabilities.llm.adapters.remote import RemoteAdapter
from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.external.remote_engine import RemoteEngine, RemoteSettings
from aeond.capabilities.llm.http.endpoints import endpoint_of
from aeond.daemon.clocks import SystemClock
from aeond.ports import Clock
from tests.support.doubles import ManualClock

PIECE_BYTES: Final = 1 << 16
END_SECONDS: Final = 10.0


class HurriedClock(ManualClock):
    """Waits for nothing: its time jumps to whatever is waited for. `waits` has how long each was."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def sleep_until(self, monotonic_seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.waits.append(monotonic_seconds - self.now)
        self.now = monotonic_seconds


class Authority:
    """A certificate authority of a test's own; `file` is what trusts it."""

    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA()
        self.file = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(self.file)

    def server_side(self, name: str = "localhost", *, expired: bool = False) -> ssl.SSLContext:
        """The certificate of a server with this `name`."""
        end = datetime.now(UTC) - timedelta(days=1) if expired else None
        begin = datetime(2000, 1, 1, tzinfo=UTC) if expired else None
        issued = self._authority.issue_cert(name, not_after=end, not_before=begin)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued.configure_cert(context)
        return context


@contextlib.asynccontextmanager
async def front_of(socket: Path, shown: ssl.SSLContext | None) -> AsyncIterator[int]:
    """A loopback port that forwards to the Unix socket, with TLS if a certificate is given.

    At the end no connection is left: garbage-collected ones would be reported in another test.
    """
    served: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        served.add(task)
        writers.append(writer)
        try:
            await _joined(socket, reader, writer)
        finally:
            served.discard(task)

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=shown) as server:
        yield server.sockets[0].getsockname()[1]
    await anyio.lowlevel.checkpoint()  # connections accepted last start
    for task in served:
        task.cancel()
    if served:
        await asyncio.wait(served, timeout=END_SECONDS)
    for writer in writers:
        # A close by TLS waits for the other side; one that both sides closed has nothing left that could be aborted,
        # which Python 3.11.2 does not look at first.
        with contextlib.suppress(AttributeError):
            writer.transport.abort()
    await anyio.lowlevel.checkpoint()  # an aborted connection is closed in the next turn of the loop


async def _joined(socket: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Both ways between a client and the Unix socket, until either side has left."""
    try:
        inner_reader, inner_writer = await asyncio.open_unix_connection(socket)
        try:
            async with anyio.create_task_group() as tasks:
                for source, target in ((reader, inner_writer), (inner_reader, writer)):
                    tasks.start_soon(_copied, source, target, tasks.cancel_scope)
        finally:
            inner_writer.transport.abort()
    finally:
        writer.close()


async def _copied(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, both: anyio.CancelScope
) -> None:
    """Ends both directions when either side has left."""
    with contextlib.suppress(OSError):
        while piece := await reader.read(PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    both.cancel()


@contextlib.asynccontextmanager
async def remote(
    url: str,
    *,
    secret: str = "",
    ca_file: Path | None = None,
    settings: RemoteSettings | None = None,
    clock: Clock | None = None,
    patience: Clock | None = None,
) -> AsyncIterator[tuple[RemoteAdapter, RemoteEngine]]:
    """The adapter and the engine of the server at `url`. The engine looks again by `clock`, the adapter waits
    between its attempts by `patience`."""
    clock = clock or SystemClock()
    endpoint = endpoint_of(url, secret, ca_file=str(ca_file or ""))
    async with RemoteEngine(endpoint, settings or RemoteSettings(), clock) as engine:
        yield RemoteAdapter(engine, Retries(patience or clock, random.random)), engine


@contextlib.asynccontextmanager
async def remote_way(way: str, socket: Path, folder: Path) -> AsyncIterator[RemoteAdapter]:
    """The adapter of the server on the Unix socket, which is reached by `unix`, `http` or `https`."""
    if way == "unix":
        async with remote(f"unix:{socket}") as (llm, engine):
            await engine.ready()
            yield llm
        return
    authority = Authority(folder)
    async with front_of(socket, authority.server_side() if way == "https" else None) as port:
        url = f"{way}://localhost:{port}/v1"
        async with remote(url, secret="a key", ca_file=authority.file) as (llm, engine):
            await engine.ready()
            yield llm
