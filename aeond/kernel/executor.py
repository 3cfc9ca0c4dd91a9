"""Executes one step in one of its modes; what goes wrong in a step ends as its event, never as an exception."""

import logging
from dataclasses import field, replace

from aeond.domain.budgets import Amounts, Grant
from aeond.domain.events import (
    InputRequested,
    StepEnded,
    StepRepaired,
    StepStarted,
)
from aeond.domain.outcome import Problem
from aeond.domain.plans import LLM_AGENT, Clarity, StepState
from aeond.domain.questions import InputRequest, Question
from aeond.domain.runs import RunSnapshot
from aeond.domain.steps import StepMode
from aeond.domain.subtasks import SubtaskRequest
from aeond.domain.tools import TOOL_TIMEOUT, Recovery
from aeond.frozen import frozen
from aeond.ports import (
    Children,
    Clock,
    Mender,
    Reasoner,
    StepOutput,
    TextSink,
    ToolInvoker,
)

log = logging.getLogger(__name__)


@frozen
class Subtask:
    """A step wants a run of its own: whether it gets one is settled in the run's loop."""

    step_id: str
    request: SubtaskRequest
    used: Amounts = field(default_factory=Amounts)


StepOutcome = StepEnded | StepRepaired | InputRequested | Subtask


@frozen
class StepExecutor:
    """Tool if the step names a registered one; else its agent; else repair, and then the model as fallback."""

    invoker: ToolInvoker
    reasoner: Reasoner
    mender: Mender
    clock: Clock
    children: Children

    async def execute(
        self, run: RunSnapshot, started: StepStarted, grant: Grant, on_text: TextSink
    ) -> StepOutcome:
        """Performs the intent. The step boundary: whatever fails in here is the outcome of this step alone."""
        begun = self.clock.monotonic()
        try:
            match started.mode:
                case StepMode.TOOL:
                    ended: StepOutcome = await self._call_tool(run, started, grant)
                case StepMode.REPAIR:
                    ended = await self._repair(run, started, grant)
                case _:
                    ended = await self._reason(run, started, grant, on_text)
            if not isinstance(ended, StepEnded):
                return replace(ended, used=grant.used)
        except Exception as error:  # step boundary: a bug in one step ends that step, not the run
            log.exception("step failed on an unexpected error", extra=_where(run, started))
            ended = _failed(started, "INTERNAL", f"unexpected {type(error).__name__}; see the daemon's log")
        seconds = self.clock.monotonic() - begun
        return replace(ended, used=grant.used, duration_seconds=seconds, model_use=grant.model_use)

    async def _call_tool(self, run: RunSnapshot, started: StepStarted, grant: Grant) -> StepOutcome:
        step = started.step
        grant.take(Amounts(ttl=1))
        child = run.steps[step.step_id].child
        if child is not None:  # its share was counted when the run was cut
            return (await self.children.run(child, run, step.step_id, Amounts()))[1]
        if step.errors or step.tool_call is None:
            return _failed(started, "UNRESOLVED_REFERENCE", "; ".join(step.errors))
        if not grant.take(Amounts(tool_calls=1)):
            return _failed(started, "BUDGET_SPENT", "the budget has no tool call left for this step")
        context = run.tool_context(step.step_id, step.tool_call.call_id)
        result = None
        if started.attempt > 1 and started.recovery is not Recovery.RERUN:
            result = await self.invoker.reconcile(step.tool_call, context)
        if result is None:
            result = await self.invoker.invoke(step.tool_call, context)
        if isinstance(result.request, InputRequest):
            return InputRequested(
                Question(f"{step.step_id}.{started.attempt}", step.step_id, result.request, self.clock.time())
            )
        if isinstance(result.request, SubtaskRequest):
            return Subtask(step.step_id, result.request)
        if result.success:
            return StepEnded(step.step_id, StepState.SUCCEEDED, started.mode, output=result.data)
        if result.reason == TOOL_TIMEOUT and started.recovery is Recovery.ASK:
            # It had begun, and nobody knows how far it came.
            return replace(_failed(started, result.reason, result.error), state=StepState.UNKNOWN)
        return _failed(started, result.reason, result.error)

    async def _reason(
        self, run: RunSnapshot, started: StepStarted, grant: Grant, on_text: TextSink
    ) -> StepEnded:
        step = started.step
        grant.take(Amounts(ttl=1))
        if started.mode is StepMode.FALLBACK:
            step = replace(step, tool_call=None, agent=LLM_AGENT)
        ok, value, problem = await self.reasoner.reason(step, run, grant, on_text)
        if not ok or not isinstance(value, StepOutput):
            return _failed(started, problem.reason, problem.message)
        clarity = Clarity(value.clarity)
        blocked = clarity is Clarity.BLOCKED
        return StepEnded(
            step.step_id,
            StepState.INVALID if blocked else StepState.SUCCEEDED,
            started.mode,
            output=value.output,
            error="the model says that it cannot do this step with what it has" if blocked else "",
            reason="BLOCKED" if blocked else "",
            clarity=clarity,
            handoff=value.handoff,
        )

    async def _repair(self, run: RunSnapshot, started: StepStarted, grant: Grant) -> StepRepaired | StepEnded:
        step, errors = started.step, "; ".join(started.step.errors)
        ok, mended, problem = await self.mender.mend(step, run, grant)
        if not ok and problem.reason == "ARGUMENTS_INVALID":
            grant.take(Amounts(ttl=1))
            return replace(_failed(started, "ARGUMENTS_INVALID", errors), mode=StepMode.TOOL)
        if not ok:
            mended = replace(step, tool_call=None, agent=None)  # the errors stay: the fallback answers
        return StepRepaired(mended, Problem("STEP_MENDED" if ok else problem.reason, errors))


def _failed(started: StepStarted, reason: str, error: str) -> StepEnded:
    return StepEnded(started.step.step_id, StepState.FAILED, started.mode, error=error, reason=reason)


def _where(run: RunSnapshot, started: StepStarted) -> dict[str, str]:
    return {"run_id": run.run_id, "step_id": started.step.step_id}
