"""The listening socket: bound by us on a path, or handed to us already bound."""

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aeond.errors import AlreadyExistsError, InvalidInputError, NotFoundError, RefusedError, WrongStateError

BACKLOG = 128
MAX_PATH_BYTES = 107  # what the kernel's sockaddr_un holds, less the closing NUL


@contextmanager
def bound_socket(path: Path, mode: int = 0o600, group_id: int | None = None) -> Iterator[socket.socket]:
    """A listening Unix socket at `path`, gone with its file at the end.

    A file left by a daemon that died is replaced; one that a live server answers on is not:
    AlreadyExistsError (reason SOCKET_IN_USE). The file never exists with a wider mode than `mode`.
    """
    check_length(path)
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        ours = _bind(listener, path, mode, group_id)
        listener.listen(BACKLOG)
        listener.setblocking(False)
        try:
            yield listener
        finally:
            with suppress(FileNotFoundError):
                if _identity(path) == ours:  # not a successor's
                    path.unlink()
    finally:
        listener.close()


def check_length(path: Path) -> None:
    """InvalidInputError (reason SOCKET_PATH_TOO_LONG) for a path that no socket can have."""
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise InvalidInputError(
            f"The socket path {path} is longer than {MAX_PATH_BYTES} bytes: choose a shorter one.",
            reason="SOCKET_PATH_TOO_LONG",
        )


def inherited_socket(descriptor: int) -> socket.socket:
    """The listening Unix socket behind a descriptor that another program bound for us.

    InvalidInputError (reason NOT_A_LISTENER) when it is anything else. Closing it leaves its file alone.
    """
    try:
        listener = socket.socket(fileno=descriptor)
    except OSError as error:
        raise InvalidInputError(
            f"Descriptor {descriptor} is no socket ({error.strerror}): pass the listening socket's.",
            reason="NOT_A_LISTENER",
        ) from None
    listening = listener.family == socket.AF_UNIX and listener.getsockopt(
        socket.SOL_SOCKET, socket.SO_ACCEPTCONN
    )
    if not listening:
        listener.detach()
        raise InvalidInputError(
            f"Descriptor {descriptor} is no listening Unix stream socket: pass one that is.",
            reason="NOT_A_LISTENER",
        )
    listener.setblocking(False)
    return listener


def _bind(listener: socket.socket, path: Path, mode: int, group_id: int | None) -> tuple[int, int]:
    """Binds and returns the identity of the file made."""
    previous = os.umask(0o177)
    try:
        listener.bind(str(path))
    except FileNotFoundError:
        raise NotFoundError(
            f"There is no folder {path.parent} to put the socket in: make it, or choose another path.",
            reason="SOCKET_FOLDER_MISSING",
        ) from None
    except PermissionError:
        raise RefusedError(
            f"No right to make a socket in {path.parent}: choose a folder of this user's.",
            reason="SOCKET_FOLDER_REFUSED",
        ) from None
    finally:
        os.umask(previous)
    if group_id is not None:
        os.chown(path, -1, group_id)
    path.chmod(mode)
    return _identity(path)


def _identity(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_dev, status.st_ino


def _remove_stale(path: Path) -> None:
    """Removes a socket file that nobody answers on."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise WrongStateError(
            f"{path} is there and is no socket: move it away, or choose another path.",
            reason="SOCKET_PATH_TAKEN",
        )
    if _answers(path):
        raise AlreadyExistsError(
            f"A server is answering on {path}: use that one, or stop it first.", reason="SOCKET_IN_USE"
        )
    with suppress(FileNotFoundError):
        path.unlink()


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except OSError as error:
            # Anything but a refusal (a full queue, no right to connect) means that somebody is there.
            return error.errno not in (errno.ECONNREFUSED, errno.ENOENT)
        return True
