"""The tools that change the content of a file: write_file, edit_file and append_file."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from aeond.capabilities.tools.editing.edit_conversation import CHANGES, EditConversation
from aeond.capabilities.tools.editing.text_edits import (
    Addition,
    Replacement,
    edit_text,
    with_line_breaks,
)
from aeond.capabilities.tools.files.changes import FileChange, FileChanges
from aeond.capabilities.tools.files.differences import Edit
from aeond.capabilities.tools.files.path_matching import (
    PathMatching,
    Wanted,
    bare_path,
    exact_file,
    file_target,
    proposing,
)
from aeond.capabilities.tools.files.reading import FilePath
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.tables.rows.row_changes import MAX_STATEMENT_CHARS, change_rows
from aeond.capabilities.tools.trust import Trusts, trust_all
from aeond.capabilities.tools.worker_threads import Stopped
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target
from aeond.domain.tools import Effect, ToolContext, ToolOutput
from aeond.errors import ToolError
from aeond.frozen import frozen

Meaning = Callable[[PathMatching, str, str, Stopped], str]
"""Gives the path of the file that an argument means in a workspace. Blocking."""

MAX_CONTENT_CHARS: Final = 64 * 1024
MAX_OLD_CHARS: Final = 4_000
MAX_EDITS: Final = 50


class WriteFileArguments(BaseModel):
    """Which file, and its whole content."""

    path: FilePath
    content: Annotated[str, Field(max_length=MAX_CONTENT_CHARS, description="The whole text of the file")]


# Their schemas go into prompts of native tool calls: names that say what they hold, and no descriptions.
class _Replace(BaseModel):
    model_config = ConfigDict(extra="forbid")
    replace: Annotated[str, Field(max_length=MAX_OLD_CHARS)]
    with_: Annotated[str, Field(alias="with", max_length=MAX_CONTENT_CHARS)]


class _Remove(BaseModel):
    model_config = ConfigDict(extra="forbid")
    remove: Annotated[str, Field(max_length=MAX_OLD_CHARS)]


class _Add(BaseModel):
    model_config = ConfigDict(extra="forbid")
    add: Annotated[str, Field(max_length=MAX_CONTENT_CHARS, description="Lines at the end")]
    below: Annotated[str, Field(max_length=MAX_OLD_CHARS, description="or below this line")] = ""


class _Rows(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sql: Annotated[
        str,
        Field(
            max_length=MAX_STATEMENT_CHARS,
            description="UPDATE, INSERT or DELETE of rows, for csv, tsv and JSON lists",
        ),
    ]


class EditFileArguments(BaseModel):
    """Which file, and the changes in turn, those by SQL behind the others. Lines below which others stand are found as they were before."""

    path: FilePath
    changes: Annotated[list[_Replace | _Remove | _Add | _Rows], Field(min_length=1, max_length=MAX_EDITS)]


class AppendFileArguments(BaseModel):
    """Which file, and the lines to add."""

    path: FilePath
    text: Annotated[str, Field(max_length=MAX_CONTENT_CHARS, description="Lines to add")]


def writing_tools(changes: FileChanges, trusts: Trusts = trust_all) -> Sequence[FunctionTool]:
    return write_file_tool(changes), edit_file_tool(changes, trusts), append_file_tool(changes)


def write_file_tool(changes: FileChanges) -> FunctionTool:
    change = _Rewriting(changes, partial(_or_new, PathMatching.find_same), _written)

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "thanks.txt", "content": "Dear Sam, thank you for the flowers."},
        for_existing="edit_file",
        new_name="path",
        new_text="content",
        reconcile=change.made,
        preview=change.preview,
        targets=change.targets,
    )
    async def write_file(arguments: WriteFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Writes a whole text file, new or in place of the old one."""
        return await change.make(arguments, context)

    return write_file


def edit_file_tool(changes: FileChanges, trusts: Trusts) -> FunctionTool:
    change = _Rewriting(changes, _existing, _edited)
    conversation = EditConversation(changes.files, changes.threads, trusts)

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={
            "path": "trip.md",
            "changes": [{"replace": "two nights", "with": "three evenings"}, {"add": "Bring a map."}],
        },
        reconcile=change.made,
        preview=change.preview,
        targets=change.targets,
        candidates={"path": proposing(changes.files, changes.threads, Wanted.FILE)},
        only_existing=("path",),
        composed=(CHANGES, conversation.view),
    )
    async def edit_file(arguments: EditFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Replaces, removes or adds lines in a file; the rest stays."""
        return await change.make(arguments, context)

    return edit_file


def append_file_tool(changes: FileChanges) -> FunctionTool:
    change = _Rewriting(changes, partial(_or_new, _existing), _appended)

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "gifts.txt", "text": "a kite"},
        offered=False,
        reconcile=change.made,
        preview=change.preview,
        targets=change.targets,
        candidates={"path": proposing(changes.files, changes.threads, Wanted.FILE)},
    )
    async def append_file(arguments: AppendFileArguments, context: ToolContext) -> ToolOutput[FileChange]:
        """Adds lines at the end of a file, or starts it. For plans that name it: a model has edit_file."""
        return await change.make(arguments, context)

    return append_file


@frozen
class _Rewriting:
    """Common part of the tools: finds a file by its path, and replaces its content by an edit."""

    changes: FileChanges
    meant: Meaning
    edit: Callable[[Any, bytes | None], Edit]

    async def made(self, arguments: Any, context: ToolContext) -> ToolOutput[FileChange] | None:
        return await self.changes.made(context, partial(self.edit, arguments))

    async def preview(self, arguments: Any, context: ToolContext) -> CallPreview:
        path = await self._find(arguments.path, context)
        return await self.changes.preview(path, context, partial(self.edit, arguments))

    async def targets(self, arguments: Any, context: ToolContext) -> tuple[Target, ...]:
        files, workspace = self.changes.files, context.workspace

        def found(stopped: Stopped) -> tuple[str, Target]:
            if (exact := exact_file(files, arguments.path, workspace, Access.WRITE)) is not None:
                return exact
            path = self.meant(PathMatching(files), arguments.path, workspace, stopped)
            return path, file_target(files, path, workspace, Access.WRITE)

        path, target = await self.changes.threads.run(found)
        self.changes.reported.put(context, arguments.path, path)
        return (target,)

    async def make(self, arguments: Any, context: ToolContext) -> ToolOutput[FileChange]:
        """Changes the file that was reported to the policy, if it decided about this call."""
        path = self.changes.reported.take(context, arguments.path)
        if path is None:
            path = await self._find(arguments.path, context)
        return await self.changes.rewrite(path, context, partial(self.edit, arguments))

    async def _find(self, path: str, context: ToolContext) -> str:
        matching = PathMatching(self.changes.files)
        return await self.changes.threads.run(
            lambda stopped: self.meant(matching, path, context.workspace, stopped)
        )


def _written(arguments: WriteFileArguments, before: bytes | None) -> Edit:
    content = with_line_breaks(arguments.content, arguments.path).encode()
    done = "created" if before is None else "replaced"
    return Edit(content, f"{done}, {len(content)} bytes")


def _edited(arguments: EditFileArguments, before: bytes | None) -> Edit:
    changes = [_change(change) for change in arguments.changes if not isinstance(change, _Rows)]
    statements = [change.sql for change in arguments.changes if isinstance(change, _Rows)]
    content, notes = before or b"", []
    if changes:
        edit = edit_text(content, changes, arguments.path)
        content, notes = edit.content, [edit.change]
    if statements:
        edit = change_rows(content, statements, arguments.path)
        content, notes = edit.content, [*notes, edit.change]
    return Edit(content, "\n".join(notes))


def _change(change: _Replace | _Remove | _Add) -> Replacement | Addition:
    match change:
        case _Replace():
            return Replacement(change.replace, change.with_)
        case _Remove():
            return Replacement(change.remove, "")
        case _Add():
            return Addition(change.add, change.below)


def _appended(arguments: AppendFileArguments, before: bytes | None) -> Edit:
    return edit_text(before or b"", [Addition(arguments.text)], arguments.path)


def _existing(matching: PathMatching, path: str, workspace: str, stopped: Stopped) -> str:
    return matching.find(path, workspace, Wanted.FILE, stopped)


def _or_new(meant: Meaning, matching: PathMatching, path: str, workspace: str, stopped: Stopped) -> str:
    """The existing file that the path means, or else the path of a new one."""
    try:
        return meant(matching, path, workspace, stopped)
    except ToolError as error:
        if error.reason != "FILE_NOT_FOUND":
            raise
        return bare_path(path)
