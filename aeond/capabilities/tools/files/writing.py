"""The tools that change the content of a file: write_file, edit_file and append_file."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.changes import FileChange, FileChanges
from aeond.capabilities.tools.files.path_matching import (
    PathMatching,
    Wanted,
    bare_path,
    exact_file,
    file_target,
    proposing,
)
from aeond.capabilities.tools.files.reading import FilePath
from aeond.capabilities.tools.files.text_edits import Edit, append_lines, replace_text, with_line_breaks
from aeond.capabilities.tools.function_tool import FunctionTool, Report, tool
from aeond.capabilities.tools.worker_threads import Stopped
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target
from aeond.domain.tools import Effect, ToolContext, ToolOutput
from aeond.errors import ToolError

Meaning = Callable[[PathMatching, str, str, Stopped], str]
"""Gives the path of the file that an argument means in a workspace. Blocking."""

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
        path = await _meant(changes, _same_or_new, arguments.path, context)
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
        path = await _path(changes, _same_or_new, arguments.path, context)
        return await changes.rewrite(path, context, lambda before: _written(arguments, before))

    return write_file


def edit_file_tool(changes: FileChanges) -> FunctionTool:
    async def edited(arguments: EditFileArguments, context: ToolContext) -> ToolOutput[FileChange] | None:
        return await changes.made(context, lambda before: _edited(arguments, before))

    async def preview(arguments: EditFileArguments, context: ToolContext) -> CallPreview:
        path = await _meant(changes, _existing, arguments.path, context)
        return await changes.preview(path, context, lambda before: _edited(arguments, before))

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "trip.md", "old": "two nights", "new": "three evenings"},
        reconcile=edited,
        preview=preview,
        targets=_changing(changes, _existing),
        candidates={"path": proposing(changes.files, changes.threads, Wanted.FILE)},
        only_existing=("path",),
    )
    async def edit_file(arguments: EditFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Replaces or removes one text in a file; the rest stays."""
        path = await _path(changes, _existing, arguments.path, context)
        return await changes.rewrite(path, context, lambda before: _edited(arguments, before))

    return edit_file


def append_file_tool(changes: FileChanges) -> FunctionTool:
    async def appended(arguments: AppendFileArguments, context: ToolContext) -> ToolOutput[FileChange] | None:
        return await changes.made(context, lambda before: _appended(arguments, before))

    async def preview(arguments: AppendFileArguments, context: ToolContext) -> CallPreview:
        path = await _meant(changes, _existing_or_new, arguments.path, context)
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
        path = await _path(changes, _existing_or_new, arguments.path, context)
        return await changes.rewrite(path, context, lambda before: _appended(arguments, before))

    return append_file


def _changing(changes: FileChanges, meant: Meaning) -> Report:
    matching = PathMatching(changes.files)

    async def report(arguments: Any, context: ToolContext) -> tuple[Target, ...]:
        def found(stopped: Stopped) -> tuple[str, Target]:
            if (
                exact := exact_file(changes.files, arguments.path, context.workspace, Access.WRITE)
            ) is not None:
                return exact
            path = meant(matching, arguments.path, context.workspace, stopped)
            return path, file_target(changes.files, path, context.workspace, Access.WRITE)

        path, target = await changes.threads.run(found)
        changes.reported.put(context, arguments.path, path)
        return (target,)

    return report


def _written(arguments: WriteFileArguments, before: bytes | None) -> Edit:
    content = with_line_breaks(arguments.content, arguments.path).encode()
    done = "created" if before is None else "replaced"
    return Edit(content, f"{done}, {len(content)} bytes")


def _edited(arguments: EditFileArguments, before: bytes | None) -> Edit:
    return replace_text(before or b"", arguments.old, arguments.new, arguments.path)


def _appended(arguments: AppendFileArguments, before: bytes | None) -> Edit:
    return append_lines(before or b"", arguments.text, arguments.path)


async def _path(changes: FileChanges, meant: Meaning, path: str, context: ToolContext) -> str:
    """The file to change: the one that was reported to the policy, if it decided about this call."""
    if (reported := changes.reported.take(context, path)) is not None:
        return reported
    return await _meant(changes, meant, path, context)


async def _meant(changes: FileChanges, meant: Meaning, path: str, context: ToolContext) -> str:
    matching = PathMatching(changes.files)
    return await changes.threads.run(lambda stopped: meant(matching, path, context.workspace, stopped))


def _existing(matching: PathMatching, path: str, workspace: str, stopped: Stopped) -> str:
    return matching.find(path, workspace, Wanted.FILE, stopped)


def _existing_or_new(matching: PathMatching, path: str, workspace: str, stopped: Stopped) -> str:
    """The existing file that the path means, or else the path of a new one."""
    return _or_new(_existing, matching, path, workspace, stopped)


def _same_or_new(matching: PathMatching, path: str, workspace: str, stopped: Stopped) -> str:
    """The existing file with this path, or else the path of a new one."""
    return _or_new(PathMatching.find_same, matching, path, workspace, stopped)


def _or_new(meant: Meaning, matching: PathMatching, path: str, workspace: str, stopped: Stopped) -> str:
    try:
        return meant(matching, path, workspace, stopped)
    except ToolError as error:
        if error.reason != "FILE_NOT_FOUND":
            raise
        return bare_path(path)
