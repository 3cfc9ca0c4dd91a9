"""The move_file and delete_file tools."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.changes import FileChange, FileChanges
from aeond.capabilities.tools.files.path_matching import PathMatching, Wanted, bare_path, proposing
from aeond.capabilities.tools.files.reading import MAX_PATH_CHARS, FilePath
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target
from aeond.domain.tools import Effect, ToolContext, ToolOutput
from aeond.errors import ToolError


class MoveFileArguments(BaseModel):
    """Which file, and where to."""

    path: FilePath
    to: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS, description="New name or folder")]


class DeleteFileArguments(BaseModel):
    """Which file."""

    path: FilePath


def moving_tools(changes: FileChanges) -> Sequence[FunctionTool]:
    return move_file_tool(changes), delete_file_tool(changes)


def move_file_tool(changes: FileChanges) -> FunctionTool:
    async def touched(arguments: MoveFileArguments, context: ToolContext) -> tuple[Target, ...]:
        path, to = await places(arguments, context)
        return (
            await changes.target(path, context, Access.DELETE),
            await changes.target(to, context, Access.WRITE),
        )

    async def moved(_arguments: MoveFileArguments, context: ToolContext) -> ToolOutput[FileChange] | None:
        return await changes.made(context)

    async def preview(arguments: MoveFileArguments, context: ToolContext) -> CallPreview:
        path, to = await places(arguments, context)
        return CallPreview(source=changes.absolute(path, context), target=changes.absolute(to, context))

    async def places(arguments: MoveFileArguments, context: ToolContext) -> tuple[str, str]:
        path = await _same(changes, arguments.path, context)
        to = await changes.threads.run(
            lambda _stopped: _target(changes, path, arguments.to, context.workspace)
        )
        return path, to

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "sketch.txt", "to": "final.txt"},
        reconcile=moved,
        preview=preview,
        targets=touched,
        candidates={"path": proposing(changes.files, changes.threads, Wanted.FILE)},
        only_existing=("path",),
        new_name="to",
    )
    async def move_file(arguments: MoveFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Renames a file or moves it to another folder."""
        if (made := await changes.made(context)) is not None:
            return made
        return await changes.move(*await places(arguments, context), context)

    return move_file


def delete_file_tool(changes: FileChanges) -> FunctionTool:
    async def touched(arguments: DeleteFileArguments, context: ToolContext) -> tuple[Target, ...]:
        path = await _same(changes, arguments.path, context)
        return (await changes.target(path, context, Access.DELETE),)

    async def deleted(_arguments: DeleteFileArguments, context: ToolContext) -> ToolOutput[FileChange] | None:
        return await changes.made(context)

    async def preview(arguments: DeleteFileArguments, context: ToolContext) -> CallPreview:
        path = await _same(changes, arguments.path, context)
        return CallPreview(source=changes.absolute(path, context))

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "obsolete.log"},
        reconcile=deleted,
        preview=preview,
        targets=touched,
        candidates={"path": proposing(changes.files, changes.threads, Wanted.FILE)},
        only_existing=("path",),
        for_part="edit_file",
    )
    async def delete_file(arguments: DeleteFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Deletes a file."""
        if (made := await changes.made(context)) is not None:
            return made
        return await changes.delete(await _same(changes, arguments.path, context), context)

    return delete_file


async def _same(changes: FileChanges, path: str, context: ToolContext) -> str:
    matching = PathMatching(changes.files)
    return await changes.threads.run(lambda stopped: matching.find_same(path, context.workspace, stopped))


def _target(changes: FileChanges, path: str, to: str, workspace: str) -> str:
    """The new path: in a folder the file keeps its name, and a bare new name renames it in its own folder."""
    wanted = bare_path(to)
    folder, _, name = path.rpartition("/")
    try:
        if wanted.endswith("/") or changes.files.is_folder(wanted, workspace):
            return f"{wanted.rstrip('/')}/{name}"
    except ToolError as error:
        raise ToolError(error.message, reason=error.reason, field="to", retryable=error.retryable) from error
    renamed = folder and "/" not in wanted and wanted != name
    return f"{folder}/{wanted}" if renamed else wanted
