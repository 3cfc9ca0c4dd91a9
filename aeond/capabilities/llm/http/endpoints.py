"""Where a server is, and how a connection to it comes about: a Unix socket, or a host by TLS or without.

TLS is verified, always: by the system's authorities, or by one file of one's own.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import anyio

from aeond.capabilities.llm.http.gathering import Streams, opened
from aeond.errors import InvalidInputError, LLMError, LLMGoneError
from aeond.frozen import frozen

CONNECT_SECONDS: Final = 5.0
FAR_CONNECT_SECONDS: Final = 15.0  # a name to look up and a handshake over a slow line
NEXT_ADDRESS_SECONDS: Final = 0.25  # of a host with several; see RFC 8305

# Numbers of OpenSSL's verification errors: X509_V_ERR_*.
_EXPIRED: Final = frozenset({9, 10})  # not yet valid, no longer valid
_OTHER_HOST: Final = frozenset({62, 64})  # names another host, another address
_VERSION: Final = re.compile(r"/v\d+$")


class BrokenExchangeError(Exception):
    """There is no server, or the exchange ended before the response was complete."""


class Endpoint(Protocol):
    """A place to connect to. `host` and `headers` go with each request, `prefix` before each path; `secret`
    is what must never be in a message ("": nothing)."""

    @property
    def host(self) -> str: ...

    @property
    def prefix(self) -> str: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def secret(self) -> str: ...

    async def connect(self) -> Streams:
        """Raises BrokenExchangeError or LLMError."""


@frozen
class UnixSocket:
    """A server on this machine."""

    path: Path
    prefix: str = ""
    secret: str = field(default="", repr=False)
    host: str = "engine"

    @property
    def headers(self) -> Mapping[str, str]:
        return _authorisation(self.secret)

    async def connect(self) -> Streams:
        try:
            with anyio.fail_after(CONNECT_SECONDS):
                loop = asyncio.get_running_loop()
                return await opened(loop.create_unix_connection, str(self.path))
        except (OSError, TimeoutError) as error:
            raise BrokenExchangeError(f"no server is listening on {self.path.name}") from error


@frozen
class WebAddress:
    """A server that is reached by a host's name, by TLS unless `plain`.

    `ca_file` holds the certificates that may sign for it, in place of the system's ("": the system's).
    """

    name: str
    port: int
    plain: bool
    prefix: str = ""
    secret: str = field(default="", repr=False)
    ca_file: str = ""

    @property
    def host(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port == (80 if self.plain else 443) else f"{name}:{self.port}"

    @property
    def headers(self) -> Mapping[str, str]:
        return _authorisation(self.secret)

    async def connect(self) -> Streams:
        trust = None if self.plain else await anyio.to_thread.run_sync(self._trust)
        # This machine refuses at once, so there is nothing to race; and a race that is cancelled just when it is won
        # leaves the winner's socket to the garbage.
        delay = None if _is_here(self.name) else NEXT_ADDRESS_SECONDS
        try:
            with anyio.fail_after(FAR_CONNECT_SECONDS):
                connect = asyncio.get_running_loop().create_connection
                return await opened(connect, self.name, self.port, ssl=trust, happy_eyeballs_delay=delay)
        except ssl.SSLCertVerificationError as error:
            raise self._distrust(error) from error
        except ssl.SSLError as error:
            raise LLMError(
                f"{self.host} does not speak TLS as it should ({error.reason}): look at remote.url, perhaps it is "
                "http:// or another port.",
                reason="TLS_FAILED",
            ) from error
        except socket.gaierror as error:
            raise LLMError(
                f"The name {self.name} cannot be looked up ({error.strerror}): look at remote.url and the network.",
                reason="ENDPOINT_UNKNOWN",
                retryable=error.errno == socket.EAI_AGAIN,
            ) from error
        except TimeoutError as error:
            raise self._unreachable(f"no answer within {FAR_CONNECT_SECONDS:g} seconds") from error
        except OSError as error:
            raise self._unreachable(error.strerror or str(error)) from error

    def _trust(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca_file or None)
        except OSError as error:
            raise LLMError(
                f"remote.ca_file {self.ca_file} cannot be used ({error.strerror or error}): it must hold certificates "
                "in PEM form.",
                reason="CA_FILE_BROKEN",
            ) from error

    def _unreachable(self, why: str) -> LLMGoneError:
        return LLMGoneError(
            f"{self.host} cannot be reached: {why}.", reason="ENDPOINT_UNREACHABLE", retryable=True
        )

    def _distrust(self, error: ssl.SSLCertVerificationError) -> LLMError:
        """Nothing was sent. Trying again does not help."""
        said = f"The certificate of {self.host} is not accepted: {error.verify_message}"
        if error.verify_code in _EXPIRED:
            return LLMError(f"{said}. Renew it, or set this machine's clock.", reason="TLS_EXPIRED")
        if error.verify_code in _OTHER_HOST:
            return LLMError(
                f"{said}. Name the host in remote.url as the certificate does.", reason="TLS_WRONG_HOST"
            )
        return LLMError(
            f"{said}. If it is your own, name the certificate that signed it in remote.ca_file.",
            reason="TLS_UNTRUSTED",
        )


def _authorisation(secret: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {secret}"} if secret else {}


def endpoint_of(url: str, secret: str, *, ca_file: str = "", plain_anywhere: bool = False) -> Endpoint:
    """The endpoint that `https://HOST[:PORT][/PATH]`, `http://...` or `unix:/PATH` names; a version at its end
    (`/v1`) is left out, for every request brings its own.

    InvalidInputError (reason CONFIG_INVALID) for anything else, and for plain http to another machine without
    `plain_anywhere`: prompts, answers and the key would go over the wire for all to read.
    """
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme == "unix" and parts.path.startswith("/") and not parts.netloc:
        return UnixSocket(Path(parts.path), secret=secret)
    if (
        parts.scheme not in ("https", "http")
        or not parts.hostname
        or port == -1
        or parts.query
        or parts.fragment
    ):
        raise _unusable("must be https://HOST, http://HOST or unix:/PATH")
    if parts.username is not None:
        raise _unusable(
            "must not have a name and password in it: use remote.key_credential or remote.key_file"
        )
    plain = parts.scheme == "http"
    if plain and not plain_anywhere and not _is_here(parts.hostname):
        raise _unusable(
            "is plain http to another machine, where all on the way can read and change what is said: use https, or "
            "set remote.allow_plain_http where you trust the network"
        )
    return WebAddress(
        name=parts.hostname,
        port=port or (80 if plain else 443),
        plain=plain,
        prefix=_VERSION.sub("", parts.path.rstrip("/")),
        secret=secret,
        ca_file=ca_file,
    )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unusable(why: str) -> InvalidInputError:
    return InvalidInputError(f"remote.url {why}.", reason="CONFIG_INVALID", field="remote.url")
