"""The file tools over a folder of a test, with the undo log in memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from aeond.capabilities.tools.editing.writing import writing_tools
from aeond.capabilities.tools.files.changes import FileChanges
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.moving import moving_tools
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import ToolCall, ToolContext, ToolResult
from aeond.ports.undo import UndoLog
from tests.support.doubles import ManualClock
from tests.support.tools import CONTEXT, invoker_of
from tests.support.undo import InMemoryUndoLog


class FileTools:
    """Calls the changing file tools in `folder`, each call with an id of its own unless one is given."""

    def __init__(self, folder: Path, log: UndoLog | None = None) -> None:
        self.folder = folder
        self.files = ContainedFiles(resolve_in_kernel)
        self.log = log or InMemoryUndoLog()
        self.changes = FileChanges(self.files, self.log, WorkerThreads(), ManualClock())
        self.tools = (*writing_tools(self.changes), *moving_tools(self.changes))
        self.invoker = invoker_of(*self.tools)
        self._calls = 0

    def context(self, call_id: str) -> ToolContext:
        return replace(CONTEXT, workspace=str(self.folder), call_id=call_id)

    async def call(self, tool: str, call_id: str = "", **arguments: Any) -> ToolResult:
        self._calls += 1
        name = call_id or f"call{self._calls}"
        return await self.invoker.invoke(ToolCall(tool, arguments, name), self.context(name))

    async def done(self, tool: str, call_id: str = "", **arguments: Any) -> Any:
        """The data of a call that succeeds."""
        result = await self.call(tool, call_id, **arguments)
        assert result.success, result.error
        return result.data

    async def reconcile(self, tool: str, call_id: str, **arguments: Any) -> ToolResult | None:
        return await self.invoker.reconcile(ToolCall(tool, arguments, call_id), self.context(call_id))
