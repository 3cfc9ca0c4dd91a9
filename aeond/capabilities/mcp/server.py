"""One MCP server: kept connected, its tools registered, its calls carried out.

A server whose connection is lost is connected again after a backoff, up to MAX_FAILURES times in a row. Its tools stay
registered meanwhile. Calls that were in progress are cut off: their outcome is unknown.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from aeond.capabilities.mcp.calls import PendingCall, cut
from aeond.capabilities.mcp.connection import Connection, closed
from aeond.capabilities.mcp.foreign_text import clean
from aeond.capabilities.mcp.forms import question_of, result_of
from aeond.capabilities.mcp.settings import ServerSettings
from aeond.capabilities.mcp.tool import McpTool, Registering
from aeond.capabilities.mcp.translation import failure_of, output_of, spec_of
from aeond.domain.runs.live_updates import LiveUpdate, Progress
from aeond.domain.tools import RecordedEffect, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import AeondError, ToolError
from aeond.ports import Clock, ToolAnswer

MAX_FAILURES: Final = 8
STABLE_SECONDS: Final = 60.0
FIRST_BACKOFF_SECONDS: Final = 0.5
LONGEST_BACKOFF_SECONDS: Final = 60.0
READY_SECONDS: Final = 10.0
MAX_HELD: Final = 16
PROGRESS_SECONDS: Final = 0.1
RELIST_SECONDS: Final = 1.0

Show = Callable[[LiveUpdate], None]
log = logging.getLogger(__name__)


class Server:
    """Runs while `run` does. `state` is for people: "" while the server is connected."""

    def __init__(
        self,
        settings: ServerSettings,
        accepted: Sequence[str],
        registry: Registering,
        clock: Clock,
        show: Show,
    ) -> None:
        self.settings = settings
        self.state = "it is starting"
        self.failed = False
        self.settled = anyio.Event()
        self._accepted = tuple(accepted)
        self._registry = registry
        self._clock = clock
        self._show = show
        self._connection: Connection | None = None
        self._tasks: TaskGroup | None = None
        self._ready = anyio.Event()
        self._tools: tuple[types.Tool, ...] = ()
        self._registered: list[str] = []
        self._active: set[PendingCall] = set()
        self._held: dict[tuple[str, str], PendingCall] = {}

    async def run(self) -> None:
        """Keeps the server connected until cancelled, or until it has failed too often."""
        failures = 0
        try:
            while failures < MAX_FAILURES:
                began = self._clock.monotonic()
                why = await self._connected()
                failures = 1 if self._clock.monotonic() - began > STABLE_SECONDS else failures + 1
                self._publish(why)
                self.settled.set()
                log.warning("MCP server %s: %s", self.settings.name, why, extra={"kind": "mcp_server_lost"})
                backoff: float = FIRST_BACKOFF_SECONDS * 2 ** (failures - 1)
                wait = min(backoff, LONGEST_BACKOFF_SECONDS)
                await self._clock.sleep_until(self._clock.monotonic() + wait)
            self.failed = True
            self._publish(f"{self.state}; it failed {failures} times in a row: correct it, then reload")
            await anyio.sleep_forever()
        finally:
            self.withdraw()

    def adopt(self, settings: ServerSettings, accepted: Sequence[str]) -> None:
        """Applies settings of the same identity, and the digests that a person has accepted."""
        self.settings, self._accepted = settings, tuple(accepted)
        self._publish(self.state)

    def forget_run(self, run_id: str) -> None:
        """Stops the calls of an ended run that wait for an answer."""
        for key in [key for key in self._held if key[0] == run_id]:
            self._held.pop(key).cancel()

    def holds(self, tool: McpTool, arguments: JsonObject, context: ToolContext) -> bool:
        """See aeond.ports.policy.HoldsCalls."""
        if context.answer is None:
            return False
        call = self._held.get((context.run_id, context.call_id))
        if call is None or not call.makes(tool.spec.name, arguments):
            raise cut(tool.spec.name, "the server that asked the question is gone")
        return True

    async def call(self, tool: McpTool, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        """Carries the call out, or continues it with a person's answer. See `McpTool.execute`."""
        key = (context.run_id, context.call_id)
        continues = self.holds(tool, arguments, context)
        call = self._held.pop(key, None)
        if call is not None and continues:
            call.answer(context.answer)
        else:
            if call is not None:
                call.cancel()  # its step was repaired, and makes another call
            call = await self._begun(tool, arguments, context)
        if self.settings.url:
            context.record(RecordedEffect("http.requested", self.settings.url, f"MCP, {tool.name}"))
        try:
            answer = await call.turn()
        except anyio.get_cancelled_exc_class():
            call.cancel()
            raise
        finally:
            if context.run_id:
                self._show(Progress(context.run_id, context.step_id, ""))
        if call in self._active:
            self._held[key] = call
        return answer

    # ------------------------------------------------------------ connection

    async def _connected(self) -> str:
        """Returns why the connection could not be made or was lost."""
        why = ""
        try:
            async with anyio.create_task_group(), self.settings.open() as wire:
                try:
                    async with Connection(wire, self._elicit) as connection:
                        await self._serve(connection)
                except (MCPError, TimeoutError, RuntimeError, ValidationError) as error:
                    wire.fail("" if closed(error) else f"it gave no valid answer: {_said(error)}")
                why = clean(await wire.why(), 500)
        except ExceptionGroup as error:  # whatever a server makes the SDK raise, and what `open` raises
            log.debug("MCP server %s", self.settings.name, exc_info=True)
            why = _said(_first(error))
        return why

    async def _serve(self, connection: Connection) -> None:
        """Returns when the connection is lost."""
        self._tools = tuple(await connection.list_tools())
        self._publish("")
        async with anyio.create_task_group() as tasks:
            self._connection, self._tasks = connection, tasks
            self._ready.set()
            self.settled.set()
            tasks.start_soon(self._follow, connection)
            try:
                await connection.wire.lost.wait()
                why = clean(await connection.wire.why(), 300)
                for call in self._active:
                    call.fail(cut(call.name, why))
            finally:
                self._connection, self._tasks = None, None
                self._ready = anyio.Event()
                tasks.cancel_scope.cancel()

    async def _follow(self, connection: Connection) -> None:
        """Registers the tools again whenever the server says that they changed, at most once in RELIST_SECONDS."""
        while True:
            await connection.changed.wait()
            try:
                self._tools = tuple(await connection.list_tools())
            except (MCPError, ValidationError):
                connection.wire.lost.set()
                return
            self._publish("")
            await self._clock.sleep_until(self._clock.monotonic() + RELIST_SECONDS)

    def _publish(self, state: str) -> None:
        """Registers the tools as they are now."""
        self.state = state
        self.withdraw()
        unavailable = state and f"its MCP server does not run: {state}"
        for tool in self._tools:
            try:
                spec = spec_of(tool, self.settings, self._accepted, unavailable)
                self._registry.register(McpTool(spec, tool.name, self, self.settings.tool_code))
            except (AeondError, ValueError, RecursionError) as error:
                name = clean(tool.name, 100)
                log.warning(
                    "tool %s of MCP server %s is left out: %s", name, self.settings.name, _said(error)
                )
            else:
                self._registered.append(spec.name)

    def withdraw(self) -> None:
        while self._registered:
            self._registry.remove(self._registered.pop())

    # ------------------------------------------------------------ calls

    async def _begun(self, tool: McpTool, arguments: JsonObject, context: ToolContext) -> PendingCall:
        with anyio.move_on_after(READY_SECONDS):
            await self._ready.wait()
        connection, tasks = self._connection, self._tasks
        if connection is None or tasks is None:
            message = f"the MCP server {self.settings.name} does not run: {self.state}"
            raise ToolError(message, reason="MCP_SERVER_DOWN", retryable=True)
        call = PendingCall(tool.spec.name, arguments, context)
        self._active.add(call)
        tasks.start_soon(self._perform, connection, tool, call)
        return call

    async def _perform(self, connection: Connection, tool: McpTool, call: PendingCall) -> None:
        try:
            with call.scope:
                result = await connection.call(tool, call.arguments, self._progress_of(call))
                if result.is_error:
                    raise await self._failure(connection, tool, call, result)
                call.end(output_of(result, tool.spec))
        except AeondError as error:
            call.fail(error)
        finally:
            self._active.discard(call)
            self._held = {key: held for key, held in self._held.items() if held is not call}
            call.fail(cut(call.name, "it was cancelled"))
        if call.scope.cancelled_caught and not await connection.responds():
            connection.wire.fail("it was stopped, because it did not respond after a cancelled call")

    async def _failure(
        self, connection: Connection, tool: McpTool, call: PendingCall, result: types.CallToolResult
    ) -> ToolError:
        texts = {name: str(value) for name, value in call.arguments.items() if isinstance(value, str | int)}
        for name, text in texts.items():
            values = await connection.completed(name, text)
            if values and text not in values:
                return failure_of(result, call.name, name, values)
        return failure_of(result, call.name)

    async def _elicit(self, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        """Asks the run whose call is the only one in progress: the protocol does not say which call a question belongs
        to, and a question must never reach another user's run."""
        active = tuple(self._active)
        if len(active) != 1 or not active[0].can_ask or len(self._held) >= MAX_HELD:
            return types.ElicitResult(action="decline")
        with suppress(KeyError, TypeError, AttributeError):
            question = question_of(self.settings.name, active[0].name, params)
            return result_of(params, await active[0].ask(question))
        return types.ElicitResult(action="decline")

    def _progress_of(self, call: PendingCall) -> ProgressFnT:
        shown = -PROGRESS_SECONDS

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            nonlocal shown
            now = self._clock.monotonic()
            if not call.context.run_id or now - shown < PROGRESS_SECONDS:
                return
            shown = now
            fraction = min(max(progress / total, 0.0), 1.0) if total and total > 0 else -1.0
            activity = clean(f"{call.name}: {message}" if message else call.name, 100)
            self._show(Progress(call.context.run_id, call.context.step_id, activity, fraction))

        return progressed


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _said(error: BaseException) -> str:
    said = error.message if isinstance(error, AeondError | MCPError) else str(error)
    return clean(said or "it did not respond in time", 500) or type(error).__name__
