"""The system call openat2 of Linux: opens a path with restrictions that hold at every point of its resolution."""

import functools
import os
from typing import Any, Final

_OPENAT2: Final = 437  # the same number on every architecture
_AT_FDCWD: Final = -100
RESOLVE_NO_MAGICLINKS: Final = 0x02
RESOLVE_NO_SYMLINKS: Final = 0x04
RESOLVE_BENEATH: Final = 0x08


def openat2(path: str, flags: int, resolve: int, folder: int = _AT_FDCWD) -> int:
    """A descriptor of what the path leads to from the folder.

    OSError: as `open` does, EXDEV or ELOOP for a path that breaks the restrictions, ENOSYS or EPERM where the call is missing
    or forbidden.
    """
    import ctypes  # costs memory: only for those who touch files

    how = (ctypes.c_uint64 * 3)(flags, 0, resolve)
    found: int = libc().syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_long(folder),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)
    return found


@functools.cache
def libc() -> Any:
    """The C library, whose functions report errors by `ctypes.get_errno`."""
    import ctypes  # costs memory: only for those who touch files

    return ctypes.CDLL(None, use_errno=True)
