"""The tools that act on the machine, over a folder of a test, in the real sandbox."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from aeond.capabilities.hands.hand_set import hands
from aeond.capabilities.hands.workshop import Workshop
from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.conversing import Sandbox
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.restorer import Restorer
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.tools import ToolCall, ToolContext, ToolResult, Workspace
from aeond.domain.undo import UndoReport
from tests.support.doubles import ManualClock
from tests.support.memory import InMemoryMemory
from tests.support.tools import CONTEXT, invoker_of
from tests.support.undo import InMemoryUndoLog

MEMORY_BYTES = 1 << 30


class Hands:
    """Calls the tools in `folder`; `shown` is the live text so far."""

    def __init__(self, folder: Path, sandbox: Sandbox | None = None) -> None:
        self.folder = folder
        self.shown: list[str] = []
        self.on_text: Callable[[str], object] = self.shown.append
        self.files = ContainedFiles(resolve_in_kernel)
        self.log = InMemoryUndoLog()
        self.workshop = Workshop(
            sandbox or Bubblewrap(),
            self.files,
            WorkerThreads(),
            self.log,
            ManualClock(),
            MEMORY_BYTES,
            lambda _run_id, _step_id: self._show,
        )
        self.tools = hands(self.workshop, None, ())
        self.invoker = invoker_of(*self.tools)

    @property
    def context(self) -> ToolContext:
        return replace(CONTEXT, workspace=str(self.folder))

    def _show(self, text: str) -> None:
        self.on_text(text)

    def text(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        return await self.invoker.invoke(ToolCall(tool, arguments, "call1"), self.context)

    async def done(self, tool: str, **arguments: Any) -> Any:
        """The data of a call that succeeds."""
        result = await self.call(tool, **arguments)
        assert result.success, result.error
        return result.data

    async def shell(self, commands: str, **arguments: Any) -> ToolResult:
        """A call of run_command that runs these commands in a shell."""
        return await self.call("run_command", argv=["sh", "-c", commands], **arguments)

    async def undo(self) -> UndoReport:
        return await Restorer(self.log, self.files, WorkerThreads(), InMemoryMemory()).undo(
            [self.context.run_id], 0, Workspace(self.context.workspace)
        )


def repository(folder: Path) -> None:
    """Makes the folder a git repository with one commit of everything in it."""
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "-m", "Begin"),
    ):
        git(folder, *words)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout
