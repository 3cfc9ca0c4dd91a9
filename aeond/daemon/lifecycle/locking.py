"""One daemon per state folder and per socket: a lock that the Linux kernel releases however the daemon
ends.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aeond.errors import AlreadyExistsError, RefusedError


@contextmanager
def single_instance(lock_file: Path, used: Path | None = None) -> Iterator[None]:
    """Holds the lock. AlreadyExistsError (reason ANOTHER_INSTANCE) if another process does, RefusedError
    (reason FOLDER_REFUSED) if its folder cannot be used. used: what an error says is in use; the lock's folder
    if None.

    The file is kept, with the id of its last holder: after removal, two daemons could hold two locks of the
    same name.
    """
    try:
        descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RefusedError(
            f"{lock_file} cannot be opened ({error.strerror}): make this user the owner of"
            f" {lock_file.parent}, or configure another state_dir",
            reason="FOLDER_REFUSED",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise AlreadyExistsError(
                f"another aeond (process {holder}) uses {used or lock_file.parent}: stop it first, or configure"
                " a separate state_dir and socket",
                reason="ANOTHER_INSTANCE",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.close(descriptor)
