"""The search_files tool: files by what is in them or in their name, and how often.

Only form counts: case and accents make no difference. The text is searched as a whole; if it is nowhere, its words
are: first in one line, then in one file. Names are searched too, since small models put the name of a file
where the text belongs.
"""

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.path_matching import PathMatching, Wanted, proposing, reading
from aeond.capabilities.tools.files.reading import MAX_PATH_CHARS, shown_name
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.names import folded, nearest, words_of
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import ToolError

MAX_MATCHES: Final = 100
MAX_LINE_CHARS: Final = 200
MAX_FILE_BYTES: Final = 2 * 1024 * 1024
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_FILES: Final = 50_000
MAX_FOLDER_ENTRIES: Final = 50_000
MAX_DEPTH: Final = 32


MAX_WORDS_COMPARED: Final = 20_000
MAX_NAMED: Final = 5
_ALIKE: Final = 0.75  # of words, from 0 to 1
_ALIKE_NAMES: Final = 0.5


class SearchFilesArguments(BaseModel):
    """What to look for, and where."""

    text: Annotated[str, Field(min_length=1, max_length=200, description="Text in a file or its name")]
    path: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_PATH_CHARS,
            description="File or folder; leave out for all",
        ),
    ] = "."


class SearchFilesResult(BaseModel):
    """The matches: `path:line: text` for a line, `path` for a file whose name matches.

    `times` counts how often the text occurs, also in what `matches` has no room for. `note` says how it was found
    if not as a whole, or what is near if nothing was found; `left_out` what was not searched.
    """

    times: int
    lines: int
    files: int
    note: str
    left_out: list[str]
    truncated: bool
    matches: Annotated[list[str], Field(max_length=MAX_MATCHES)]


def search_files_tool(files: ContainedFiles, threads: WorkerThreads) -> FunctionTool:
    matching = PathMatching(files)

    @tool(
        effect=Effect.READ,
        example={"text": "Aunt Rose"},
        candidates={"path": proposing(files, threads, Wanted.ANY)},
        targets=reading(files, threads, Wanted.ANY),
    )
    async def search_files(arguments: SearchFilesArguments, context: ToolContext) -> SearchFilesResult:
        """Finds and counts a text in files and their names, in all folders."""

        def search(stopped: Stopped) -> SearchFilesResult:
            path = matching.find(arguments.path, context.workspace, Wanted.ANY, stopped)
            return _Search(files, path, context.workspace, stopped).result(arguments.text)

        return await threads.run(search)

    return search_files


class _Found:
    """What one way of searching finds. The first MAX_MATCHES are kept, all are counted."""

    def __init__(self, note: str = "") -> None:
        self.note = note
        self.times = 0
        self.lines = 0
        self.paths: set[str] = set()
        self.matches: list[str] = []
        self.total = 0

    def add_name(self, path: str) -> None:
        self._add(path, shown_name(path))

    def add_line(self, path: str, number: int, line: str, times: int = 1) -> None:
        self.times += times
        self.lines += 1
        self._add(path, f"{shown_name(path)}:{number}: {line.strip()[:MAX_LINE_CHARS]}")

    def _add(self, path: str, match: str) -> None:
        self.paths.add(path)
        self.total += 1
        if len(self.matches) < MAX_MATCHES:
            self.matches.append(match)


class _Search:
    """One walk through a file, or a folder and those below it, in the order of names.

    Links are not followed and hidden folders not entered; skipped entries are counted.
    """

    def __init__(self, files: ContainedFiles, path: str, workspace: str, stopped: Stopped) -> None:
        self._files = files
        self._start = path
        self._workspace = workspace
        self._stopped = stopped
        self._left_out: Counter[str] = Counter()
        self._files_seen = 0
        self._bytes_left = MAX_BYTES
        self._folder_was_cut = False

    def result(self, text: str) -> SearchFilesResult:
        asked = folded(text.strip().strip("*"))
        words = [word for word in re.split(r"[\s*]+", asked) if word]
        whole, in_lines, in_files = _Found(), _Found("lines with all words"), _Found("files with all words")
        for path in self._seen():
            if asked in folded(path.rpartition("/")[2]):
                whole.add_name(path)
            content = self._content(path)
            folded_content = folded(content)
            lines = list(zip(content.splitlines(), folded_content.splitlines(), strict=False))
            if asked in folded_content:
                for number, (line, plain) in enumerate(lines, start=1):
                    if times := plain.count(asked):
                        whole.add_line(path, number, line, times)
            elif not whole.total and len(words) > 1 and all(word in folded_content for word in words):
                for number, (line, plain) in enumerate(lines, start=1):
                    if all(word in plain for word in words):
                        in_lines.add_line(path, number, line)
                    if not in_lines.total and any(word in plain for word in words):
                        in_files.add_line(path, number, line)
        best = next((found for found in (whole, in_lines, in_files) if found.total), None)
        if best is None:
            best = _Found(self._near(words))
        left_out = [f"{what}: {count}" for what, count in sorted(self._left_out.items())]
        return SearchFilesResult(
            times=best.times,
            lines=best.lines,
            files=len(best.paths),
            note=best.note,
            left_out=left_out,
            truncated=best.total > len(best.matches) or self._exhausted or self._folder_was_cut,
            matches=best.matches,
        )

    def _near(self, words: Sequence[str]) -> str:
        """A note for no matches: the number of files read, and similarly spelt names and words."""
        seen, names, there = self._files_seen, list[str](), set[str]()
        search = _Search(self._files, self._start, self._workspace, self._stopped)
        for path in search._seen():
            names.append(path)
            if len(there) < MAX_WORDS_COMPARED:
                there.update(words_of(search._content(path)))
        spelt = [near for word in words for near in difflib.get_close_matches(word, there, 2, _ALIKE)]
        named = nearest(" ".join(words), filter(str.isprintable, names), MAX_NAMED, least=_ALIKE_NAMES)
        near = [*spelt[:MAX_NAMED], *named]
        tail = f"; there is {', '.join(map(repr, near))}" if near else ""
        return f"nothing found in {seen} files{tail}"

    @property
    def _exhausted(self) -> bool:
        return self._files_seen >= MAX_FILES or self._bytes_left <= 0

    def _seen(self) -> Iterator[str]:
        for path in self._paths():
            if self._exhausted or self._stopped():
                return
            self._files_seen += 1
            yield path

    def _paths(self) -> Iterator[str]:
        """The regular files, each folder's before those below it."""
        if self._files.is_folder(self._start, self._workspace) is False:
            yield self._start
            return
        waiting = [self._start]
        while waiting:
            folder = waiting.pop()
            try:
                files, folders = self._listed(folder)
            except ToolError:
                if folder == self._start:
                    raise
                self._left_out["folders that cannot be opened"] += 1
                continue
            yield from files
            waiting += reversed(folders)

    def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        files: list[str] = []
        folders: list[str] = []
        with self._files.open_folder(folder, self._workspace) as opened, os.scandir(opened) as entries:
            for number, entry in enumerate(entries):
                if number >= MAX_FOLDER_ENTRIES or self._stopped():
                    self._left_out[f"folders of more than {MAX_FOLDER_ENTRIES} entries, seen in part"] += 1
                    self._folder_was_cut = True
                    break
                path = entry.name if folder == "." else f"{folder.rstrip('/')}/{entry.name}"
                if entry.is_symlink():
                    self._left_out["links, which are not followed"] += 1
                elif entry.is_file(follow_symlinks=False):
                    files.append(path)
                elif not entry.is_dir(follow_symlinks=False):
                    self._left_out["special files"] += 1
                elif entry.name.startswith("."):
                    self._left_out["hidden folders"] += 1
                elif path.count("/") - self._start.count("/") > MAX_DEPTH:
                    self._left_out["folders that lie too deep"] += 1
                else:
                    folders.append(path)
        return sorted(files), sorted(folders)

    def _content(self, path: str) -> str:
        """The text of a file; nothing, and a note of it, for one that is not searched."""
        try:
            with self._files.open_file(path, self._workspace) as opened:
                content = os.pread(opened, MAX_FILE_BYTES + 1, 0)
        except ToolError:
            self._left_out["files that cannot be opened"] += 1
            return ""
        self._bytes_left -= len(content)
        if len(content) > MAX_FILE_BYTES:
            self._left_out[f"files over {MAX_FILE_BYTES >> 20} MiB"] += 1
            return ""
        if b"\0" in content:
            self._left_out["binary files"] += 1
            return ""
        return content.decode("utf-8", "replace")
