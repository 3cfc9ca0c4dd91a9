"""Changes of files as an editor shows them: the text before and after."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acp.helpers import tool_diff_content
from acp.schema import FileEditToolCallContent

# Larger files are named and not shown: an editor has them on disk.
MAX_BYTES = 256 * 1024
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file at one time. `text` is None if it does not exist, is not text, or is larger than MAX_BYTES."""

    path: Path
    text: str | None


def path_in(folder: Path, name: Any) -> Path | None:
    """The absolute path of a file below the folder; None if the name leads out of it or is none."""
    if not isinstance(name, str) or not name or "\0" in name:
        return None
    path = (folder / name).resolve()
    return path if path.is_relative_to(folder.resolve()) else None


def snapshot(path: Path) -> Snapshot:
    """The file as it is now. Never fails."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return Snapshot(path, None)
        return Snapshot(path, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return Snapshot(path, None)


def difference(before: Snapshot, *, created: bool) -> FileEditToolCallContent | None:
    """What has changed since the snapshot. None if that is unknown: the file may have been written before the snapshot
    was taken, or cannot be shown now.
    """
    after = snapshot(before.path).text
    old = None if created else before.text
    if after is None or after == old or (old is None and not created):
        return None
    return tool_diff_content(str(before.path), after, old)


def hunks(path: Path, unified: str) -> Iterator[FileEditToolCallContent]:
    """Each hunk of a unified diff of this file, as the text before and after."""
    for hunk in _HUNK.split(unified)[1:]:
        lines = [line for line in hunk.split("\n")[1:] if line and not line.startswith("\\")]
        old = "\n".join(line[1:] for line in lines if line[0] in " -")
        new = "\n".join(line[1:] for line in lines if line[0] in " +")
        yield tool_diff_content(str(path), new, old)
