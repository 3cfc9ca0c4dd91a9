"""Control groups for sandboxed calls: bounds on the memory and the number of processes of a whole call.

They exist where systemd leaves this daemon's group to it (`Delegate=`, version 2), and where root may create groups in
the hierarchies of version 1. Elsewhere, only the limits of each process apply.
"""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from aeond.capabilities.sandbox.confinement.process import MAX_PROCESSES
from aeond.frozen import frozen

_CONTROLLERS: Final = ("memory", "pids")
_OWN_LEAF: Final = "daemon"
_numbers = itertools.count(1)


@frozen
class GroupHome:
    """The folders in which groups may be made: one of version 2, or one for each controller."""

    folders: tuple[Path, ...]
    unified: bool

    @contextmanager
    def group(self, memory_bytes: int) -> Iterator["Group"]:
        """A new group, which is removed at the end; all its processes must have ended by then. OSError."""
        if self.unified:
            _divide(self.folders[0])
        name = f"aeond-{os.getpid()}-{next(_numbers)}"
        made = Group(tuple(folder / name for folder in self.folders))
        try:
            made.make(memory_bytes)
            yield made
        finally:
            made.remove()


@frozen
class Group:
    """The control group of one call."""

    folders: tuple[Path, ...]

    def make(self, memory_bytes: int) -> None:
        for folder in self.folders:
            folder.mkdir()
            for file, value in (
                ("pids.max", MAX_PROCESSES),
                ("memory.max", memory_bytes),
                ("memory.swap.max", 0),
                ("memory.oom.group", 1),
                ("memory.limit_in_bytes", memory_bytes),
                ("memory.memsw.limit_in_bytes", memory_bytes),
            ):
                if (folder / file).exists():
                    (folder / file).write_text(str(value), encoding="utf-8")

    def add(self, pid: int) -> None:
        """Moves a process into the group; its later children begin there."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid), encoding="utf-8")

    def remove(self) -> None:
        for folder in self.folders:
            with suppress(OSError):
                folder.rmdir()


def find_group_home(
    own_groups: Path = Path("/proc/self/cgroup"), mounts: Path = Path("/proc/self/mountinfo")
) -> GroupHome | None:
    """Where this process may make groups with bounds on memory and processes; None if it may not."""
    with suppress(OSError, ValueError):
        groups = _own_groups(own_groups)
        hierarchies = _hierarchies(mounts)
        old = [_folder(hierarchies.get(name), groups.get(name)) for name in _CONTROLLERS]
        if all(folder and os.access(folder, os.W_OK) for folder in old):
            return GroupHome(tuple(dict.fromkeys(folder for folder in old if folder)), unified=False)
        own = _folder(hierarchies.get(""), groups.get(""))
        if own is not None and own.name == _OWN_LEAF:  # divided already
            own = own.parent
        if own is not None and _is_delegated(own):
            return GroupHome((own,), unified=True)
    return None


def _own_groups(file: Path) -> dict[str, str]:
    """The path of this process's group for each controller of version 1, and for "" that of version 2."""
    lines = [line.split(":", 2) for line in file.read_text(encoding="utf-8").splitlines()]
    return {name: path for _, names, path in lines for name in names.split(",")}


def _hierarchies(file: Path) -> dict[str, tuple[str, Path]]:
    """For each controller, and for version 2 under "", the root of the mounted hierarchy and its mount point."""
    found: dict[str, tuple[str, Path]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        place, _, kind = line.partition(" - ")
        root, mount_point = place.split(" ")[3:5]
        file_system, _, options = kind.split(" ")[:3]
        names = {"cgroup2": ("",), "cgroup": tuple(options.split(","))}.get(file_system, ())
        found.update({name: (root, Path(mount_point)) for name in names})
    return found


def _folder(hierarchy: tuple[str, Path] | None, group: str | None) -> Path | None:
    if hierarchy is None or group is None:
        return None
    root, mount_point = hierarchy
    return mount_point / Path(group).relative_to(root)


def _is_delegated(own: Path) -> bool:
    """Whether systemd leaves the group to this service, and it has both controllers."""
    available = (own / "cgroup.controllers").read_text(encoding="utf-8").split()
    return set(_CONTROLLERS) <= set(available) and os.getxattr(own, "user.delegate") == b"1"


def _divide(own: Path) -> None:
    """Moves the processes of the group into a leaf, once: a group with limited children has no processes of its own."""
    if _CONTROLLERS[0] in (own / "cgroup.subtree_control").read_text(encoding="utf-8").split():
        return
    (own / _OWN_LEAF).mkdir(exist_ok=True)
    for pid in (own / "cgroup.procs").read_text(encoding="utf-8").split():
        with suppress(ProcessLookupError):
            (own / _OWN_LEAF / "cgroup.procs").write_text(pid, encoding="utf-8")
    (own / "cgroup.subtree_control").write_text(
        " ".join(f"+{name}" for name in _CONTROLLERS), encoding="utf-8"
    )
