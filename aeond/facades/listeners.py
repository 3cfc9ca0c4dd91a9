"""The sockets of a façade: a Unix socket that only its owner can open, and a port of the loopback interface."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HOST: Final = "127.0.0.1"
MIN_KEY_CHARACTERS: Final = 16
PROBE_SECONDS: Final = 2.0


class FacadeError(Exception):
    """Why a façade cannot be served: `reason` is a stable UPPER_SNAKE word for programs, `message` says what to do."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Places:
    """Where to listen. No path: not on a Unix socket; no port: not on the loopback interface; port 0: any free one.
    The port needs the key, which its clients send as a bearer token; the Unix socket has its mode instead.
    """

    path: Path | None = None
    port: int | None = None
    key: str = ""


def default_path(name: str, environment: dict[str, str] | None = None) -> Path:
    """The socket of a façade in the private runtime folder of the user. FacadeError if there is no such folder."""
    folder = (os.environ if environment is None else environment).get("XDG_RUNTIME_DIR", "")
    if not folder.startswith("/"):
        raise FacadeError(
            "XDG_RUNTIME_DIR is not set: give the path of the socket with --socket", reason="SOCKET_NO_FOLDER"
        )
    return Path(folder) / f"aeond-{name}.sock"


@contextmanager
def open_sockets(places: Places) -> Iterator[list[socket.socket]]:
    """The bound sockets, the Unix socket first; it is removed at the end. FacadeError if a socket cannot be bound, or
    the port has no key of at least MIN_KEY_CHARACTERS.
    """
    if places.path is None and places.port is None:
        raise FacadeError("a façade needs --socket or --port", reason="SOCKET_MISSING")
    if places.port is not None and len(places.key) < MIN_KEY_CHARACTERS:
        raise FacadeError(
            f"a port can be used by every user of the machine and needs a key of at least {MIN_KEY_CHARACTERS}"
            " characters: give the file that holds it with --key-file",
            reason="SECRET_MISSING",
        )
    sockets: list[socket.socket] = []
    try:
        if places.path is not None:
            sockets.append(_bind_path(places.path))
        if places.port is not None:
            sockets.append(_bind_port(places.port))
        yield sockets
    finally:
        for one in sockets:
            one.close()
        if sockets and places.path is not None:
            places.path.unlink(missing_ok=True)


def _bind_path(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)  # the socket never has another mode than 0600, not even for an instant
    try:
        _remove_leftover(path)
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise FacadeError(f"the socket {path} cannot be created: {error}", reason="SOCKET_FAILED") from error
    except FacadeError:
        listener.close()
        raise
    finally:
        os.umask(mask)
    return listener


def _remove_leftover(path: Path) -> None:
    """Removes a socket that nothing listens on any more; anything else at its path is an error."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        raise FacadeError(
            f"{path} exists and is no socket of yours: move it away, or choose another path with --socket",
            reason="SOCKET_FAILED",
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_SECONDS)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise FacadeError(f"another program is listening on {path}: stop it first", reason="SOCKET_IN_USE")


def _bind_port(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise FacadeError(
            f"port {port} of {HOST} cannot be used: {error}; choose another with --port",
            reason="SOCKET_FAILED",
        ) from error
    return listener
