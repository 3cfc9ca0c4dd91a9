"""The gate: a connection is opened only to an address that was checked, and the address is used as it was checked."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Final

import anyio

from aeond.capabilities.egress.addresses import LOCAL_KINDS, special_kind
from aeond.capabilities.egress.rules import EgressRules
from aeond.capabilities.egress.urls import Url
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import RecordedEffect, ignore_effect
from aeond.errors import ToolError

CONNECT_SECONDS: Final = 10.0
MAX_ADDRESSES: Final = 8
RESOLVING_THREADS: Final = 4

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a host. OSError if it has none."""
Record = Callable[[RecordedEffect], None]
Dial = Callable[[str, int, ssl.SSLContext | None, str], Awaitable[Streams]]
"""Connects to an IP address and a port; with a TLS context, to the host of that name there. OSError if that fails."""


class Gate:
    """Opens connections for tools as far as `rules` allow.

    A name is resolved once for each connection. If one of its addresses is not public the host is refused, and the
    connection goes to one of the addresses that were checked, so that a name server cannot exchange them in between. `trust`
    makes the TLS context; every server must prove its name. The environment is not consulted for proxies.
    """

    def __init__(
        self,
        rules: EgressRules,
        *,
        resolve: Resolve | None = None,
        dial: Dial | None = None,
        trust: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        self.rules = rules
        self._resolve = resolve or SystemResolver().addresses
        self._dial = dial or connect_to
        self._context = cache(trust)  # made for the first request over TLS

    def require_allowed(self, url: Url) -> None:
        """ToolError (reason HOST_NOT_ALLOWED) unless the rules allow the host. Resolves nothing."""
        if not self.rules.allow(url):
            raise ToolError(
                f"the configuration does not allow {url.host_port}: do without it, or ask the user to add it to"
                " egress.hosts",
                reason="HOST_NOT_ALLOWED",
                field="url",
            )

    async def checked_addresses(self, url: Url) -> Sequence[str]:
        """The addresses to which a connection may go, at least one. ToolError (reason HOST_NOT_ALLOWED,
        ADDRESS_NOT_PUBLIC, HOST_UNKNOWN)."""
        self.require_allowed(url)
        if url.is_address:
            found: Sequence[str] = (url.host,)
        else:
            try:
                found = (await self._resolve(url.host, url.port))[:MAX_ADDRESSES]
            except (OSError, UnicodeError) as error:
                raise ToolError(
                    f"the name {url.host} has no address", reason="HOST_UNKNOWN", field="url", retryable=True
                ) from error
        kinds = {address: special_kind(address) for address in found}
        permitted = LOCAL_KINDS if self.rules.is_local(url) else frozenset[str]()
        for address, kind in kinds.items():
            if kind and kind not in permitted:
                raise ToolError(
                    f"{url.host_port} has the address {address:.64}, which is not public ({kind}): the user can allow"
                    " services of this machine and its network in egress.local",
                    reason="ADDRESS_NOT_PUBLIC",
                    field="url",
                )
        if not found:
            raise ToolError(f"the name {url.host} has no address", reason="HOST_UNKNOWN", field="url")
        return found

    @asynccontextmanager
    async def opened(self, url: Url, record: Record = ignore_effect) -> AsyncIterator[tuple[Streams, str]]:
        """A connection for one request, and the address that it goes to. ToolError (reason as `checked_addresses`,
        CONNECTION_FAILED, CERTIFICATE_INVALID). The connection is gone after the block. A server that was connected to and
        did not prove its name is recorded; a request over the connection is for the caller to record."""
        addresses = await self.checked_addresses(url)
        context = self._context() if url.scheme == "https" else None
        streams, address = await self._first(url, addresses, context, record)
        try:
            yield streams, address
        finally:
            streams[1].transport.abort()

    async def _first(
        self, url: Url, addresses: Sequence[str], context: ssl.SSLContext | None, record: Record
    ) -> tuple[Streams, str]:
        """The first address that accepts the connection."""
        last: Exception | None = None
        for address in addresses:
            try:
                with anyio.fail_after(CONNECT_SECONDS):
                    return await self._dial(address, url.port, context, url.host), address
            except ssl.SSLCertVerificationError as error:
                record(RecordedEffect("host.contacted", url.host_port, f"no request, at {address}"))
                raise ToolError(
                    f"{url.host_port} does not prove its name: {error.verify_message}",
                    reason="CERTIFICATE_INVALID",
                    field="url",
                ) from error
            except (OSError, TimeoutError) as error:
                last = error
        why = "in time" if isinstance(last, TimeoutError) else f"({last})"
        raise ToolError(
            f"{url.host_port} accepts no connection {why:.200}",
            reason="CONNECTION_FAILED",
            field="url",
            retryable=True,
        ) from last


class SystemResolver:
    """Asks the system's resolver, in a few threads of its own: one that hangs delays nothing else."""

    def __init__(self) -> None:
        self._threads = WorkerThreads(RESOLVING_THREADS)

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        found = await self._threads.run(
            lambda _stopped: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )
        return tuple(dict.fromkeys(str(one[4][0]) for one in found))


async def connect_to(address: str, port: int, context: ssl.SSLContext | None, name: str) -> Streams:
    # asyncio's own streams: a cancelled read of anyio's that becomes readable in the same iteration raises in a callback
    if context is None:
        return await asyncio.open_connection(address, port)
    return await asyncio.open_connection(address, port, ssl=context, server_hostname=name)
