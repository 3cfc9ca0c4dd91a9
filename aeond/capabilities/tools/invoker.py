"""The one guarded way to call a tool: whatever a tool does, a ToolResult comes back.

Look up, check the arguments, ask for leave, wait for a slot, run within the time, check the output. Each
stage that says no raises; the only broad catch of this package turns that, and whatever the tool raised,
into a failed result. What a tool cannot be kept from in its own process is to hold the event loop by
computing without end: blocking work belongs into a thread (see `WorkerThreads`).
"""

import asyncio
import inspect
import re
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import anyio

from aeond.capabilities.tools.effects import EffectLog
from aeond.capabilities.tools.function_tool import arguments_invalid
from aeond.capabilities.tools.registry import RegisteredTool, Registry
from aeond.capabilities.tools.request_checks import check_request
from aeond.domain.outcome import Problem
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.policy import joined
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import (
    TOOL_TIMEOUT,
    CompositionView,
    ToolCall,
    ToolContext,
    ToolOutput,
    ToolResult,
    ToolSpec,
    Workspace,
    allows,
)
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import AeondError, InvalidInputError, OverloadedError, ToolError
from aeond.ports import CANDIDATES_SECONDS, MAX_CANDIDATES, Clock, ToolAnswer
from aeond.ports.approvals import MAX_DIFF_CHARS, PREVIEW_SECONDS, Previews
from aeond.ports.policy import Authoriser, Decided, ignore_decision
from aeond.schemas.json_size import json_size
from aeond.user_places import UserPlaces

MAX_ARGUMENT_BYTES: Final = 1 << 20
MAX_ERROR_CHARS: Final = 2_000
MAX_NEAR_CHARS: Final = 4_000
MAX_CANDIDATE_CHARS: Final = 1_000
MAX_ERROR_CANDIDATES: Final = 5

T = TypeVar("T")
Work = Callable[[JsonObject, ToolContext], Awaitable[T]]
Run = Callable[[RegisteredTool, Work[T], ToolCall, ToolContext], Awaitable[T]]

_REASON: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


class GuardedInvoker:
    """Calls registered tools, at most `max_parallel` at once, and `max_parallel_per_user` of one user.

    The `unconfined` tools reach files with the daemon's rights: they cannot be called in a workspace that is used with those
    of another user.

    Up to `max_waiting` more calls wait, `max_waiting_per_user` of one user, each at most `max_wait_seconds`; beyond that
    a call fails with reason TOOLS_BUSY.
    """

    def __init__(
        self,
        registry: Registry,
        clock: Clock,
        authoriser: Authoriser,
        unconfined: frozenset[str] = frozenset(),
        *,
        max_parallel: int = 16,
        max_parallel_per_user: int = 6,  # fewer than the worker threads, which the tools of all users share
        max_waiting: int = 256,
        max_waiting_per_user: int = 64,
        max_wait_seconds: float = 30.0,
    ) -> None:
        self._registry = registry
        self._clock = clock
        self._authoriser = authoriser
        self._unconfined = unconfined
        self._slots = UserPlaces(max_parallel, max_parallel_per_user)
        self._max_waiting = max_waiting
        self._max_waiting_per_user = max_waiting_per_user
        self._max_wait_seconds = max_wait_seconds

    async def invoke(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult:
        """Runs the call; fails with the reason of the stage that stopped it.

        TOOL_NOT_FOUND, TOOL_NOT_ALLOWED, TOOL_NOT_CONFINED, ARGUMENTS_INVALID (every problem with its path), the authoriser's own, TOOLS_BUSY,
        TOOL_TIMEOUT, TOOL_RAISED (unless the tool gave a reason of its own), OUTPUT_INVALID,
        OUTPUT_TOO_LARGE, REQUEST_INVALID. Raises nothing but cancellation. `metadata` has `duration_seconds`, on success
        `output_bytes`, on failure `retryable` where the tool said that trying again can help, and `candidates`,
        values that exist, where it failed on the value of an argument.
        """
        log = EffectLog(call.tool)
        return await self._guard(self._perform(call, context, decided, self._run, log), log)

    def compute(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult | None:
        """The result of a call that only computes, as `invoke` gives it; None where that takes any waiting.

        The same stages, but for slot and time: until it returns nothing else runs that could stop it.
        """
        registered = self._registry.of(context.uid).get(call.tool)
        if registered is None or not registered.computes:
            return None
        log = EffectLog(call.tool)
        return _without_waiting(self._guard(self._perform(call, context, decided, _run_at_once, log), log))

    async def reconcile(self, call: ToolCall, context: ToolContext) -> ToolResult | None:
        """What the tool says of an earlier call; None when it cannot tell, for whatever reason."""
        log = EffectLog(call.tool)
        result = await self._guard(self._recall(call, context, log), log)
        return result if result.success and result.data is not None else None

    async def candidates(
        self, tool: str, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> Sequence[str]:
        """What the tool proposes for an argument: texts, each once, at most `limit` and MAX_CANDIDATES. ()
        after CANDIDATES_SECONDS and for whatever the tool raises."""
        result = await self._guard(self._proposals(tool, argument, context, limit, near))
        return tuple(map(str, result.data)) if isinstance(result.data, Sequence) else ()

    async def composition_view(
        self, call: ToolCall, context: ToolContext, request: str
    ) -> CompositionView | None:
        """What the composed arguments of the call are about; None after CANDIDATES_SECONDS, and if the tool raises."""
        shown: list[CompositionView | None] = []
        await self._guard(self._view(call, context, request, shown.append))
        return shown[0] if shown else None

    async def preview(self, call: ToolCall, context: ToolContext) -> CallPreview:
        """What the call would do; see aeond.ports.approvals."""
        shown: list[CallPreview] = []
        result = await self._guard(self._show(call, context, shown.append))
        preview = shown[0] if shown else CallPreview(problem=result.error)
        if len(preview.diff) <= MAX_DIFF_CHARS:
            return preview
        return replace(preview, diff=preview.diff[:MAX_DIFF_CHARS], problem="the diff is cut off")

    async def _show(
        self, call: ToolCall, context: ToolContext, show: Callable[[CallPreview], None]
    ) -> ToolResult:
        tool = self._registry.of(context.uid).find(call.tool).tool
        self._require_rights(call.tool, context)
        if not isinstance(tool, Previews):
            return ToolResult(True)
        with anyio.move_on_after(PREVIEW_SECONDS):
            show(await tool.preview(call.arguments, context))
            return ToolResult(True)
        raise ToolError(f"no preview within {PREVIEW_SECONDS:g} seconds", reason=TOOL_TIMEOUT)

    async def _view(
        self,
        call: ToolCall,
        context: ToolContext,
        request: str,
        show: Callable[[CompositionView | None], None],
    ) -> ToolResult:
        registered = self._registry.of(context.uid).find(call.tool)
        self._require_rights(call.tool, context)
        if allows(context.allowed_tools, call.tool):
            with anyio.move_on_after(CANDIDATES_SECONDS):
                show(await registered.composition_view(call.arguments, context, request[:MAX_NEAR_CHARS]))
        return ToolResult(True)

    async def _proposals(
        self, tool: str, argument: str, context: ToolContext, limit: int, near: str
    ) -> ToolResult:
        registered = self._registry.of(context.uid).find(tool)
        self._require_rights(tool, context)
        if not allows(context.allowed_tools, tool):
            return ToolResult(True, [])
        return ToolResult(True, await _proposed(registered, argument, context, limit, near))

    def _require_rights(self, tool: str, context: ToolContext) -> None:
        rights = Workspace.rights_of(context.workspace)
        if rights is not None and tool in self._unconfined:
            raise ToolError(
                f"{tool} works with the daemon's rights, not with those of user {rights.uid}: leave the workspace empty,"
                " or have an administrator add the tool to tools.sandboxed",
                reason="TOOL_NOT_CONFINED",
            )

    async def _guard(self, work: Awaitable[ToolResult], log: EffectLog | None = None) -> ToolResult:
        """The result of the work. A failure has the effects that were recorded before it."""
        started = self._clock.monotonic()
        try:
            result = await work
        except (
            BaseException
        ) as error:  # tool boundary: a bug in one tool ends its call; an end of the process passes
            if _is_ending(error):
                raise
            failed = _failure(error, self._clock.monotonic() - started)
            return failed if log is None else replace(failed, effects=log.effects)
        duration = self._clock.monotonic() - started
        return replace(result, metadata={"duration_seconds": duration, **result.metadata})

    async def _perform(
        self, call: ToolCall, context: ToolContext, decided: Decided, run: Run[ToolAnswer], log: EffectLog
    ) -> ToolResult:
        registered = self._registry.of(context.uid).find(call.tool)
        if not allows(context.allowed_tools, call.tool):
            raise ToolError(f"{call.tool} is not one of the tools of this run", reason="TOOL_NOT_ALLOWED")
        self._require_rights(call.tool, context)
        _check_arguments(registered, call.arguments)
        try:
            # A held call was authorised when it began. An answer alone proves nothing: the tool may be another one by now.
            if not registered.holds(call.arguments, context) and (
                refused := await self._authoriser.authorise(call, context, decided)
            ):
                return refused
            recording = replace(context, record=log.record)
            output = await run(registered, registered.tool.execute, call, recording)
        except ToolError as error:
            if error.field in registered.spec.candidates and not error.candidates:
                await self._add_candidates(error, call, context)
            raise
        if isinstance(output, InputRequest | SubtaskRequest):
            check_request(call.tool, output)
            return ToolResult(True, request=output)
        return _checked_output(registered, output, log)

    async def _add_candidates(self, error: ToolError, call: ToolCall, context: ToolContext) -> None:
        """Completes the error with the values nearest to the one that the call failed on."""
        given = str(call.arguments.get(error.field, ""))
        error.candidates = tuple(
            await self.candidates(call.tool, error.field, context, MAX_ERROR_CANDIDATES, given)
        )
        if error.candidates:
            error.message += f"; there is {', '.join(map(repr, error.candidates))}"
            error.args = (error.message,)

    async def _recall(self, call: ToolCall, context: ToolContext, log: EffectLog) -> ToolResult:
        registered = self._registry.of(context.uid).find(call.tool)
        self._require_rights(call.tool, context)
        _check_arguments(registered, call.arguments)
        output = await self._run(registered, registered.tool.reconcile, call, context)
        return ToolResult(True) if output is None else _checked_output(registered, output, log)

    async def _run(
        self, registered: RegisteredTool, work: Work[T], call: ToolCall, context: ToolContext
    ) -> T:
        """What the tool returns, once it has a slot (if it takes one) and unless its time runs out."""
        if not registered.elsewhere:
            try:
                self._slots.acquire_nowait(context.uid)
            except anyio.WouldBlock:
                await self._wait_for_slot(context.uid)
        try:
            with anyio.move_on_after(registered.spec.timeout_seconds):
                return await work(call.arguments, context)
        finally:
            if not registered.elsewhere:
                self._slots.release(context.uid)
        raise ToolError(
            f"{call.tool} did not end within {registered.spec.timeout_seconds:g} seconds and was stopped",
            reason=TOOL_TIMEOUT,
        )

    async def _wait_for_slot(self, uid: int) -> None:
        own_crowded = self._slots.waiting(uid) >= self._max_waiting_per_user
        if not own_crowded and self._slots.waiting_in_all < self._max_waiting:
            with anyio.move_on_after(self._max_wait_seconds):
                await self._slots.acquire(uid)
                return
        raise OverloadedError(
            "too many tool calls at once: try again when some have ended", reason="TOOLS_BUSY"
        )


async def _proposed(
    registered: RegisteredTool, argument: str, context: ToolContext, limit: int, near: str
) -> list[str]:
    most = min(limit, MAX_CANDIDATES)
    with anyio.move_on_after(CANDIDATES_SECONDS):
        values: Sequence[object] = await registered.candidates(argument, context, most, near[:MAX_NEAR_CHARS])
        texts = (
            value for value in values if isinstance(value, str) and 0 < len(value) <= MAX_CANDIDATE_CHARS
        )
        return [*dict.fromkeys(texts)][: max(most, 0)]
    return []


async def _run_at_once(_: RegisteredTool, work: Work[T], call: ToolCall, context: ToolContext) -> T:
    return await work(call.arguments, context)


def _without_waiting(work: Coroutine[Any, Any, T]) -> T | None:
    """The result of work that never suspends; work that suspends is closed, with None."""
    try:
        work.send(None)
    except StopIteration as ended:
        returned: T = ended.value
        return returned
    work.close()
    return None


def _check_arguments(registered: RegisteredTool, arguments: JsonObject) -> None:
    try:
        json_size(arguments, MAX_ARGUMENT_BYTES)
    except InvalidInputError as error:
        problem = Problem(error.reason, error.message, error.field)
        raise arguments_invalid(registered.spec.name, (problem,)) from error
    if problems := registered.arguments.problems(arguments):
        raise arguments_invalid(registered.spec.name, problems)


def _checked_output(registered: RegisteredTool, output: Any, log: EffectLog) -> ToolResult:
    """The result of a valid output. Its effects go to the log, also if it is not valid. Closes a coroutine that was returned
    in place of a value."""
    spec = registered.spec
    if inspect.iscoroutine(output):
        output.close()
    data, effects = log.completed(output)
    taint = joined((), output.taint) if isinstance(output, ToolOutput) else ()
    try:
        size = json_size(data, spec.max_output_bytes)
    except InvalidInputError as error:
        if error.reason == "TOO_LARGE":
            raise ToolError(
                f"{spec.name} returned more than {spec.max_output_bytes} bytes: ask for less at once",
                reason="OUTPUT_TOO_LARGE",
            ) from error
        raise _output_invalid(spec, (Problem(error.reason, error.message, error.field),)) from error
    if problems := registered.output.problems(data):
        raise _output_invalid(spec, problems)
    return ToolResult(True, data, metadata={"output_bytes": size}, effects=effects, taint=taint)


def _output_invalid(spec: ToolSpec, problems: tuple[Problem, ...]) -> ToolError:
    return ToolError(
        f"{spec.name} returned output that violates its output schema: " + "; ".join(map(str, problems)),
        reason="OUTPUT_INVALID",
    )


def _is_ending(error: BaseException) -> bool:
    """Whether the caller is being cancelled or the program stopped.

    A tool can raise CancelledError although its own task is not cancelled (by awaiting a cancelled one);
    let through, it would end the run's task silently.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | GeneratorExit)


def _failure(error: BaseException, duration_seconds: float) -> ToolResult:
    # What a tool raises may have a broken __str__ or constructor; the traceback module copes with both.
    said = "".join(traceback.format_exception_only(error)).strip()
    reason = "TOOL_RAISED"
    metadata: dict[str, JsonValue] = {"duration_seconds": duration_seconds}
    if isinstance(error, AeondError) and _REASON.fullmatch(str(error.reason)):
        reason = error.reason
        said = said.partition(": ")[2] or said
        if isinstance(error, OverloadedError) or getattr(error, "retryable", False) is True:
            metadata["retryable"] = True
        if isinstance(error, ToolError) and error.candidates:
            metadata["candidates"] = [
                str(value)[:MAX_CANDIDATE_CHARS] for value in error.candidates[:MAX_CANDIDATES]
            ]
    plain = said[:MAX_ERROR_CHARS].encode("utf-8", "backslashreplace").decode()
    return ToolResult(False, error=plain, reason=reason, metadata=metadata)
