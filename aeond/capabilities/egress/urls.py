"""Addresses of the web, parsed strictly and only once: the parts that are checked are the parts that are used."""

import ipaddress
import re
from typing import Final
from urllib.parse import quote, urljoin

import idna

from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_URL_CHARS: Final = 4_096
MAX_HOST_CHARS: Final = 253
PORTS: Final = {"http": 80, "https": 443}

_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>.*)")
_AUTHORITY: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# Browsers and C libraries read such a last label as an IPv4 address.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_KEPT: Final = "!$&'()*+,;=:@/?%-._~[]|^{}"


@frozen
class Url:
    """An address in canonical form. `host` is a name in lower-case ASCII, or an IP address as `ipaddress` writes it;
    `target` is the path with the query, in ASCII."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def is_address(self) -> bool:
        return ":" in self.host or _NUMBER.fullmatch(self.host.rpartition(".")[2]) is not None

    @property
    def host_port(self) -> str:
        """The host and the port, as the policy names them."""
        return named(self.host, self.port)

    @property
    def authority(self) -> str:
        """The host as the field Host of a request has it: without the usual port."""
        return self.host_port if self.port != PORTS[self.scheme] else named(self.host, None)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def named(host: str, port: int | None) -> str:
    """`host:port`, with brackets around an IPv6 address."""
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"


def parse_url(text: str) -> Url:
    """The address. ToolError (reason URL_INVALID) for anything but http and https with a host, and for every form
    that another parser could read differently: user names, backslashes, blanks, control characters, IPv4 addresses in
    other notations than four decimal numbers."""

    def refused(why: str) -> ToolError:
        return ToolError(f"the address {text!r:.200} {why}", reason="URL_INVALID", field="url")

    if len(text) > MAX_URL_CHARS:
        raise refused(f"is longer than {MAX_URL_CHARS} characters")
    if any(not character.isprintable() or character in ' \\"<>`' for character in text):
        raise refused("contains a blank, a backslash, a quote or a control character")
    parts = _URL.fullmatch(text)
    if parts is None or (scheme := parts["scheme"].lower()) not in PORTS:
        raise refused("must begin with http:// or https://")
    if "@" in parts["authority"]:
        raise refused("contains a user name or a password")
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None:
        raise refused("has no valid host and port")
    port = int(authority["port"]) if authority["port"] else PORTS[scheme]
    if not 0 < port < 1 << 16:
        raise refused("has no valid port")
    try:
        host = canonical_host(authority["host"])
    except ValueError as error:
        raise refused(str(error)) from None
    rest = parts["rest"].partition("#")[0]
    target = quote(rest if rest.startswith("/") else f"/{rest}", safe=_KEPT)
    return Url(scheme, host, port, target)


def canonical_host(text: str) -> str:
    """The host in canonical form. ValueError with the reason if it is none, or is written ambiguously."""
    if text.startswith("["):
        try:
            return str(ipaddress.IPv6Address(text.strip("[]")))
        except ValueError:
            raise ValueError("has no valid IPv6 address") from None
    host = _ascii(text).removesuffix(".")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise ValueError("has an IPv4 address that is not four decimal numbers") from None
    if len(host) > MAX_HOST_CHARS or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise ValueError("has a host name that is not valid")
    return host


def _ascii(text: str) -> str:
    """The name in lower-case ASCII, by IDNA 2008 with the mapping of UTS 46."""
    try:
        if not text.isascii():
            return idna.encode(text, uts46=True).decode("ascii").lower()
        for label in text.lower().split("."):
            if label.startswith("xn--"):
                idna.ulabel(label)
    except (idna.IDNAError, UnicodeError):
        raise ValueError("has a host name that is not valid") from None
    return text.lower()


def joined(base: Url, reference: str) -> str:
    """The address to which a reference on the page `base` leads, not yet checked."""
    try:
        return urljoin(str(base), reference.strip())
    except ValueError:
        return ""
