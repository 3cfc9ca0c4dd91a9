"""The tools that change the content of a file: write_file, edit_file and append_file."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.changes import FileChange, FileChanges
from aeond.capabilities.tools.files.path_matching import PathMatching, Wanted, bare_path, proposing
from aeond.capabilities.tools.files.reading import FilePath
from aeond.capabilities.tools.files.text_edits import Edit, append_lines, replace_text, with_line_breaks
from aeond.capabilities.tools.function_tool import FunctionTool, Report, tool
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target
from aeond.domain.tools import Effect, ToolContext, ToolOutput
from aeond.errors import ToolError

Meaning = Callable[[FileChanges, str, ToolContext], Awaitable[str]]
"""Gives the path of the file that an argument means."""

MAX_CONTENT_CHARS: Final = 64 * 1024
MAX_OLD_CHARS: Final = 4_000


class WriteFileArguments(BaseModel):
    """Which file, and its whole content."""

    path: FilePath
    content: Annotated[str, Field(max_length=MAX_CONTENT_CHARS, description="The whole text of the file")]


class EditFileArguments(BaseModel):
    """Which file, and the text that takes the place of another."""

    path: FilePath
    old: Annotated[str, Field(max_length=MAX_OLD_CHARS, description="Text in the file")]
    new: Annotated[
        str, Field(max_length=MAX_CONTENT_CHARS, description="Text in its place; empty to remove it")
    ]


class AppendFileArguments(BaseModel):
    """Which file, and the lines to add."""

    path: FilePath
    text: Annotated[str, Field(max_length=MAX_CONTENT_CHARS, description="Lines to add")]


def writing_tools(changes: FileChanges) -> Sequence[FunctionTool]:
    return write_file_tool(changes), edit_file_tool(changes), append_file_tool(changes)


def write_file_tool(changes: FileChanges) -> FunctionTool:
    async def written(arguments: WriteFileArguments, context: ToolContext) -> ToolOutput[FileChange] | None:
        return await changes.made(context, lambda before: _written(arguments, before))

    async def preview(arguments: WriteFileArguments, context: ToolContext) -> CallPreview:
        path = await _same_or_new(changes, arguments.path, context)
        return await changes.preview(path, context, lambda before: _written(arguments, before))

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "thanks.txt", "content": "Dear Sam, thank you for the flowers."},
        reconcile=written,
        preview=preview,
        targets=_changing(changes, _same_or_new),
    )
    async def write_file(arguments: WriteFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Writes a whole text file, new or in place of the old one."""
        path = await _same_or_new(changes, arguments.path, context)
        return await changes.rewrite(path, context, lambda before: _written(arguments, before))

    return write_file


def edit_file_tool(changes: FileChanges) -> FunctionTool:
    async def edited(arguments: EditFileArguments, context: ToolContext) -> ToolOutput[FileChange] | None:
        return await changes.made(context, lambda before: _edited(arguments, before))

    async def preview(arguments: EditFileArguments, context: ToolContext) -> CallPreview:
        path = await _existing(changes, arguments.path, context)
        return await changes.preview(path, context, lambda before: _edited(arguments, before))

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "trip.md", "old": "two nights", "new": "three evenings"},
        reconcile=edited,
        preview=preview,
        targets=_changing(changes, _existing),
        candidates={"path": proposing(changes.files, changes.threads, Wanted.FILE)},
    )
    async def edit_file(arguments: EditFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Replaces or removes one text in a file; the rest stays."""
        if (made := await edited(arguments, context)) is not None:
            return made
        path = await _existing(changes, arguments.path, context)
        return await changes.rewrite(path, context, lambda before: _edited(arguments, before))

    return edit_file


def append_file_tool(changes: FileChanges) -> FunctionTool:
    async def appended(arguments: AppendFileArguments, context: ToolContext) -> ToolOutput[FileChange] | None:
        return await changes.made(context, lambda before: _appended(arguments, before))

    async def preview(arguments: AppendFileArguments, context: ToolContext) -> CallPreview:
        path = await _existing_or_new(changes, arguments.path, context)
        return await changes.preview(path, context, lambda before: _appended(arguments, before))

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "gifts.txt", "text": "a kite"},
        reconcile=appended,
        preview=preview,
        targets=_changing(changes, _existing_or_new),
        candidates={"path": proposing(changes.files, changes.threads, Wanted.FILE)},
    )
    async def append_file(arguments: AppendFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Adds lines at the end of a file, or starts it."""
        if (made := await appended(arguments, context)) is not None:
            return made
        path = await _existing_or_new(changes, arguments.path, context)
        return await changes.rewrite(path, context, lambda before: _appended(arguments, before))

    return append_file


def _changing(changes: FileChanges, meant: Meaning) -> Report:
    async def report(arguments: Any, context: ToolContext) -> tuple[Target, ...]:
        path = await meant(changes, arguments.path, context)
        return (await changes.target(path, context, Access.WRITE),)

    return report


def _written(arguments: WriteFileArguments, before: bytes | None) -> Edit:
    content = with_line_breaks(arguments.content, arguments.path).encode()
    done = "created" if before is None else "replaced"
    return Edit(content, f"{done}, {len(content)} bytes")


def _edited(arguments: EditFileArguments, before: bytes | None) -> Edit:
    return replace_text(before or b"", arguments.old, arguments.new, arguments.path)


def _appended(arguments: AppendFileArguments, before: bytes | None) -> Edit:
    return append_lines(before or b"", arguments.text, arguments.path)


async def _existing(changes: FileChanges, path: str, context: ToolContext) -> str:
    matching = PathMatching(changes.files)
    return await changes.threads.run(
        lambda stopped: matching.find(path, context.workspace, Wanted.FILE, stopped)
    )


async def _existing_or_new(changes: FileChanges, path: str, context: ToolContext) -> str:
    """The existing file that the path means, or else the path of a new one."""
    try:
        return await _existing(changes, path, context)
    except ToolError as error:
        if error.reason != "FILE_NOT_FOUND":
            raise
        return bare_path(path)


async def _same_or_new(changes: FileChanges, path: str, context: ToolContext) -> str:
    """The existing file with this path, or else the path of a new one."""
    matching = PathMatching(changes.files)
    try:
        return await changes.threads.run(lambda stopped: matching.find_same(path, context.workspace, stopped))
    except ToolError as error:
        if error.reason != "FILE_NOT_FOUND":
            raise
        return bare_path(path)
