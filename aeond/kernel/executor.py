"""Executes one step in one of its modes. A failure in a step becomes its event, never an exception."""

import logging
from dataclasses import replace
from typing import assert_never

from aeond.domain.outcome import Problem
from aeond.domain.plans.approvals import ApprovalRequest
from aeond.domain.plans.plan import LLM_AGENT, Clarity, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import Subtask, SubtaskRequest
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.runs.events import ApprovalRequested, InputRequested, StepEnded, StepRepaired, StepStarted
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import Recovery
from aeond.frozen import frozen
from aeond.ports import Children, Clock, Reasoner, Repairer, StepOutput, SubtaskChooser, TextSink, ToolInvoker

log = logging.getLogger(__name__)


StepOutcome = StepEnded | StepRepaired | InputRequested | ApprovalRequested | Subtask


@frozen
class StepExecutor:
    """Runs the step's tool if it is registered; else its agent; else repairs the step, with the model as
    fallback.
    """

    invoker: ToolInvoker
    reasoner: Reasoner
    repairer: Repairer
    clock: Clock
    children: Children
    subtasks: SubtaskChooser

    async def execute(
        self, run: RunSnapshot, started: StepStarted, grant: Grant, on_text: TextSink
    ) -> StepOutcome:
        """Performs the intent. This is the step boundary: any failure inside is the outcome of this step
        alone.
        """
        begun = self.clock.monotonic()
        try:
            match started.mode:
                case StepMode.TOOL:
                    ended: StepOutcome = await self._call_tool(run, started, grant)
                case StepMode.REPAIR:
                    ended = await self._repair(run, started, grant)
                case StepMode.AGENT | StepMode.FALLBACK:
                    ended = await self._reason(run, started, grant, on_text)
                case unknown:
                    assert_never(unknown)
            if not isinstance(ended, StepEnded):
                return replace(ended, used=grant.used)
        except Exception as error:  # step boundary: a bug in one step ends that step, not the run
            log.exception("unexpected error", extra={"run_id": run.run_id, "step_id": started.step.step_id})
            ended = _failed(started, "INTERNAL", f"unexpected {type(error).__name__}; see the daemon's log")
        seconds = self.clock.monotonic() - begun
        return replace(ended, used=grant.used, duration_seconds=seconds, model_use=grant.model_use)

    async def _call_tool(self, run: RunSnapshot, started: StepStarted, grant: Grant) -> StepOutcome:
        step = started.step
        grant.take(Amounts(ttl=1))
        if child := run.steps[step.step_id].child:  # its share was counted when the run was interrupted
            return (await self.children.run(child, run, step.step_id, Amounts()))[1]
        if step.errors or step.tool_call is None:
            return _failed(started, "UNRESOLVED_REFERENCE", "; ".join(step.errors))
        if not grant.take(Amounts(tool_calls=1)):
            return _failed(started, "BUDGET_SPENT", "the budget has no tool call left for this step")
        context = replace(run.tool_context(step.step_id, step.tool_call.call_id), grant=grant)
        repeated = started.attempt > 1 and started.recovery is not Recovery.RERUN
        result = await self.invoker.reconcile(step.tool_call, context) if repeated else None
        result = result or await self.invoker.invoke(step.tool_call, context, grant.decisions.append)
        if isinstance(result.request, InputRequest):
            question_id = f"{step.step_id}.{started.attempt}"
            return InputRequested(Question(question_id, step.step_id, result.request, self.clock.time()))
        if isinstance(result.request, ApprovalRequest):
            grant.give_back(Amounts(tool_calls=1))
            return ApprovalRequested(step.step_id, result.request)
        if isinstance(result.request, SubtaskRequest):
            ok, request, problem = await self.subtasks.choose(result.request, grant)
            return Subtask(step.step_id, request) if ok else _failed(started, problem.reason, problem.message)
        return StepEnded.of_call(step.step_id, started.mode, started.recovery, result)

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
        ended = StepEnded(step.step_id, StepState.SUCCEEDED, started.mode, value.output, clarity=clarity)
        if clarity is Clarity.BLOCKED:
            error = "the model reports that it cannot do this step with the data it has"
            ended = replace(ended, state=StepState.INVALID, error=error, reason="BLOCKED")
        return replace(ended, handoff=value.handoff)

    async def _repair(self, run: RunSnapshot, started: StepStarted, grant: Grant) -> StepRepaired | StepEnded:
        step, errors = started.step, "; ".join(started.step.errors)
        ok, repaired, problem = await self.repairer.repair(step, run, grant)
        if not ok and problem.reason == "ARGUMENTS_INVALID":
            grant.take(Amounts(ttl=1))
            return replace(_failed(started, "ARGUMENTS_INVALID", errors), mode=StepMode.TOOL)
        if not ok:
            repaired = replace(step, tool_call=None, agent=None)  # the errors stay: the fallback answers
        return StepRepaired(repaired, Problem("STEP_MENDED" if ok else problem.reason, errors))


def _failed(started: StepStarted, reason: str, error: str) -> StepEnded:
    return StepEnded(started.step.step_id, StepState.FAILED, started.mode, error=error, reason=reason)
