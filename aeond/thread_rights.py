"""Access to files with the rights of another user, enforced by the Linux kernel.

Linux keeps the identity that it checks for each thread. A thread that takes the rights of a user opens and creates files as
this user would, and never gets other rights again: it drops its capabilities as well, and ends with its work.

Meanwhile no thread may change the identity of the whole process (`os.setuid` and similar): the C library ends a process in
whose threads that does not have the same result. New processes may have another identity.
"""

import errno
import functools
import os
import platform
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from aeond.user_rights import UserRights

T = TypeVar("T")

# The C library changes the groups of all threads; the system call changes those of the calling thread.
_SETGROUPS: Final = {"x86_64": 116, "aarch64": 159}
_CAPABILITIES_VERSION: Final = 0x20080522
_UNCHANGED: Final = -1  # no valid id: setfsuid changes nothing and returns the present one
_PROBE_ID: Final = 65_534

_thread = threading.local()


def mark_single_use() -> None:
    """Allows `take_rights` in this thread, which must end after the work that did so."""
    _thread.single_use = True


def holds_rights() -> bool:
    """Whether the calling thread has taken the rights of a user, so that it must end after its present work."""
    return getattr(_thread, "rights", None) is not None


def take_rights(rights: UserRights) -> None:
    """Gives the calling thread the rights of a user for all further access to files; repeated calls change nothing.

    OSError (EPERM) if this process may not act for other users, and for the rights of a second user. RuntimeError in a
    thread that is not marked: the daemon's other work would have these rights, too.
    """
    held = getattr(_thread, "rights", None)
    if held == rights:
        return
    if not getattr(_thread, "single_use", False):
        raise RuntimeError("only a thread for a single use may take a user's rights")
    if held is not None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
    import ctypes  # costs memory: only for daemons that serve other users' folders

    libc = ctypes.CDLL(None, use_errno=True)

    def check(code: int) -> None:
        if code != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    groups = (ctypes.c_uint32 * len(rights.group_ids))(*rights.group_ids)
    number = ctypes.c_long(_SETGROUPS.get(platform.machine(), -1))
    check(libc.syscall(number, ctypes.c_size_t(len(groups)), groups))
    for change, wanted in ((libc.setfsgid, rights.gid), (libc.setfsuid, rights.uid)):
        change(ctypes.c_uint32(wanted))
        if ctypes.c_uint32(change(_UNCHANGED)).value != wanted:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
    # A daemon that is not root keeps those that bypass permissions otherwise.
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    check(libc.capset(header, (ctypes.c_uint32 * 6)()))
    _thread.rights = rights


def acting_as(rights: UserRights | None, work: Callable[[], T]) -> T:
    """Blocking. What the work returns or raises, done with these rights; None: with those of this process.

    OSError (EPERM) as `take_rights`.
    """
    if rights is None:
        return work()

    def carried() -> T:
        take_rights(rights)
        return work()

    with ThreadPoolExecutor(1, initializer=mark_single_use) as thread:
        return thread.submit(carried).result()


@functools.cache
def can_act_for_others() -> bool:
    """Whether this process may take the rights of other users: as root, or with CAP_SETUID and CAP_SETGID."""
    try:
        acting_as(UserRights(_PROBE_ID, _PROBE_ID), lambda: None)
    except OSError:
        return False
    return True
