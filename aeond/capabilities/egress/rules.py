"""The hosts that the owner allows: the first check of a request, before any name is resolved."""

from collections.abc import Collection
from typing import Final, Self

from aeond.capabilities.egress.urls import PORTS, Url, canonical_host, named, parse_url
from aeond.frozen import frozen

_ANY: Final = "*"


@frozen
class HostPattern:
    """`suffix` matches every host below it ("" for every host at all); without a suffix `host` matches exactly. Without a
    `port` the usual ones of http and https match."""

    host: str
    suffix: str | None
    port: int | None

    def matches(self, url: Url) -> bool:
        if url.port != self.port and (self.port is not None or url.port not in PORTS.values()):
            return False
        if self.suffix is None:
            return url.host == self.host
        return not self.suffix or (not url.is_address and url.host.endswith(self.suffix))


def host_pattern(text: str) -> HostPattern:
    """Compiles `example.org`, `*.example.org` or `*`, each with or without `:port`. ValueError with the reason."""
    host, port = _split(text)
    if host == _ANY:
        return HostPattern("", "", port)
    if host.startswith("*."):
        below = canonical_host(host[2:])
        return HostPattern("", f".{below}", port)
    return HostPattern(canonical_host(host), None, port)


def host_port(text: str) -> str:
    """`host:port` in canonical form. ValueError with the reason."""
    host, port = _split(text)
    if port is None:
        raise ValueError("has no port")
    return named(canonical_host(host), port)


def _split(text: str) -> tuple[str, int | None]:
    host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        return text, None
    if not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 1 << 16):
        raise ValueError("has no valid port")
    return host, int(port)


@frozen
class EgressRules:
    """`hosts` are those allowed if all their addresses are public; `local` are the exact `host:port` that may have
    addresses of this machine or its network."""

    hosts: tuple[HostPattern, ...] = ()
    local: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hosts: Collection[str], local: Collection[str]) -> Self:
        """Compiles the configuration. ValueError with the reason."""
        return cls(tuple(host_pattern(one) for one in hosts), frozenset(host_port(one) for one in local))

    def is_local(self, url: Url) -> bool:
        return url.host_port in self.local

    def allow(self, url: Url) -> bool:
        return self.is_local(url) or any(pattern.matches(url) for pattern in self.hosts)


def server_rules(address: str, *, local: bool) -> EgressRules:
    """The rules for one server that the owner named: it alone, and if it is `local` also with addresses of this machine or
    its network. ToolError (reason URL_INVALID)."""
    url = parse_url(address)
    if local:
        return EgressRules((), frozenset({url.host_port}))
    return EgressRules((HostPattern(url.host, None, url.port),))
