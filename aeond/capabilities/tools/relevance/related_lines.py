"""Reads the text files of a workspace, within bounds, for the lines that share most with a request, and the files that it is about."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Final

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.relevance.file_ranking import nearest_files
from aeond.capabilities.tools.relevance.line_ranking import Line, rank
from aeond.capabilities.tools.worker_threads import Stopped
from aeond.domain.values import short_line
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_FILE_BYTES: Final = 64 * 1024
MAX_BYTES: Final = 2 * 1024 * 1024
MAX_READ_CHARS: Final = 6_000  # of a file that is read as a whole; a longer one is better searched
MAX_LINES: Final = 6
MAX_LINES_PER_FILE: Final = 3
MAX_LINE_CHARS: Final = 120


@frozen
class Related:
    """What a workspace shares with a request: lines as (path, text), those that share most first, and the files that it is
    probably about, as far as they are short enough to be read as a whole."""

    lines: tuple[tuple[str, str], ...] = ()
    nearest: tuple[str, ...] = ()


def related(
    files: ContainedFiles, workspace: str, paths: Sequence[str], request: str, stopped: Stopped
) -> Related:
    """What files share with the request; of each the first MAX_FILE_BYTES are looked at, and of all MAX_BYTES. Blocking: to be called in
    a thread."""
    lines = _all_lines(files, workspace, paths, stopped)
    ranked = rank(request, lines, MAX_LINES, MAX_LINES_PER_FILE)
    return Related(
        tuple((line.path, short_line(line.text, MAX_LINE_CHARS)) for line in ranked),
        readable_files(request, _texts(lines)),
    )


def readable_files(
    request: str, texts: Mapping[str, str], meanings: Mapping[str, float] | None = None
) -> tuple[str, ...]:
    """The nearest files up to the first that is too long to be read as a whole (`nearest_files`)."""
    nearest = nearest_files(request, texts, meanings)
    return tuple(takewhile(lambda path: len(texts[path]) <= MAX_READ_CHARS, nearest))


def texts_of(
    files: ContainedFiles, workspace: str, paths: Sequence[str], stopped: Stopped
) -> Mapping[str, str]:
    """The texts of the files, without empty lines, within the same bounds. Blocking: to be called in a thread."""
    return _texts(_all_lines(files, workspace, paths, stopped))


def _all_lines(
    files: ContainedFiles, workspace: str, paths: Sequence[str], stopped: Stopped
) -> Sequence[Line]:
    lines: list[Line] = []
    left = MAX_BYTES
    for path in paths:
        if stopped() or left <= 0:
            break
        content = _head(files, workspace, path, min(left, MAX_FILE_BYTES))
        left -= len(content)
        lines.extend(_lines(path, content))
    return lines


def _texts(lines: Iterable[Line]) -> dict[str, str]:
    return {
        path: "\n".join(one.text for one in group) for path, group in groupby(lines, lambda one: one.path)
    }


def _head(files: ContainedFiles, workspace: str, path: str, most: int) -> bytes:
    try:
        with files.open_file(path, workspace) as opened:
            return os.pread(opened, most, 0)
    except ToolError:
        return b""


def _lines(path: str, content: bytes) -> Iterator[Line]:
    text = content.decode("utf-8", "ignore")
    if "\0" in text:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield Line(path, number, line)
