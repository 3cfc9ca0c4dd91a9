"""Previews of a workspace: the names of its files, and the line that each begins with.

Blocking: to be called in a thread. Hidden entries are left out, and links are not followed.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.worker_threads import Stopped
from aeond.errors import ToolError

MAX_ENTRIES: Final = 2_000
MAX_DEPTH: Final = 6
MAX_LINE_CHARS: Final = 48
_HEAD_BYTES: Final = 256
_MIN_LETTERS: Final = 3


def file_names(files: ContainedFiles, workspace: str, stopped: Stopped) -> list[str]:
    """The paths of the regular files in a workspace, sorted. Of a large workspace the first MAX_ENTRIES entries
    are looked at, the folders near the top first. Raises ToolError if the workspace cannot be listed."""
    names: list[str] = []
    waiting = ["."]
    seen = 0
    while waiting and seen < MAX_ENTRIES and not stopped():
        folder = waiting.pop(0)
        try:
            entries = list(_entries(files, workspace, folder, MAX_ENTRIES - seen))
        except ToolError:
            if folder == ".":
                raise
            continue
        seen += len(entries)
        for path, is_folder in entries:
            if not is_folder:
                names.append(path)
            elif path.count("/") < MAX_DEPTH:
                waiting.append(path)
    return sorted(names)


def first_lines(
    files: ContainedFiles, workspace: str, paths: Sequence[str], stopped: Stopped
) -> dict[str, str]:
    """For each path the first line with at least three letters or digits, cut to MAX_LINE_CHARS; "" for a file
    that is not text or cannot be read."""
    lines: dict[str, str] = {}
    for path in paths:
        if stopped():
            break
        try:
            with files.open_file(path, workspace) as opened:
                head = os.pread(opened, _HEAD_BYTES, 0)
        except ToolError:
            head = b""
        lines[path] = _first_informative(head)
    return lines


def _entries(files: ContainedFiles, workspace: str, folder: str, most: int) -> Iterator[tuple[str, bool]]:
    prefix = "" if folder == "." else f"{folder}/"
    with files.open_folder(folder, workspace) as opened, os.scandir(opened) as entries:
        for number, entry in enumerate(entries):
            if number >= most:
                return
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield prefix + entry.name, True
            elif entry.is_file(follow_symlinks=False):
                yield prefix + entry.name, False


def _first_informative(head: bytes) -> str:
    text = head.decode("utf-8", "ignore")
    if "\0" in text:
        return ""
    for line in text.splitlines():
        if sum(character.isalnum() for character in line) >= _MIN_LETTERS:
            return " ".join(line.split())[:MAX_LINE_CHARS]
    return ""
