"""The listening socket: bound here to a path, or inherited already bound."""

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aeond.errors import AlreadyExistsError, InvalidInputError, NotFoundError, RefusedError, WrongStateError

BACKLOG = 128
MAX_PATH_BYTES = 107  # the size of the kernel's sockaddr_un, less the final NUL


@contextmanager
def bound_socket(path: Path, mode: int = 0o600, group_id: int | None = None) -> Iterator[socket.socket]:
    """A listening Unix socket at `path`; the file is removed at the end.

    A file left by a dead daemon is replaced. If a live server answers on it: AlreadyExistsError (reason
    SOCKET_IN_USE). The file never exists with a wider mode than `mode`.
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
    """InvalidInputError (reason SOCKET_PATH_TOO_LONG) for a path that exceeds the limit of Unix sockets."""
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise InvalidInputError(
            f"The socket path {path} is longer than {MAX_PATH_BYTES} bytes: choose a shorter one.",
            reason="SOCKET_PATH_TOO_LONG",
        )


def inherited_socket(descriptor: int) -> socket.socket:
    """The listening Unix socket behind a descriptor inherited from another program.

    InvalidInputError (reason NOT_A_LISTENER) for any other descriptor. Closing the socket keeps its file.
    """
    try:
        listener = socket.socket(fileno=descriptor)
    except OSError as error:
        raise InvalidInputError(
            f"Descriptor {descriptor} is not a socket ({error.strerror}): pass that of the listening socket.",
            reason="NOT_A_LISTENER",
        ) from None
    listening = listener.family == socket.AF_UNIX and listener.getsockopt(
        socket.SOL_SOCKET, socket.SO_ACCEPTCONN
    )
    if not listening:
        listener.detach()
        raise InvalidInputError(
            f"Descriptor {descriptor} is not a listening Unix stream socket: pass one that is.",
            reason="NOT_A_LISTENER",
        )
    listener.setblocking(False)
    return listener


def _bind(listener: socket.socket, path: Path, mode: int, group_id: int | None) -> tuple[int, int]:
    """Binds and returns the identity of the created file."""
    previous = os.umask(0o177)
    try:
        listener.bind(str(path))
    except FileNotFoundError:
        raise NotFoundError(
            f"The folder {path.parent} for the socket does not exist: create it, or choose another path.",
            reason="SOCKET_FOLDER_MISSING",
        ) from None
    except PermissionError:
        raise RefusedError(
            f"Permission denied to create a socket in {path.parent}: choose a folder owned by this user.",
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
    """Removes a socket file on which no server is listening."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise WrongStateError(
            f"{path} exists and is not a socket: move it away, or choose another path.",
            reason="SOCKET_PATH_TAKEN",
        )
    if _answers(path):
        raise AlreadyExistsError(
            f"A server is already listening on {path}: use it, or stop it first.", reason="SOCKET_IN_USE"
        )
    with suppress(FileNotFoundError):
        path.unlink()


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except OSError as error:
            # Any other error than a refusal (a full queue, no permission to connect) means that a server is
            # listening.
            return error.errno not in (errno.ECONNREFUSED, errno.ENOENT)
        return True
