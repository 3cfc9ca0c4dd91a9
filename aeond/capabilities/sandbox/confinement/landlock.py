"""A second wall around the files of a sandboxed process: Landlock, where the kernel has it.

It holds even if the mounts of the sandbox are wrong: the process reads and executes the system and Python, writes to
its own folders, and reaches nothing else. Newer kernels also deny TCP, abstract sockets, and signals to other processes.
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_OF_FILES: Final = _EXECUTE | _WRITE | _READ | 1 << 14 | 1 << 15  # with truncation and device control
_MAKES_DEVICES_OR_SOCKETS: Final = 1 << 6 | 1 << 9 | 1 << 11
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}  # how many there are in a version; from 5 on:
_ALL_FILE_RIGHTS: Final = 16
_WITH_NETWORK, _WITH_SCOPES = 4, 6
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def version() -> int:
    """The version of Landlock that this kernel has; 0 for none."""
    with suppress(OSError):
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    return 0


def restrict(readable: Sequence[str], writable: Sequence[str], *, network: bool = False) -> int:
    """Restricts this thread, its later threads and all its child processes to these files and folders, as far as
    the kernel can, irrevocably. With `network`, TCP stays allowed.

    Returns the version of Landlock, 0 if there is none. Missing paths are ignored. OSError if the kernel has
    Landlock and refuses.
    """
    found = version()
    if not found:
        return 0
    rights = (1 << _FILE_RIGHTS.get(found, _ALL_FILE_RIGHTS)) - 1
    denied = 3 if found >= _WITH_NETWORK and not network else 0
    scopes = 3 if found >= _WITH_SCOPES else 0
    handled = struct.pack("QQQ", rights, denied, scopes)
    size = 24 if scopes else 16 if denied else 8  # older kernels refuse fields that they do not have
    rules = _call(_CREATE_RULESET, handled[:size], ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(rules, path, rights & (_EXECUTE | _READ | _LIST))
        for path in writable:
            _allow(rules, path, rights & ~_MAKES_DEVICES_OR_SOCKETS)
        for path in _DEVICES:
            _allow(rules, path, rights & (_READ | _WRITE))
        if ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))) != 0:
            raise OSError(errno.EPERM, "cannot drop privileges")
        _call(_RESTRICT_SELF, rules, ctypes.c_uint32(0))
    finally:
        os.close(rules)
    return found


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_FILES
        _call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, place), ctypes.c_uint32(0))
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result: int = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
