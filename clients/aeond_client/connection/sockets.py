"""Finds the daemon's socket: candidates, their order, and the state of each."""

import errno
import os
import socket
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from aeond_client.errors import InvalidInputError, NoDaemonError, RefusedError
from aeond_client.socket_address import ENVIRONMENT_VARIABLE, SocketAddress, SocketSource

SYSTEM_SOCKET = "/run/aeond/aeond.sock"
# The Linux kernel stores a socket path in 108 bytes, including the final NUL.
_MAX_PATH_BYTES = 107


class SocketState(StrEnum):
    """The state of a socket path."""

    LISTENING = "a daemon is listening"
    ABSENT = "the socket does not exist"
    SILENT = "no daemon is listening"
    DENIED = "permission denied"


def candidates(
    explicit: str | os.PathLike[str] = "", environment: Mapping[str, str] = os.environ
) -> tuple[SocketAddress, ...]:
    """The sockets to try, in order. An explicitly given socket is the only candidate."""
    if os.fspath(explicit):
        return (_named(os.fspath(explicit), SocketSource.OPTION),)
    if environment.get(ENVIRONMENT_VARIABLE):
        return (_named(environment[ENVIRONMENT_VARIABLE], SocketSource.ENVIRONMENT),)
    return (
        SocketAddress(str(_own_socket(environment)), SocketSource.USER),
        SocketAddress(SYSTEM_SOCKET, SocketSource.SYSTEM),
    )


def admin_socket(path: str) -> str:
    """The default path of the administrative socket of the daemon whose socket this is."""
    socket_path = Path(path)
    return str(socket_path.with_name(f"{socket_path.stem}-admin{socket_path.suffix}"))


def _own_socket(environment: Mapping[str, str]) -> Path:
    """The default socket of the user's own daemon, which makes the same choice."""
    session = Path(environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    if session.is_dir():
        return session / "aeond" / "aeond.sock"
    state = environment.get("XDG_STATE_HOME", "")
    folder = Path(state) if state.startswith("/") else Path(environment.get("HOME", "/"), ".local", "state")
    return folder / "aeond" / "run" / "aeond.sock"


def _named(name: str, source: SocketSource) -> SocketAddress:
    path = name.removeprefix("unix://").removeprefix("unix:")
    try:
        absolute = str(Path(path).expanduser().absolute())
    except RuntimeError:
        raise InvalidInputError(
            f"{path!r} refers to the home of an unknown user.",
            reason="SOCKET_PATH_UNUSABLE",
            field="socket",
        ) from None
    if "\0" in path or not path or len(os.fsencode(absolute)) > _MAX_PATH_BYTES:
        raise InvalidInputError(
            f"A socket path must have 1 to {_MAX_PATH_BYTES} bytes; choose a shorter one than {absolute!r}.",
            reason="SOCKET_PATH_UNUSABLE",
            field="socket",
        )
    return SocketAddress(absolute, source)


def probe(path: str) -> SocketState:
    """Connects and disconnects immediately, without waiting."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as connection:
        try:
            connection.connect(path)
        except PermissionError:
            return SocketState.DENIED
        except (FileNotFoundError, NotADirectoryError):
            return SocketState.ABSENT
        except BlockingIOError:
            return SocketState.LISTENING  # its queue is full, so we would have to wait as well
        except OSError as error:
            if error.errno in {errno.ECONNREFUSED, errno.ENOTSOCK, errno.EPROTOTYPE}:
                return SocketState.SILENT
            raise
    return SocketState.LISTENING


def find_socket(
    explicit: str | os.PathLike[str] = "", environment: Mapping[str, str] = os.environ
) -> SocketAddress:
    """The first socket on which a daemon is listening.

    Raises RefusedError (reason SOCKET_DENIED) if one exists but may not be used, otherwise NoDaemonError,
    each with the state of every path; InvalidInputError for a path that exceeds the limit of Unix sockets.
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
            "Permission denied on the daemon's socket; join its group (often `aeond`) or ask its"
            f" owner.\n{tried}",
            reason="SOCKET_DENIED",
            field="socket",
        )
    raise NoDaemonError(
        f"No daemon is listening. Tried:\n{tried}", tried=tuple(address for address, _ in found)
    )
