"""The read_file and list_dir tools."""

import codecs
import heapq
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, NamedTuple

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.path_matching import PathMatching, Wanted, proposing, reading
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import ToolError

MAX_PATH_CHARS: Final = 1_000
MAX_READ_BYTES: Final = 64 * 1024
MAX_ENTRIES: Final = 200
_LATEST_TIME: Final = 253_402_214_400.0  # the last day of the year 9999, the last year with a date

FilePath = Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS, description="Path of the file")]
FolderPath = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_PATH_CHARS,
        description="Folder; leave out for the working folder",
    ),
]


class ReadFileArguments(BaseModel):
    """Which file, and from where."""

    path: FilePath
    offset: Annotated[int, Field(ge=0, le=2**53, description="next_offset of an earlier call")] = 0


class ReadFileResult(BaseModel):
    """Text of a file; if `truncated`, the rest begins at `next_offset`. Nothing else: a small model answers with any
    number that it sees."""

    path: str
    truncated: bool
    next_offset: int
    text: str


class Order(StrEnum):
    """Names go from a to z, sizes from the largest, times from the newest."""

    NAME = "name"
    SIZE = "size"
    MODIFIED = "modified"


class ListDirArguments(BaseModel):
    """Which folder, and in what order."""

    path: FolderPath = "."
    sort: Annotated[Order, Field(description="Order of the entries")] = Order.SIZE


class ListDirResult(BaseModel):
    """The things in a folder: `name size`, `name time` if sorted by time, a folder as `name/`. Those left out of
    `entries` still count."""

    path: str
    files: int
    folders: int
    truncated: bool
    entries: Annotated[list[str], Field(max_length=MAX_ENTRIES)]


def read_file_tool(files: ContainedFiles, threads: WorkerThreads) -> FunctionTool:
    matching = PathMatching(files)

    @tool(
        effect=Effect.READ,
        example={"path": "recipe.md"},
        candidates={"path": proposing(files, threads, Wanted.FILE)},
        targets=reading(files, threads, Wanted.FILE),
    )
    async def read_file(arguments: ReadFileArguments, context: ToolContext) -> ReadFileResult:
        """Reads a text file."""

        def read(stopped: Stopped) -> ReadFileResult:
            path = matching.find(arguments.path, context.workspace, Wanted.FILE, stopped)
            return _read(files, path, arguments.offset, context.workspace)

        return await threads.run(read)

    return read_file


def list_dir_tool(files: ContainedFiles, threads: WorkerThreads) -> FunctionTool:
    matching = PathMatching(files)

    @tool(
        effect=Effect.READ,
        example={},
        candidates={"path": proposing(files, threads, Wanted.FOLDER)},
        targets=reading(files, threads, Wanted.FOLDER),
        shows_names=True,
    )
    async def list_dir(arguments: ListDirArguments, context: ToolContext) -> ListDirResult:
        """Lists a folder with the sizes of its files, or their times if sorted by time."""

        def listed(stopped: Stopped) -> ListDirResult:
            path = matching.find(arguments.path, context.workspace, Wanted.FOLDER, stopped)
            return _list(files, path, arguments.sort, context.workspace, stopped)

        return await threads.run(listed)

    return list_dir


def _read(files: ContainedFiles, path: str, offset: int, workspace: str) -> ReadFileResult:
    with files.open_file(path, workspace) as opened:
        read = os.pread(opened, MAX_READ_BYTES + 1, offset)
    content = read[:MAX_READ_BYTES]
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(content, final=len(read) == len(content))
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ToolError(f"{path!r:.200} is not UTF-8 text here", reason="NOT_TEXT")
    return ReadFileResult(
        path=path,
        truncated=len(read) > len(content),
        next_offset=offset + len(content) - len(decoder.getstate()[0]),
        text=text,
    )


def _list(files: ContainedFiles, path: str, order: Order, workspace: str, stopped: Stopped) -> ListDirResult:
    counts = {True: 0, False: 0}

    def counted(found: Iterator[_Found]) -> Iterator[_Found]:
        for entry in found:
            if stopped():
                return
            counts[entry.is_folder] += 1
            yield entry

    if files.is_folder(path, workspace) is False:  # the path of a file: the file alone
        with files.open_file(path, workspace) as opened:
            shown = list(counted(iter([_found(path.rpartition("/")[2], os.fstat(opened))])))
    else:
        with files.open_folder(path, workspace) as opened:
            # Memory stays that of the entries shown, however many there are.
            shown = heapq.nsmallest(MAX_ENTRIES, counted(_found_in(opened)), key=_ORDERS[order])
    return ListDirResult(
        path=path,
        files=counts[False],
        folders=counts[True],
        truncated=sum(counts.values()) > len(shown),
        entries=[found.line(order) for found in shown],
    )


class _Found(NamedTuple):
    name: str
    is_folder: bool
    size: int  # -1 for what is no regular file
    modified: float

    def line(self, order: Order) -> str:
        if self.is_folder:
            return f"{self.name}/"
        if order is Order.MODIFIED:
            seconds = min(max(self.modified, 0.0), _LATEST_TIME)
            return f"{self.name} {datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M}"
        return f"{self.name} {self.size}" if self.size >= 0 else f"{self.name} (not a file)"


def _found(name: str, facts: os.stat_result) -> _Found:
    size = facts.st_size if stat.S_ISREG(facts.st_mode) else -1
    return _Found(shown_name(name), stat.S_ISDIR(facts.st_mode), size, facts.st_mtime)


def _found_in(folder: int) -> Iterator[_Found]:
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # gone since it was listed
                yield _found(entry.name, entry.stat(follow_symlinks=False))


def shown_name(name: str) -> str:
    """A file's name as text, also where it is no UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


_ORDERS: Final[dict[Order, Callable[[_Found], tuple[float, str]]]] = {
    Order.NAME: lambda found: (0, found.name),
    Order.SIZE: lambda found: (-found.size, found.name),
    Order.MODIFIED: lambda found: (-found.modified, found.name),
}
