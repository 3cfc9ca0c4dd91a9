"""Other names of files: the paths by which further mounts of their file system, such as bind mounts, lead to them."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from aeond.frozen import frozen

TABLE: Final = Path("/proc/self/mountinfo")
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


@frozen
class Mount:
    """`root` is the folder of the file system that is mounted at `point`."""

    device: str
    root: Path
    point: Path


def other_names(places: Iterable[Path], table: Path = TABLE) -> Sequence[Path]:
    """The further paths of these real paths, and of the parts of them that are mounted elsewhere. Neither the places nor
    the paths need to exist.
    """
    try:
        mounts = _mounts(table)
    except OSError:
        return ()
    return list(dict.fromkeys(name for place in places for name in _names(place, mounts)))


def _names(place: Path, mounts: Sequence[Mount]) -> Iterable[Path]:
    mount = _mount_of(place, mounts)
    if mount is None:
        return
    inside = mount.root / place.relative_to(mount.point)
    for other in mounts:
        if other.device != mount.device:
            continue
        if inside.is_relative_to(other.root):
            name = other.point / inside.relative_to(other.root)
        elif other.root.is_relative_to(inside):
            name = other.point
        else:
            continue
        # A mount that another one covers leads nowhere.
        if not name.is_relative_to(place) and _mount_of(name, mounts) is other:
            yield name


def _mount_of(path: Path, mounts: Sequence[Mount]) -> Mount | None:
    """The mount with this path: of those at the same point the last one."""
    found: Mount | None = None
    for mount in mounts:
        if path.is_relative_to(mount.point) and (
            found is None or len(mount.point.parts) >= len(found.point.parts)
        ):
            found = mount
    return found


def _mounts(table: Path) -> Sequence[Mount]:
    """The mounts in their order, of a file as /proc/self/mountinfo."""
    lines = os.fsdecode(table.read_bytes()).split("\n")
    fields = [line.split(" ") for line in lines if line]
    return [Mount(one[2], _path(one[3]), _path(one[4])) for one in fields]


def _path(field: str) -> Path:
    return Path(_ESCAPED.sub(lambda found: chr(int(found[1], 8)), field))
