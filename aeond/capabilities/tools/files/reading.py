"""The read_file and list_dir tools."""

import codecs
import heapq
import math
import os
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, NamedTuple

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.similar_names import similar_names
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import ToolError

MAX_PATH_CHARS: Final = 1_000
MAX_READ_BYTES: Final = 64 * 1024
MAX_ENTRIES: Final = 200
_LATEST_TIME: Final = 253_402_300_799.0  # the last second of the year 9999, the last one with a date

FilePath = Annotated[
    str, Field(min_length=1, max_length=MAX_PATH_CHARS, description="Path of the file in the working folder")
]
FolderPath = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_PATH_CHARS,
        description="Path of the folder; leave out for the working folder",
    ),
]


class ReadFileArguments(BaseModel):
    """Which file, and from where."""

    path: FilePath
    offset: Annotated[
        int, Field(ge=0, le=2**53, description="Byte to start at: next_offset of an earlier call")
    ] = 0


class ReadFileResult(BaseModel):
    """Text of a file; when `truncated`, the rest begins at `next_offset`.

    `line_count` counts the lines of `text`, the last one also without a line break: models miscount.
    """

    path: str
    text: str
    line_count: int
    size_bytes: int
    truncated: bool
    next_offset: int


class Order(StrEnum):
    """Names go from a to z, sizes from the largest, times from the newest."""

    NAME = "name"
    SIZE = "size"
    MODIFIED = "modified"


class Kind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


class ListDirArguments(BaseModel):
    """Which folder, and in what order."""

    path: FolderPath = "."
    sort: Annotated[Order, Field(description="Order of the entries")] = Order.SIZE


class FolderEntry(BaseModel):
    """One thing in a folder."""

    name: str
    kind: Kind
    size_bytes: int
    modified_time: str


class ListDirResult(BaseModel):
    """What is in a folder. What `entries` has no room for still counts in everything else.

    What people ask for most comes first and by a name of its own: small models refer to what comes first
    and read no further. The names are empty where there is no file.
    """

    largest_file: str
    largest_size_bytes: int
    newest_file: str
    total: int
    truncated: bool
    entries: Annotated[list[FolderEntry], Field(max_length=MAX_ENTRIES)]


def read_file_tool(files: ContainedFiles, threads: WorkerThreads) -> FunctionTool:
    @tool(effect=Effect.READ, example={"path": "recipe.md"})
    async def read_file(arguments: ReadFileArguments, context: ToolContext) -> ReadFileResult:
        """Reads a text file."""
        return await threads.run(lambda _stopped: _read(files, arguments, context.workspace))

    return read_file


def list_dir_tool(files: ContainedFiles, threads: WorkerThreads) -> FunctionTool:
    @tool(effect=Effect.READ, example={})
    async def list_dir(arguments: ListDirArguments, context: ToolContext) -> ListDirResult:
        """Lists the files in a folder with their sizes and times; tells the largest and the newest file."""
        return await threads.run(lambda stopped: _list(files, arguments, context.workspace, stopped))

    return list_dir


def _read(files: ContainedFiles, arguments: ReadFileArguments, workspace: str) -> ReadFileResult:
    try:
        with files.open_file(arguments.path, workspace) as opened:
            size = os.fstat(opened).st_size
            read = os.pread(opened, MAX_READ_BYTES + 1, arguments.offset)
    except ToolError as error:
        names = similar_names(files, arguments.path, workspace) if error.reason == "FILE_NOT_FOUND" else ()
        if not names:
            raise
        meant = " or ".join(repr(name) for name in names)
        raise ToolError(
            f"{arguments.path!r:.200} does not exist: is {meant} meant?", reason=error.reason
        ) from error
    content = read[:MAX_READ_BYTES]
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(content, final=len(read) == len(content))
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ToolError(f"{arguments.path!r:.200} holds no UTF-8 text here", reason="NOT_TEXT")
    behind = arguments.offset + len(content) - len(decoder.getstate()[0])
    return ReadFileResult(
        path=arguments.path,
        text=text,
        line_count=text.count("\n") + (not text.endswith("\n") and text != ""),
        size_bytes=size,
        truncated=len(read) > len(content),
        next_offset=behind,
    )


def _list(
    files: ContainedFiles, arguments: ListDirArguments, workspace: str, stopped: Stopped
) -> ListDirResult:
    total = 0
    largest = newest = _NO_FILE

    def counted(folder: int) -> Iterator[_Found]:
        nonlocal total, largest, newest
        for found in _found_in(folder):
            if stopped():
                return
            total += 1
            if found.kind is Kind.FILE:
                largest = max(largest, found, key=lambda file: file.size_bytes)
                newest = max(newest, found, key=lambda file: file.modified)
            yield found

    with files.open_folder(arguments.path, workspace) as opened:
        # Memory stays that of the entries shown, however many there are.
        shown = heapq.nsmallest(MAX_ENTRIES, counted(opened), key=_ORDERS[arguments.sort])
    return ListDirResult(
        largest_file=largest.name,
        largest_size_bytes=max(largest.size_bytes, 0),
        newest_file=newest.name,
        total=total,
        truncated=total > len(shown),
        entries=[found.entry() for found in shown],
    )


class _Found(NamedTuple):
    name: str
    kind: Kind
    size_bytes: int
    modified: float

    def entry(self) -> FolderEntry:
        seconds = min(max(self.modified, 0.0), _LATEST_TIME)
        time = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
        return FolderEntry(name=self.name, kind=self.kind, size_bytes=self.size_bytes, modified_time=time)


_NO_FILE: Final = _Found("", Kind.FILE, -1, -math.inf)


def _found_in(folder: int) -> Iterator[_Found]:
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                facts = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # gone since it was listed
                continue
            kind = _kind(facts.st_mode)
            size = facts.st_size if kind is Kind.FILE else 0
            yield _Found(shown_name(entry.name), kind, size, facts.st_mtime)


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return Kind.FILE
    if stat.S_ISDIR(mode):
        return Kind.FOLDER
    return Kind.LINK if stat.S_ISLNK(mode) else Kind.OTHER


def shown_name(name: str) -> str:
    """A file's name as text, also where it is no UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


_ORDERS: Final[dict[Order, Callable[[_Found], tuple[float, str]]]] = {
    Order.NAME: lambda found: (0, found.name),
    Order.SIZE: lambda found: (-found.size_bytes, found.name),
    Order.MODIFIED: lambda found: (-found.modified, found.name),
}
