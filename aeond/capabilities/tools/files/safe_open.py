"""Finding a file below a folder so that no path, link or race leads out of it.

The Linux kernel does it in one step (openat2, since 5.6): a path that leaves the folder at any point of its
resolution fails. Where the call is missing or forbidden, it is replaced by a slower walk that follows no
links at all.
"""

import errno
import logging
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from aeond.openat2 import RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS, libc, openat2

_ATTEMPTS: Final = 32
_RENAME_NOREPLACE: Final = 1

Resolver = Callable[[int, str], int]
"""Takes a descriptor of a folder and a path below it; returns an O_PATH descriptor of what is there.

Raises OSError: EXDEV when the path leaves the folder, ELOOP for links that are not followed, EAGAIN when
the folders changed under every attempt, ENOENT and other errors as `open` does.
"""

log = logging.getLogger(__name__)


def best_resolver() -> Resolver:
    """`resolve_in_kernel` where this machine has it; else `resolve_by_steps`, with a warning in the log."""
    try:
        here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.close(resolve_in_kernel(here, "."))
        finally:
            os.close(here)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
        log.warning(
            "this kernel does not offer openat2 (%s): file tools follow no symbolic links at all",
            errno.errorcode.get(error.errno, "unknown"),
        )
        return resolve_by_steps
    return resolve_in_kernel


def keep_out(resolve: Resolver, places: Sequence[str], but_for: Sequence[str] = ()) -> Resolver:
    """A resolver that finds nothing in these places (real paths of files or folders), except below `but_for`.

    Access to the daemon's own files would allow a tool to change its state or read its secrets. The check uses
    the opened file and not its name, so that no link or race gets past it. The resolver raises OSError
    (EACCES) for a path into these places, also for one of them that does not exist.
    """

    def refuse(real: str, path: str) -> None:
        if _is_in(real, places) and not _is_in(real, but_for):
            raise OSError(errno.EACCES, "one of the daemon's own files", path)

    def resolve_outside(root: int, path: str) -> int:
        try:
            found = resolve(root, path)
        except FileNotFoundError:
            above, name = os.path.split(path.rstrip("/"))
            if name not in ("", ".", ".."):
                holder = resolve_outside(root, above or ".")
                try:
                    refuse(f"{_real_path(holder).rstrip('/')}/{name}", path)
                finally:
                    os.close(holder)
            raise
        try:
            refuse(_real_path(found), path)
        except OSError:
            os.close(found)
            raise
        return found

    return resolve_outside


def _real_path(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - the text of the link, compared with real paths


def _is_in(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith(f"{place.rstrip('/')}/") for place in places)


def resolve_in_kernel(root: int, path: str) -> int:
    """Follows links as long as they stay below `root`; never those of /proc that name open files."""
    for _ in range(_ATTEMPTS):
        try:
            return openat2(path, os.O_PATH | os.O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS, root)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EINTR):  # a folder moved while its path was looked at
                raise
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), path)


def rename_to_free_name(name: str, folder: int, new_name: str, new_folder: int) -> None:
    """Renames an entry of one folder into another one, given by descriptors. FileExistsError if the new name is
    taken, also by a writer at the same time where the file system supports that check."""
    import ctypes

    rename = getattr(libc(), "renameat2", None)
    code = errno.ENOSYS
    if rename is not None:
        code = 0
        if rename(folder, os.fsencode(name), new_folder, os.fsencode(new_name), _RENAME_NOREPLACE) != 0:
            code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL):  # not offered by this file system
        with suppress(FileNotFoundError):
            os.lstat(new_name, dir_fd=new_folder)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)
        os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)
    elif code:
        raise OSError(code, os.strerror(code), name)


def resolve_by_steps(root: int, path: str) -> int:
    """Opens one folder after the other and refuses every link and every `..`."""
    if path.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    at = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=root)
    for part in path.split("/"):
        if part in ("", "."):
            continue
        try:
            below = _step(at, part)
        finally:
            os.close(at)
        at = below
    return at


def _step(at: int, part: str) -> int:
    if part == "..":
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), part)
    below = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    if stat.S_ISLNK(os.fstat(below).st_mode):
        os.close(below)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part)
    return below
