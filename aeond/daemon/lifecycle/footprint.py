"""Keeps the process small: returns memory to the system that only start-up or finished work needed.

Three kinds of memory stay resident without use: freed memory that glibc retains, a separate malloc arena for
each of a dozen threads that rarely allocate, and pages of native code that ran once, during imports and
schema compilation. With another C library, or without /proc, these functions do nothing.
"""

import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
_DONT_NEED = 4  # MADV_DONTNEED of sys/mman.h
# Nothing else runs during a garbage collection. There is one when more than 1,000 objects are new and still exist. The sixth covers
# those that the five before it left, too, and the fifty-first of these may cover all. With a threshold of 10,000 one took 4 to 10 ms,
# and each tenth 21 to 30. With the interpreter's own, 700, a run was measured to spend a twelfth of its time in collections; how much
# it spends with 1,000 is not known.
_COLLECT_AFTER = (1_000, 5, 50)


def start_lean() -> None:
    """Disables garbage collection until `settle`: start-up produces little garbage, and collecting it takes a
    tenth of the time.
    """
    gc.disable()


def share_arenas() -> None:
    """Makes all threads use one malloc arena. Call before threads exist."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)


def settle() -> None:
    """Frees memory needed only by start-up; remaining objects are excluded from garbage collection, which is done in small parts from now on.

    Call once, when everything is open.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)
    gc.enable()
    give_back()


def give_back() -> None:
    """Returns freed memory and rarely used code pages to the system. Takes a few milliseconds."""
    library = ctypes.CDLL(None)
    malloc_trim = getattr(library, "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
    # Code pages are never modified: dropped pages are reloaded from the page cache when they run again.
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for start, end in _code():
        library.madvise(start, end - start, _DONT_NEED)


def _code() -> Iterator[tuple[int, int]]:
    """The memory ranges of mapped program code: file-backed and not writable."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        addresses, rights, _offset, _device, inode, *_ = line.split(maxsplit=5)
        if rights == "r-xp" and inode != "0":
            start, end = addresses.split("-")
            yield int(start, 16), int(end, 16)
