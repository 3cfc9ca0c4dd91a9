"""Workspace archives: packs the files below a folder into bytes, and unpacks them again.

A runner with a separate user cannot read the daemon's folders, so the workspace is copied to it and the
changes are copied back. The returned archive is untrusted: names are validated, symbolic links are not
followed, and only regular files and folders are created.
"""

import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from aeond.capabilities.sandbox.messages import MAX_PARCEL_BYTES

MAX_FILES: Final = 10_000
MAX_NAME_BYTES: Final = 4_000
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Fingerprint = tuple[int, int, int, int]
"""Size, time of change, inode and permissions: any write to a file changes its fingerprint."""


class ParcelError(Exception):
    """The files exceed the limits of an archive, or the archive is invalid."""


def _all(_name: str) -> bool:
    return True


def pack(
    folder: Path,
    known: Mapping[str, Fingerprint] | None = None,
    keeps: Callable[[str], bool] = _all,
    hidden: Collection[tuple[int, int]] = (),
) -> bytes:
    """The regular files and folders below a folder that `keeps` has by their names, except files unchanged since `known`,
    and except those in `hidden`, by device and inode, with everything below them.

    Symbolic links and other file types are left out. ParcelError if the limits are exceeded.
    """
    entries: list[tuple[str, int, bool]] = []
    contents: list[bytes] = []
    total = 0
    for path, facts in _walk(folder, keeps, hidden):
        name = str(path.relative_to(folder))
        is_file = stat.S_ISREG(facts.st_mode)
        if is_file and known is not None and known.get(name) == _fingerprint(facts):
            continue
        total += facts.st_size if is_file else 0
        if total > MAX_PARCEL_BYTES or len(entries) >= MAX_FILES:
            raise ParcelError(f"more than {MAX_PARCEL_BYTES >> 20} MiB or {MAX_FILES} files and folders")
        if not is_file:
            entries.append((f"{name}/", 0, True))
            continue
        executable = bool(facts.st_mode & stat.S_IXUSR)
        content = _content(path)
        total += len(content) - facts.st_size
        entries.append((name, len(content), executable))
        contents.append(content)
    head = json.dumps(entries).encode() + b"\n"
    if total + len(head) > MAX_PARCEL_BYTES:
        raise ParcelError(f"more than {MAX_PARCEL_BYTES >> 20} MiB")
    return head + b"".join(contents)


def fingerprints(folder: Path) -> Mapping[str, Fingerprint]:
    """The current fingerprint of each regular file below a folder."""
    return {
        str(path.relative_to(folder)): _fingerprint(facts)
        for path, facts in _walk(folder)
        if stat.S_ISREG(facts.st_mode)
    }


def unpack(parcel: bytes, folder: Path, may_change: Callable[[str], bool] = _all) -> None:
    """Creates the files of an archive below a folder, replacing each atomically, except those that may not change.
    ParcelError if the archive is invalid or points outside the folder, OSError if a file cannot be created.
    """
    line, _, contents = parcel.partition(b"\n")
    place = 0
    for name, size, executable in _entries(line):
        if name.endswith("/"):
            if may_change(name[:-1]):
                os.close(_opened(folder, _parts(name[:-1]), make=True))
            continue
        content = contents[place : place + size]
        if len(content) != size:
            raise ParcelError("archive is truncated")
        place += size
        if may_change(name):
            _write(folder, _parts(name), content, 0o700 if executable else 0o600)


def remove(names: Sequence[str], folder: Path) -> None:
    """Deletes files below a folder, ignoring missing ones. ParcelError for a name that points outside,
    OSError if a file cannot be deleted.
    """
    for name in names:
        *above, last = _parts(name)
        try:
            place = _opened(folder, above, make=False)
        except FileNotFoundError:
            continue
        try:
            if stat.S_ISREG(os.lstat(last, dir_fd=place).st_mode):
                os.unlink(last, dir_fd=place)
        except FileNotFoundError:
            continue
        finally:
            os.close(place)


def _walk(
    folder: Path,
    keeps: Callable[[str], bool] = _all,
    hidden: Collection[tuple[int, int]] = (),
) -> Iterator[tuple[Path, os.stat_result]]:
    """The folders and regular files below a folder, each folder before its contents, at any depth. Nothing below a folder
    that is not kept or is hidden."""
    waiting = [folder]
    while waiting:
        for entry in sorted(os.scandir(waiting.pop()), key=lambda one: one.name):
            facts = entry.stat(follow_symlinks=False)
            path = Path(entry.path)
            if not keeps(str(path.relative_to(folder))) or (facts.st_dev, facts.st_ino) in hidden:
                continue
            if stat.S_ISDIR(facts.st_mode):
                waiting.append(path)
                yield path, facts
            elif stat.S_ISREG(facts.st_mode):
                yield path, facts


def _content(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        return file.read(MAX_PARCEL_BYTES + 1)


def _fingerprint(facts: os.stat_result) -> Fingerprint:
    return facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_mode


def _entries(line: bytes) -> Sequence[tuple[str, int, bool]]:
    try:
        entries = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ParcelError("archive header cannot be read") from error
    shaped = isinstance(entries, list) and all(
        isinstance(entry, list)
        and [type(part) for part in entry] == [str, int, bool]
        and 0 <= entry[1] <= MAX_PARCEL_BYTES
        for entry in entries
    )
    if not shaped or len(entries) > MAX_FILES:
        raise ParcelError("archive header must be a list of files")
    return [(name, size, executable) for name, size, executable in entries]


def _parts(name: str) -> list[str]:
    """The parts of a relative name; ParcelError if it could point outside the folder."""
    parts = name.split("/")
    if "\0" in name or len(name.encode(errors="replace")) > MAX_NAME_BYTES or {"", ".", ".."} & set(parts):
        raise ParcelError(f"{name!r:.80} is not a valid file name in a workspace")
    return parts


def _opened(folder: Path, parts: Sequence[str], *, make: bool) -> int:
    """A descriptor of the folder with this path, opened without following symbolic links."""
    here = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)  # which may be that of a descriptor in /proc
    for part in parts:
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=here)
            below = os.open(part, _FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


def _write(folder: Path, parts: Sequence[str], content: bytes, mode: int) -> None:
    """Replaces a file atomically: concurrent readers see the old or the new content."""
    *above, last = parts
    place = _opened(folder, above, make=True)
    fresh = f".{last[:200]}.aeond-new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(fresh, flags, mode, dir_fd=place), "wb") as file:
            file.write(content)
        os.rename(fresh, last, src_dir_fd=place, dst_dir_fd=place)
    finally:
        os.close(place)
