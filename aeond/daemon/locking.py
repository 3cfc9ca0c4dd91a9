"""One daemon per state folder and per socket: a lock that the kernel of Linux releases however the daemon ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aeond.errors import AlreadyExistsError, RefusedError


@contextmanager
def single_instance(lock_file: Path) -> Iterator[None]:
    """Holds the lock. AlreadyExistsError (reason ANOTHER_INSTANCE) when another process does, RefusedError
    (reason FOLDER_REFUSED) when its folder cannot be used.

    The file stays behind and says who held it last: removing it would let two daemons hold two locks of
    one name.
    """
    try:
        descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RefusedError(
            f"{lock_file} cannot be opened ({error.strerror}): give {lock_file.parent} to this user, or "
            "configure another state_dir",
            reason="FOLDER_REFUSED",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise AlreadyExistsError(
                f"another aeond (process {holder}) works with {lock_file.parent}: stop it first, "
                "or give this one a state_dir and a socket of its own",
                reason="ANOTHER_INSTANCE",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.close(descriptor)
