"""An engine's server program in a unit of systemd: started by a connection, ended by its close.

systemd listens on a socket that only the daemon may connect to. A connection starts the unit's host
program (`unit_host.py`), which takes its arguments from it, says which process it is, and ends when the
connection does. That takes no privilege, and a daemon that dies leaves no engine running.
"""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from aeond.capabilities.llm.engine.process import cannot_load, engine_process, ignore_progress, progress_of
from aeond.capabilities.llm.models.store import ShowProgress
from aeond.errors import LLMGoneError

CONNECT_SECONDS: Final = 30.0
GO_SECONDS: Final = 5.0
END_SECONDS: Final = 10.0
UNIT: Final = "aeond-engine.service"


class RunningEngine(Protocol):
    """What the supervisor needs of an engine that was started."""

    @property
    def pid(self) -> int: ...

    async def wait_ready(self, show: ShowProgress = ignore_progress) -> None:
        """Returns when it is ready, and shows what it does until then; raises LLMError (reason MODEL_UNUSABLE) or LLMGoneError."""

    async def ended(self) -> str:
        """How it ended, in words, once it has."""

    def kill(self) -> None: ...

    def last_words(self) -> str: ...


Start = Callable[
    [Sequence[str], Path, Mapping[str, str], TaskGroup], contextlib.AbstractAsyncContextManager[RunningEngine]
]
"""Starts a command in a folder, with an environment, and ends it with the block."""

as_child: Start = engine_process


class EngineUnit:
    """The host process of a unit, held by a pidfd so that a reused pid cannot be taken for it."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._process: int | None = None
        self.pid = 0

    async def meet(self) -> None:
        """Learns which process it is. LLMGoneError when it does not say so. A process that has already ended may have sent an error."""
        with anyio.move_on_after(CONNECT_SECONDS), contextlib.suppress(OSError, TypeError, KeyError):
            report = await self._said() or {}
            with contextlib.suppress(ProcessLookupError):
                self._process = os.pidfd_open(report["pid"])
            self.pid = report["pid"]
            return
        raise LLMGoneError(f"The engine's unit did not start: journalctl -u {UNIT}.", retryable=True)

    async def wait_ready(self, show: ShowProgress = ignore_progress) -> None:
        while (report := await self._said()) is not None:
            if report.get("ready") is True:
                return
            if "activity" in report:
                show(*progress_of(report))
            if "error" in report:
                raise cannot_load(str(report["error"]), report)
        raise LLMGoneError(f"The engine ended while it loaded: journalctl -u {UNIT}.", retryable=True)

    async def ended(self) -> str:
        if self._process is not None:
            await anyio.wait_readable(self._process)
        return "its unit ended"

    def kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def last_words(self) -> str:
        return f"What it said last: journalctl -u {UNIT}."

    async def end(self) -> None:
        """Lets it go by itself, now that its connection is closed, else kills it; returns when it is gone."""
        with anyio.move_on_after(GO_SECONDS) as going:
            await self.ended()
        if going.cancelled_caught:
            self.kill()
            with anyio.move_on_after(END_SECONDS):
                await self.ended()
        if self._process is not None:
            os.close(self._process)
            self._process = None

    async def _said(self) -> dict[str, Any] | None:
        """The next thing that it says; None when it has ended."""
        with contextlib.suppress(OSError, ValueError):
            while line := await self._reader.readline():
                with contextlib.suppress(ValueError):
                    report = json.loads(line)
                    if isinstance(report, dict):
                        return report
        return None


@contextlib.asynccontextmanager
async def engine_unit(
    address: Path, command: Sequence[str], _folder: Path, environment: Mapping[str, str], _tasks: TaskGroup
) -> AsyncIterator[EngineUnit]:
    """Connects to `address`, which starts the unit, hands it its command, and ends it with the block.

    `command` is a program with an absolute path and its arguments, or the arguments alone of the embedded
    engine's host, which the unit has already; that one has the unit's environment, and all have its folder.
    Raises LLMGoneError when nothing listens there or the unit does not start.
    """
    try:
        with anyio.fail_after(CONNECT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(str(address))
    except (OSError, TimeoutError) as error:
        raise LLMGoneError(
            f"The engine's unit cannot be started, for {address} does not answer ({error}): "
            "systemctl restart aeond-engine.socket.",
            retryable=True,
        ) from error
    unit = EngineUnit(reader)
    try:
        asked = {"command": list(command), "environment": dict(environment)}
        writer.write(json.dumps(asked).encode() + b"\n")
        await unit.meet()
        yield unit
    finally:
        writer.transport.abort()
        with anyio.CancelScope(shield=True):
            await unit.end()
