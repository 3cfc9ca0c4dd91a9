"""The write_file tool."""

import os
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.reading import FilePath
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import ToolError

MAX_CONTENT_CHARS: Final = 64 * 1024


class WriteFileArguments(BaseModel):
    """Which file, and all that shall be in it."""

    path: FilePath
    content: Annotated[str, Field(max_length=MAX_CONTENT_CHARS, description="The whole text of the file")]


class WriteFileResult(BaseModel):
    """What was written."""

    path: str
    size_bytes: int


def write_file_tool(files: ContainedFiles, threads: WorkerThreads) -> FunctionTool:
    async def written(arguments: WriteFileArguments, context: ToolContext) -> WriteFileResult | None:
        done = await threads.run(lambda _stopped: _is_written(files, arguments, context.workspace))
        return _result(arguments) if done else None

    @tool(
        effect=Effect.WRITE_CONTAINED,
        idempotent=True,
        example={"path": "thanks.txt", "content": "Dear Sam, thank you for the flowers."},
        reconcile=written,
    )
    async def write_file(arguments: WriteFileArguments, context: ToolContext) -> WriteFileResult:
        """Writes a text file, replacing what was in it."""
        mark = f"{context.run_id}/{context.step_id}/{context.call_id}"
        content = arguments.content.encode()
        await threads.run(
            lambda stopped: files.write_file(arguments.path, context.workspace, content, mark, stopped)
        )
        return _result(arguments)

    return write_file


def _result(arguments: WriteFileArguments) -> WriteFileResult:
    return WriteFileResult(path=arguments.path, size_bytes=len(arguments.content.encode()))


def _is_written(files: ContainedFiles, arguments: WriteFileArguments, workspace: str) -> bool:
    content = arguments.content.encode()
    try:
        with files.open_file(arguments.path, workspace) as opened:
            return os.pread(opened, len(content) + 1, 0) == content
    except ToolError:
        return False
