"""The system calls of a sandboxed process: a seccomp filter, compiled and installed here.

The filter denies whole classes of calls (sockets, namespaces, mounts, keys, other processes' memory), single
arguments of others (set-user-ID bits), and every call that is newer than this list. Denied calls fail with an error,
so that libraries fall back or report it.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

from aeond.frozen import frozen


class Comparison(Enum):
    """How an argument of a call is compared, as the opcode of the jump."""

    HAS_BITS = 0x45  # JSET
    EQUALS = 0x15  # JEQ


@frozen
class Test:
    """A condition on the low 32 bits of an argument; with `negated`, its opposite."""

    argument: int
    comparison: Comparison
    value: int
    negated: bool = False


@frozen
class Denied:
    """Calls that fail with this errno: always, or if all conditions of one of the `cases` hold."""

    names: str
    code: int = errno.EPERM
    cases: tuple[tuple[Test, ...], ...] = ((),)


_AF_UNIX: Final = 1
_AF_INET: Final = 2
_AF_INET6: Final = 10
_DATAGRAM_BITS: Final = 2  # set in SOCK_DGRAM and SOCK_RAW, not in SOCK_STREAM and SOCK_SEQPACKET
_SET_ID_BITS: Final = 0o6000
_CREATES: Final = os.O_CREAT | (os.O_TMPFILE & ~os.O_DIRECTORY)
_NAMESPACES: Final = 0x7E020000  # the CLONE_NEW flags that clone() accepts
_INJECTING: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX


def _mode(argument: int) -> tuple[tuple[Test, ...], ...]:
    return ((Test(argument, Comparison.HAS_BITS, _SET_ID_BITS),),)


def _opened(flags: int) -> tuple[tuple[Test, ...], ...]:
    bits = Test(flags + 1, Comparison.HAS_BITS, _SET_ID_BITS)
    return ((Test(flags, Comparison.HAS_BITS, _CREATES), bits),)


SOCKETS: Final = (
    # A pair of connected ones is allowed, since it reaches no one; a datagram one could be addressed.
    Denied("socket", errno.EAFNOSUPPORT),
    Denied("connect bind listen accept accept4"),
    Denied(
        "socketpair",
        errno.EAFNOSUPPORT,
        (
            (Test(0, Comparison.EQUALS, _AF_UNIX, negated=True),),
            (Test(1, Comparison.HAS_BITS, _DATAGRAM_BITS),),
        ),
    ),
)
CONFINING: Final = (
    # A program with these bits would give the daemon's account to other users.
    Denied("chmod fchmod mkdir mknod creat", cases=_mode(1)),
    Denied("fchmodat fchmodat2 mkdirat mknodat", cases=_mode(2)),
    Denied("open", cases=_opened(1)),
    Denied("openat", cases=_opened(2)),
    Denied("openat2", errno.ENOSYS),  # its arguments are in memory, where a filter cannot read them
    # Namespaces and mounts.
    Denied("clone", cases=((Test(0, Comparison.HAS_BITS, _NAMESPACES),),)),
    Denied("clone3", errno.ENOSYS),  # as openat2; libraries fall back to clone
    Denied("unshare setns chroot pivot_root mount umount2"),
    Denied("fsopen fsconfig fsmount fspick open_tree move_mount mount_setattr"),
    Denied("open_by_handle_at name_to_handle_at fanotify_init"),
    # Other processes.
    Denied("ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp"),
    Denied("ioctl", cases=tuple((Test(1, Comparison.EQUALS, code),) for code in _INJECTING)),
    # Large parts of the kernel that tools do not need.
    Denied("add_key request_key keyctl"),
    Denied("bpf perf_event_open userfaultfd memfd_secret"),
    Denied("io_uring_setup io_uring_enter io_uring_register", errno.ENOSYS),
    Denied("personality modify_ldt uselib lookup_dcookie nfsservctl sysfs _sysctl"),
    # The machine. These also need capabilities that no sandbox has.
    Denied("init_module finit_module delete_module create_module kexec_load kexec_file_load reboot"),
    Denied("swapon swapoff acct quotactl quotactl_fd iopl ioperm syslog vhangup sethostname setdomainname"),
    Denied("settimeofday clock_settime adjtimex clock_adjtime migrate_pages move_pages"),
)
DENIED: Final = (*SOCKETS, *CONFINING)
LOOPBACK: Final = (
    # Families that a network namespace does not confine, such as AF_VSOCK, and those that programs do not need.
    Denied(
        "socket socketpair",
        errno.EAFNOSUPPORT,
        (tuple(Test(0, Comparison.EQUALS, one, negated=True) for one in (_AF_UNIX, _AF_INET, _AF_INET6)),),
    ),
    *CONFINING,
)

# Numbers of the calls above: on x86_64, on aarch64 (-1: does not exist there); equal on both from 424.
_NUMBERS: Final = """
accept 43 202 accept4 288 242 acct 163 89 add_key 248 217 adjtimex 159 171 bind 49 200 bpf 321 280
chmod 90 -1 chroot 161 51 clock_adjtime 305 266 clock_settime 227 112 clone 56 220 clone3 435 435
connect 42 203 creat 85 -1 create_module 174 -1 delete_module 176 106 fanotify_init 300 262 fchmod 91 52
fchmodat 268 53 fchmodat2 452 452 finit_module 313 273 fsconfig 431 431 fsmount 432 432 fsopen 430 430
fspick 433 433 init_module 175 105 io_uring_enter 426 426 io_uring_register 427 427 io_uring_setup 425 425
ioctl 16 29 ioperm 173 -1 iopl 172 -1 kcmp 312 272 kexec_file_load 320 294 kexec_load 246 104 keyctl 250 219
listen 50 201 lookup_dcookie 212 18 memfd_secret 447 447 migrate_pages 256 238 mkdir 83 -1 mkdirat 258 34
mknod 133 -1 mknodat 259 33 modify_ldt 154 -1 mount 165 40 mount_setattr 442 442 move_mount 429 429
move_pages 279 239 name_to_handle_at 303 264 nfsservctl 180 42 open 2 -1 open_by_handle_at 304 265
open_tree 428 428 openat 257 56 openat2 437 437 perf_event_open 298 241 personality 135 92
pidfd_getfd 438 438 pivot_root 155 41 process_madvise 440 440 process_vm_readv 310 270
process_vm_writev 311 271 ptrace 101 117 quotactl 179 60 quotactl_fd 443 443 reboot 169 142
request_key 249 218 setdomainname 171 162 sethostname 170 161 setns 308 268 settimeofday 164 170
socket 41 198 socketpair 53 199 swapoff 168 225 swapon 167 224 syslog 103 116 _sysctl 156 -1 sysfs 139 -1
umount2 166 39 unshare 272 97 userfaultfd 323 282 uselib 134 -1 vhangup 153 58
"""
_LAST_KNOWN: Final = 452
_ARCHITECTURES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

_LOAD, _RETURN, _JUMP_GREATER = 0x20, 0x06, 0x25
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # in struct seccomp_data
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SECCOMP, _GET_ACTION_AVAIL = {"x86_64": 317, "aarch64": 277}, 2
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 22, 38, 2

Instruction = tuple[int, int, int, int]
"""Opcode, instructions to skip if true, if false, operand."""


def why_no_filter() -> str:
    """Why system calls cannot be filtered on this machine; "" if they can."""
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        return f"there is no list of system calls for {machine}"
    action = ctypes.c_uint32(_ERRNO)
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_long(_SECCOMP[machine])
    if libc.syscall(number, ctypes.c_uint(_GET_ACTION_AVAIL), ctypes.c_uint(0), ctypes.byref(action)) != 0:
        return f"this kernel has no seccomp filters ({os.strerror(ctypes.get_errno())})"
    return ""


def install_filter(denied: Sequence[Denied] = DENIED) -> None:
    """Applies the filter to this thread, its later threads and all its child processes, irrevocably.

    OSError if this machine's kernel or processor cannot do so.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"there is no list of system calls for {machine}")
    program = compiled(denied, machine)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    head = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, _MODE_FILTER, head, 0, 0)):
        if libc.prctl(*(ctypes.c_ulong(one) if isinstance(one, int) else one for one in call)) != 0:
            raise OSError(ctypes.get_errno(), "the seccomp filter is not accepted")


def compiled(denied: Sequence[Denied], machine: str) -> Sequence[Instruction]:
    """The filter as a program of classic BPF for x86_64 or aarch64."""
    architecture, column = _ARCHITECTURES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (Comparison.EQUALS.value, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_GREATER, 0, 1, _LAST_KNOWN),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    numbers = numbers_of(column)
    for one in denied:
        for name in one.names.split():
            if (number := numbers[name]) >= 0:
                block = _block(one)
                program += [(Comparison.EQUALS.value, 0, len(block), number), *block]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def numbers_of(column: int) -> Mapping[str, int]:
    """The numbers of the denied calls on x86_64 (0) or aarch64 (1)."""
    words = _NUMBERS.split()
    return dict(zip(words[::3], map(int, words[1 + column :: 3]), strict=True))


def _block(denied: Denied) -> Sequence[Instruction]:
    """The program for one call: denied in each of the cases, else allowed."""
    block: list[Instruction] = []
    for case in denied.cases:
        steps: list[Instruction] = []
        for number, test in enumerate(case):
            rest = 2 * (len(case) - number) - 1  # to the end of this case
            jump = (rest, 0) if test.negated else (0, rest)
            load = _ARGUMENTS_AT + 8 * test.argument  # the low half: both processors are little-endian
            steps += [(_LOAD, 0, 0, load), (test.comparison.value, *jump, test.value)]
        block += [*steps, (_RETURN, 0, 0, _ERRNO | denied.code)]
    always = () in denied.cases
    return block if always else [*block, (_RETURN, 0, 0, _ALLOW)]
