"""The search_files tool: files by what is in them or in their name.

A text is looked for in both, since small models put the name of a file where the text belongs.
"""

import fnmatch
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.reading import FolderPath, shown_name
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import ToolError

MAX_MATCHES: Final = 100
MAX_LINE_CHARS: Final = 200
MAX_FILE_BYTES: Final = 2 * 1024 * 1024
MAX_BYTES: Final = 128 * 1024 * 1024
MAX_FILES: Final = 50_000
MAX_FOLDER_ENTRIES: Final = 50_000
MAX_DEPTH: Final = 32


class SearchFilesArguments(BaseModel):
    """What to look for, and where."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=100, description="Only files of such a name, * stands for anything"),
    ] = "*"
    text: Annotated[str, Field(max_length=200, description="Text in the file or in its name")] = ""
    path: FolderPath = "."


class FileMatch(BaseModel):
    """A file found by its name (`line` is 0), or a line of a file that has the text (counted from 1)."""

    path: str
    line: int
    text: str


class SearchFilesResult(BaseModel):
    """What was found, by path. `left_out` names what was not looked into; `truncated`: there may be more."""

    matches: Annotated[list[FileMatch], Field(max_length=MAX_MATCHES)]
    files_seen: int
    left_out: list[str]
    truncated: bool


def search_files_tool(files: ContainedFiles, threads: WorkerThreads) -> FunctionTool:
    @tool(effect=Effect.READ, example={"text": "Aunt Rose"})
    async def search_files(arguments: SearchFilesArguments, context: ToolContext) -> SearchFilesResult:
        """Finds files by a text in them or in their name, in a folder and the folders below it."""
        return await threads.run(
            lambda stopped: _Search(files, arguments, context.workspace, stopped).result()
        )

    return search_files


class _Search:
    """One walk through a folder and those below it, in the order of names.

    Links are not followed and hidden folders not entered; what was passed over is counted.
    """

    def __init__(
        self, files: ContainedFiles, arguments: SearchFilesArguments, workspace: str, stopped: Stopped
    ) -> None:
        self._files = files
        self._folder = arguments.path
        self._workspace = workspace
        self._stopped = stopped
        self._name = re.compile(fnmatch.translate(arguments.name.lower()))
        self._text = arguments.text.casefold()
        self._left_out: Counter[str] = Counter()
        self._files_seen = 0
        self._bytes_left = MAX_BYTES
        self._folder_was_cut = False

    def result(self) -> SearchFilesResult:
        found = self._matches()
        matches = list(itertools.islice(found, MAX_MATCHES))
        truncated = next(found, None) is not None or self._exhausted or self._folder_was_cut
        return SearchFilesResult(
            matches=matches,
            files_seen=self._files_seen,
            left_out=[f"{what}: {count}" for what, count in sorted(self._left_out.items())],
            truncated=truncated,
        )

    @property
    def _exhausted(self) -> bool:
        return self._files_seen >= MAX_FILES or self._bytes_left <= 0

    def _matches(self) -> Iterator[FileMatch]:
        for path in self._paths():
            if self._exhausted or self._stopped():
                return
            self._files_seen += 1
            name = path.rpartition("/")[2]
            if self._name.match(name.lower()):
                if self._text in name.casefold():
                    yield FileMatch(path=shown_name(path), line=0, text="")
                if self._text:
                    yield from self._lines(path)

    def _paths(self) -> Iterator[str]:
        """The regular files, each folder's before those below it."""
        waiting = [self._folder]
        while waiting:
            folder = waiting.pop()
            try:
                files, folders = self._listed(folder)
            except ToolError:
                if folder == self._folder:
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
                elif path.count("/") - self._folder.count("/") > MAX_DEPTH:
                    self._left_out["folders that lie too deep"] += 1
                else:
                    folders.append(path)
        return sorted(files), sorted(folders)

    def _lines(self, path: str) -> Iterator[FileMatch]:
        content = self._content(path)
        if self._text not in content.casefold():
            return
        for number, line in enumerate(content.splitlines(), start=1):
            if self._text in line.casefold():
                yield FileMatch(path=shown_name(path), line=number, text=line.strip()[:MAX_LINE_CHARS])

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
