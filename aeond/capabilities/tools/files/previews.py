"""Previews of a workspace: the names of its files, the line that each begins with, and how large and old it is.

Blocking: to be called in a thread.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Final

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.worker_threads import Stopped
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_ENTRIES: Final = 2_000
MAX_DEPTH: Final = 6
MAX_LINE_CHARS: Final = 48
_HEAD_BYTES: Final = 256
_MIN_LETTERS: Final = 3


@frozen
class Preview:
    """The first line of a file with at least three letters or digits, cut to MAX_LINE_CHARS ("" if it is no text), its size in
    bytes, and when it was last changed, in nanoseconds since 1970."""

    line: str
    size: int
    changed: int


@frozen
class Places:
    """The paths of files and folders below a folder, sorted. `whole` is false if there may be more."""

    files: tuple[str, ...]
    folders: tuple[str, ...]
    whole: bool


def file_names(files: ContainedFiles, workspace: str, stopped: Stopped) -> list[str]:
    """The paths of the regular files in a workspace, as `places` finds them, without hidden ones."""
    return [
        path
        for path in places(files, workspace, stopped, links=False).files
        if not path.rpartition("/")[2].startswith(".")
    ]


def places(
    files: ContainedFiles, workspace: str, stopped: Stopped, most: int = MAX_ENTRIES, *, links: bool = True
) -> Places:
    """The entries of a workspace. In a large one only the first `most` are visited, in folders near the top
    first; hidden folders are left out. A link counts if a file or folder is found through it, and its folder
    is not entered. Raises ToolError if the workspace cannot be listed."""
    found: dict[bool, list[str]] = {False: [], True: []}
    waiting = ["."]
    seen = 0
    whole = True
    while waiting and seen < most and not stopped():
        folder = waiting.pop(0)
        try:
            entries = list(_entries(files, workspace, folder, most - seen))
        except ToolError:
            if folder == ".":
                raise
            continue
        seen += len(entries)
        for path, kind in entries:
            is_folder = _link_kind(files, workspace, path) if kind is None and links else kind
            if is_folder is not None:
                found[is_folder].append(path)
            if kind and path.count("/") < MAX_DEPTH:
                waiting.append(path)
            elif kind:
                whole = False
    whole = whole and not waiting and seen < most
    return Places(tuple(sorted(found[False])), tuple(sorted(found[True])), whole)


def previews(
    files: ContainedFiles, workspace: str, paths: Sequence[str], stopped: Stopped
) -> dict[str, Preview]:
    """The previews by path; without those of files that cannot be read."""
    seen: dict[str, Preview] = {}
    for path in paths:
        if stopped():
            break
        with contextlib.suppress(ToolError), files.open_file(path, workspace) as opened:
            facts = os.fstat(opened)
            line = _first_informative(os.pread(opened, _HEAD_BYTES, 0))
            seen[path] = Preview(line, facts.st_size, facts.st_mtime_ns)
    return seen


def _entries(
    files: ContainedFiles, workspace: str, folder: str, most: int
) -> Iterator[tuple[str, bool | None]]:
    """The paths in a folder, each with whether it is a folder; None for a link."""
    prefix = "" if folder == "." else f"{folder}/"
    with files.open_folder(folder, workspace) as opened, os.scandir(opened) as entries:
        for number, entry in enumerate(entries):
            if number >= most:
                return
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.is_symlink():
                yield prefix + entry.name, None
            elif entry.is_file(follow_symlinks=False) or (is_folder and not entry.name.startswith(".")):
                yield prefix + entry.name, is_folder


def _link_kind(files: ContainedFiles, workspace: str, path: str) -> bool | None:
    try:
        return files.is_folder(path, workspace)
    except ToolError:
        return None


def _first_informative(head: bytes) -> str:
    text = head.decode("utf-8", "ignore")
    if "\0" in text:
        return ""
    for line in text.splitlines():
        if sum(character.isalnum() for character in line) >= _MIN_LETTERS:
            return " ".join(line.split())[:MAX_LINE_CHARS]
    return ""
