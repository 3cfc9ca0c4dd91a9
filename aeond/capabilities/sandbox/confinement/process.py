"""The limits that a sandboxed process sets on itself before it reads a tool's code, the same in every sandbox.

The kernel enforces them on the process and all its children. What surrounds the process (bubblewrap, a systemd unit)
adds namespaces and control groups.
"""

import os
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import aeond
from aeond.capabilities.sandbox.confinement.landlock import restrict
from aeond.capabilities.sandbox.confinement.system_calls import (
    CONFINING,
    DENIED,
    LOOPBACK,
    Denied,
    install_filter,
)
from aeond.capabilities.sandbox.messages import Limits
from aeond.errors import ToolError

MAX_PROCESSES: Final = 64
MAX_OPEN_FILES: Final = 256
MAX_FILE_BYTES: Final = 1 << 30
MAX_TEMPORARY_BYTES: Final = 256 << 20
# The daemon's own deadline comes first and has a better error message.
GRACE_SECONDS: Final = 2.0

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime")
"""The files of the system that a tool may read and execute."""

NAME_SERVICE: Final = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/ssl",
    "/etc/ca-certificates",
)
"""The files of the system that a program with network reads as well."""


def python_places() -> Sequence[str]:
    """The folders of this Python, its libraries and aeond."""
    package = Path(aeond.__file__).parent
    found = dict.fromkeys([sys.prefix, sys.base_prefix])
    if not any(package.is_relative_to(place) for place in found):
        found[str(package)] = None
    return [place for place in found if not Path(place).is_relative_to("/usr")]


def confine(limits: Limits, workspace: str) -> None:
    """Limits resources, time, files and system calls of this process. Must be called before it starts threads.

    ToolError (reason SANDBOX_UNAVAILABLE) if this machine cannot filter system calls.
    """
    processor_seconds = int(limits.seconds + GRACE_SECONDS) * (os.cpu_count() or 1) + 1
    _limit((resource.RLIMIT_AS, limits.memory_bytes), (resource.RLIMIT_CPU, processor_seconds))
    # The signal's default action ends the process, including a loop in native code.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds + GRACE_SECONDS)
    _wall_in((), (workspace,) if workspace else (), DENIED, network=False)


def confine_server(
    readable: Sequence[str], writable: Sequence[str], *, network: bool, loopback: bool
) -> None:
    """As `confine`, for a program that runs until it is stopped: without limits of time and address space, which
    runtimes such as Node's reserve and do not use. `loopback` is for a network namespace without any other network.
    """
    _limit()
    denied = CONFINING if network else LOOPBACK if loopback else DENIED
    _wall_in(readable, writable, denied, network=network or loopback)


def _limit(*more: tuple[int, int]) -> None:
    for kind, most in (
        *more,
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        *([(resource.RLIMIT_NPROC, MAX_PROCESSES)] if has_own_process_count() else []),
    ):
        _, highest = resource.getrlimit(kind)
        bound = most if highest == resource.RLIM_INFINITY else min(most, highest)
        resource.setrlimit(kind, (bound, bound))


def _wall_in(
    readable: Sequence[str], writable: Sequence[str], denied: Sequence[Denied], *, network: bool
) -> None:
    scratch = [os.environ.get("TMPDIR", "/tmp"), "/dev/shm"]  # noqa: S108 - the sandbox's own
    shown = [*SYSTEM, *(NAME_SERVICE if network else ()), *python_places(), "/proc", *readable]
    try:
        restrict(shown, [*scratch, *writable], network=network)
        install_filter(denied)
    except OSError as error:
        raise ToolError(
            f"no sandbox is available for this tool: this machine cannot limit a process ({error}):"
            " aeond doctor shows what is missing",
            reason="SANDBOX_UNAVAILABLE",
        ) from error


def has_own_process_count() -> bool:
    """Whether the kernel counts the processes of this sandbox alone: in a user namespace, since Linux 5.14. A limit
    would otherwise count all processes of the user.
    """
    with suppress(OSError, ValueError):
        major, minor = (int(part) for part in os.uname().release.split(".")[:2])
        first_line = Path("/proc/self/uid_map").read_text(encoding="utf-8").split()
        return (major, minor) >= (5, 14) and first_line != ["0", "0", str(0xFFFFFFFF)]
    return False
