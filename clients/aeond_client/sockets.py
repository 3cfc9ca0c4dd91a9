"""Where the daemon listens: which sockets are tried, in which order, and what is found there."""

import errno
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from aeond_client.errors import InvalidInputError, NoDaemonError, RefusedError

SYSTEM_SOCKET = "/run/aeond/aeond.sock"
ENVIRONMENT_VARIABLE = "AEOND_SOCKET"
# The kernel of Linux keeps a socket's path in 108 bytes, the last of them zero.
_MAX_PATH_BYTES = 107


class SocketSource(StrEnum):
    """Who named the socket, in the order in which they are asked."""

    OPTION = "option"
    ENVIRONMENT = "environment"
    USER = "user"
    SYSTEM = "system"


class SocketState(StrEnum):
    """What is found at a socket's path."""

    LISTENING = "somebody listens"
    ABSENT = "there is no such socket"
    SILENT = "nobody listens there"
    DENIED = "permission denied"


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """The path of a socket, and who named it."""

    path: str
    source: SocketSource

    @property
    def target(self) -> str:
        """The name by which gRPC knows it."""
        return f"unix:{self.path}"

    def __str__(self) -> str:
        return f"{self.path} ({_SOURCE_WORDS[self.source]})"


_SOURCE_WORDS = {
    SocketSource.OPTION: "as told",
    SocketSource.ENVIRONMENT: f"from {ENVIRONMENT_VARIABLE}",
    SocketSource.USER: "yours",
    SocketSource.SYSTEM: "the system's",
}


def candidates(
    explicit: str | os.PathLike[str] = "", environment: Mapping[str, str] = os.environ
) -> tuple[SocketAddress, ...]:
    """The sockets to try, in order. A socket that somebody named is the only one."""
    if os.fspath(explicit):
        return (_named(os.fspath(explicit), SocketSource.OPTION),)
    if environment.get(ENVIRONMENT_VARIABLE):
        return (_named(environment[ENVIRONMENT_VARIABLE], SocketSource.ENVIRONMENT),)
    runtime = environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return (
        SocketAddress(str(Path(runtime, "aeond", "aeond.sock")), SocketSource.USER),
        SocketAddress(SYSTEM_SOCKET, SocketSource.SYSTEM),
    )


def _named(name: str, source: SocketSource) -> SocketAddress:
    path = name.removeprefix("unix://").removeprefix("unix:")
    try:
        absolute = str(Path(path).expanduser().absolute())
    except RuntimeError:
        raise InvalidInputError(
            f"{path!r} begins in the home of a user whom this machine does not have.",
            reason="SOCKET_PATH_UNUSABLE",
            field="socket",
        ) from None
    if "\0" in path or not path or len(os.fsencode(absolute)) > _MAX_PATH_BYTES:
        raise InvalidInputError(
            f"A socket's path has 1 to {_MAX_PATH_BYTES} bytes; name a shorter one than {absolute!r}.",
            reason="SOCKET_PATH_UNUSABLE",
            field="socket",
        )
    return SocketAddress(absolute, source)


def probe(path: str) -> SocketState:
    """Connects and hangs up at once; never waits."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as connection:
        try:
            connection.connect(path)
        except PermissionError:
            return SocketState.DENIED
        except (FileNotFoundError, NotADirectoryError):
            return SocketState.ABSENT
        except BlockingIOError:
            return SocketState.LISTENING  # so many wait that we would have to as well
        except OSError as error:
            if error.errno in {errno.ECONNREFUSED, errno.ENOTSOCK, errno.EPROTOTYPE}:
                return SocketState.SILENT
            raise
    return SocketState.LISTENING


def find_socket(
    explicit: str | os.PathLike[str] = "", environment: Mapping[str, str] = os.environ
) -> SocketAddress:
    """The first socket where somebody listens.

    Raises RefusedError (reason SOCKET_DENIED) when one is there but not for us, NoDaemonError when none
    is, each with what was found at every path; InvalidInputError for a path that no socket can have.
    """
    found: list[tuple[SocketAddress, SocketState]] = []
    for address in candidates(explicit, environment):
        state = probe(address.path)
        if state is SocketState.LISTENING:
            return address
        found.append((address, state))
    tried = "\n".join(f"  {address}: {state}" for address, state in found)
    if any(state is SocketState.DENIED for _, state in found):
        raise RefusedError(
            f"You may not use the daemon's socket; its group may (often `aeond`).\n{tried}",
            reason="SOCKET_DENIED",
            field="socket",
        )
    raise NoDaemonError(f"No daemon answers. Tried:\n{tried}", tried=tuple(address for address, _ in found))
