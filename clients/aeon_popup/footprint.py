"""Keeps the program small, because it waits in the background of every session.

Two kinds of memory stay resident without use: OpenSSL, which the standard library loads although the popup speaks over
Unix sockets alone, and pages of libraries that were read once, while they were loaded and the first window was made.
With another C library, or without /proc, `give_back` does nothing.
"""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

_DONT_NEED = 4  # MADV_DONTNEED of sys/mman.h


def leave_out_openssl() -> None:
    """Makes asyncio work without TLS, and hashlib with Python's own functions, as in a Python built without OpenSSL.

    Call before asyncio is imported. In a process that has it already, does nothing.
    """
    if "asyncio" not in sys.modules:
        # Python raises ImportError for a module whose entry is None; both users expect that.
        sys.modules |= dict.fromkeys(("ssl", "_hashlib"))  # type: ignore[arg-type]  # typeshed omits None


def give_back() -> None:
    """Returns freed memory and unchanged pages of libraries to the system, in a few milliseconds. Pages that are read again
    are mapped again from the page cache.
    """
    library = ctypes.CDLL(None)
    malloc_trim = getattr(library, "malloc_trim", None)
    if malloc_trim is None:
        return
    malloc_trim(0)
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    # Two looks, because a library that another thread is loading seems to be unchanged until it is linked.
    for start, end in _now() & _now():
        library.madvise(start, end - start, _DONT_NEED)


def _now() -> set[tuple[int, int]]:
    try:
        return set(unchanged(Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return set()


def unchanged(smaps: str) -> Iterator[tuple[int, int]]:
    """The memory ranges that are as they are in a file, and cannot be written. Others that cannot be written were changed
    when a library was loaded, and would lose that: pages of them are anonymous, in memory or swapped out.
    """
    addresses = ""
    for line in smaps.splitlines():
        name, *values = line.split()
        if not name.endswith(":"):
            rights, _offset, _device, inode, *_ = values
            addresses = name if rights in ("r-xp", "r--p") and inode != "0" else ""
        elif name in ("Anonymous:", "Swap:") and values[0] != "0":
            addresses = ""
        elif name == "VmFlags:" and addresses:  # the last line of a range
            start, end = addresses.split("-")
            yield int(start, 16), int(end, 16)
