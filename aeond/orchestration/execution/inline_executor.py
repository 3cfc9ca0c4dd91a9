"""What a run need not wait for, done where it is intended: pure computing, and the answer without a model."""

from dataclasses import replace

from aeond.domain.plans.steps import StepMode
from aeond.domain.policy import DecidedCall
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.events import (
    AnswerComposed,
    AnswerStarted,
    EventKind,
    Intent,
    PolicyDecided,
    StepEnded,
    StepStarted,
)
from aeond.domain.runs.run import RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.answer.answerer import answer_without_model
from aeond.ports import Clock, ToolInvoker


@frozen
class InlineExecutor:
    """The ImmediateWork. A step goes by the invoker's guards here as it does elsewhere."""

    invoker: ToolInvoker
    clock: Clock

    def perform(self, intent: Intent, run: RunSnapshot) -> tuple[EventKind, ...]:
        match intent:
            case StepStarted(mode=StepMode.TOOL):
                return self._compute(intent, run)
            case AnswerStarted(reservation=reservation) if reservation.llm_calls == 0:
                return (AnswerComposed(answer_without_model(run)),)
            case _:
                return ()

    def _compute(self, started: StepStarted, run: RunSnapshot) -> tuple[EventKind, ...]:
        step, begun = started.step, self.clock.monotonic()
        if step.tool_call is None or step.errors or run.steps[step.step_id].child is not None:
            return ()
        call = step.tool_call
        decided: list[DecidedCall] = []
        result = self.invoker.compute(call, run.tool_context(step.step_id, call.call_id), decided.append)
        if result is None or result.request is not None:
            return ()
        ended = StepEnded.of_call(step.step_id, started.mode, started.recovery, result)
        seconds = self.clock.monotonic() - begun
        ended = replace(ended, used=Amounts(ttl=1, tool_calls=1), duration_seconds=seconds)
        if result.success:  # what only computes was allowed: its decision has no event of its own
            if decided:
                allowed = decided[-1].decision
                ended = replace(ended, rule=allowed.rule, policy_version=allowed.version)
            return (ended,)
        return (*(PolicyDecided.of(step.step_id, one) for one in decided), ended)
