"""Keeps the process small: what only starting, or work that is done, needed is given back to the machine.

Three things stay resident that a running daemon has no use for: memory that was freed and that glibc keeps
for later, an arena of its own for each of a dozen threads that hardly allocate, and the pages of native
code that ran once, while modules were imported and schemas built. On another C library, or where /proc is
not there, this does nothing.
"""

import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
_DONT_NEED = 4  # MADV_DONTNEED of sys/mman.h


def start_lean() -> None:
    """No search for garbage until `settle`: starting makes hardly any, and looking for it is a tenth of the time."""
    gc.disable()


def share_arenas() -> None:
    """All threads allocate from one arena. To be called before there are threads."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)


def settle() -> None:
    """Gives back what starting needed and running does not; what stays is no longer searched for garbage.

    To be called once, when everything is there.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    give_back()


def give_back() -> None:
    """Gives back memory that was freed, and code that ran and may not run again soon. Takes a few milliseconds."""
    library = ctypes.CDLL(None)
    malloc_trim = getattr(library, "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
    # Code is never written to: pages that are let go come back from the file's cache when they run again.
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for start, end in _code():
        library.madvise(start, end - start, _DONT_NEED)


def _code() -> Iterator[tuple[int, int]]:
    """Where the code of programs and libraries is mapped, each part from its file and not writable."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        addresses, rights, _offset, _device, inode, *_ = line.split(maxsplit=5)
        if rights == "r-xp" and inode != "0":
            start, end = addresses.split("-")
            yield int(start, 16), int(end, 16)
