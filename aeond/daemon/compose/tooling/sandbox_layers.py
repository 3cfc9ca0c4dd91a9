"""Which layers of the sandbox this machine has, and what a missing one means."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from aeond.daemon.config.schema import SandboxKind
from aeond.frozen import frozen

PROBE_SECONDS: Final = 10.0


@frozen
class Layer:
    """A layer of the sandbox: whether it is there, and for a missing one the consequence and the remedy.

    Without an `essential` one, no sandboxed tool runs.
    """

    name: str
    there: bool
    found: str
    advice: str = ""

    @property
    def essential(self) -> bool:
        return self.name in ("unit", "bubblewrap", "system calls")


def layers(kind: SandboxKind, unit_socket: Path) -> Iterator[Layer]:
    """The layers of sandboxed calls in this sandbox on this machine, each found by a probe."""
    from aeond.capabilities.sandbox.cgroups import find_group_home
    from aeond.capabilities.sandbox.confinement.landlock import version
    from aeond.capabilities.sandbox.confinement.system_calls import why_no_filter

    has_unit = os.access(unit_socket, os.W_OK)
    if kind is SandboxKind.UNIT and not has_unit:
        advice = "no sandboxed tool runs: enable aeond-tool.socket, or set tools.sandbox to auto"
        yield Layer("unit", False, f"{unit_socket} cannot be used, and tools.sandbox is unit", advice)
    elif has_unit and kind is not SandboxKind.BWRAP:
        yield Layer(
            "unit", True, f"systemd runs each call in a unit of its own, as a user of its own ({unit_socket})"
        )
    else:
        yield bubblewrap()
        home = find_group_home()
        yield Layer(
            "control groups",
            home is not None,
            f"bound the memory and the processes of a whole call ({home.folders[0]})"
            if home
            else "this user may not make any",
            ""
            if home
            else "without them, memory is bounded for each process of a call and not for all together, and if root runs the"
            " daemon, the number of processes is not bounded: start the daemon with systemd, which makes them",
        )
    problem = why_no_filter()
    yield Layer(
        "system calls",
        not problem,
        problem or "a filter refuses sockets, namespaces, mounts and set-user-ID bits (seccomp)",
        "no sandboxed tool runs without it: use a kernel with CONFIG_SECCOMP_FILTER" if problem else "",
    )
    landlock = version()
    yield Layer(
        "landlock",
        landlock > 0,
        f"confines files once more, beside the mounts (version {landlock})"
        if landlock
        else "this kernel does not offer it",
        ""
        if landlock
        else "only the mounts of the sandbox confine files: enable lsm=landlock, Linux 5.13 or newer",
    )


def why_no_programs(kind: SandboxKind, unit_socket: Path) -> str:
    """Why there are no tools here that run programs, and the remedy; "" if there are."""
    from aeond.capabilities.sandbox.confinement.system_calls import why_no_filter

    if kind is SandboxKind.NONE:
        return "tools.sandbox is none, and programs run in a sandbox only: set it to auto"
    if kind is SandboxKind.BWRAP or (kind is SandboxKind.AUTO and not os.access(unit_socket, os.W_OK)):
        layer = bubblewrap()
        if not layer.there:
            return f"bubblewrap {layer.found}: {layer.advice}"
    return why_no_filter()


def bubblewrap() -> Layer:
    program = shutil.which("bwrap")
    if program is None:
        return Layer(
            "bubblewrap", False, "is not installed", "no sandboxed tool runs: apt-get install bubblewrap"
        )
    attempt = [program, "--unshare-user", "--unshare-all", "--disable-userns", "--ro-bind", "/", "/"]
    place = os.open("/", os.O_PATH)
    try:
        done = subprocess.run(
            [*attempt, "--bind-fd", str(place), "/mnt", "--proc", "/proc", "true"],
            check=False,
            capture_output=True,
            pass_fds=[place],
            env={},
            timeout=PROBE_SECONDS,
        )
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2] if done.returncode else ""
        works = not done.returncode
    except subprocess.TimeoutExpired:
        works, said = False, f"it did not end within {PROBE_SECONDS:g} s"
    except OSError as error:
        works, said = False, str(error)
    finally:
        os.close(place)
    if not works:
        advice = (
            "no sandboxed tool runs: install bubblewrap 0.10 or newer, or 0.8.0-2+deb12u1, and allow unprivileged user"
            " namespaces"
        )
        return Layer("bubblewrap", False, f"does not work here ({said:.200})", advice)
    return Layer("bubblewrap", True, f"separates files, processes and network of each call ({program})")
