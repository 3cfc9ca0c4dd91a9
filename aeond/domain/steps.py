"""Steps in progress: their snapshot, and the rules by which the graph moves on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aeond.domain.budgets import Amounts, ModelUse
from aeond.domain.copying import replace
from aeond.domain.plans import Clarity, Plan, PlanStep, StepState
from aeond.domain.questions import Question
from aeond.domain.subtasks import ChildRun
from aeond.domain.tools import Recovery
from aeond.domain.values import JsonValue


class StepMode(StrEnum):
    """How a step is executed."""

    TOOL = "tool"
    AGENT = "agent"
    REPAIR = "repair"  # the tool is missing or its arguments are wrong: the form is mended first
    FALLBACK = "fallback"  # no tool was found: the model answers the step's description


@dataclass(frozen=True)  # without slots, for copying.replace
class StepSnapshot:
    """A step and how it went so far. `attempt` counts its starts; 0 means never started. `pass_index` is
    the pass in which it last began.

    A RUNNING step with a `question` waits for a person; one with a `child` for that run.
    """

    step: PlanStep
    state: StepState = StepState.PENDING
    attempt: int = 0
    pass_index: int = 0
    mode: StepMode | None = None
    recovery: Recovery = Recovery.RERUN
    reservation: Amounts = field(default_factory=Amounts)
    output: JsonValue = None
    error: str = ""
    reason: str = ""
    clarity: Clarity | None = None
    duration_seconds: float = 0.0
    model_use: ModelUse | None = None
    question: Question | None = None
    child: ChildRun | None = None

    def begin(
        self, step: PlanStep, attempt: int, mode: StepMode, recovery: Recovery, reservation: Amounts
    ) -> "StepSnapshot":
        """RUNNING, as its intent says."""
        return replace(
            self,
            step=step,
            state=StepState.RUNNING,
            attempt=attempt,
            mode=mode,
            recovery=recovery,
            reservation=reservation,
        )

    def end(
        self, state: StepState, output: JsonValue, error: str = "", reason: str = "", **more: Any
    ) -> "StepSnapshot":
        """Ended, or UNKNOWN: nothing is reserved for it and nobody asked any more."""
        return replace(
            self,
            state=state,
            output=output,
            error=error,
            reason=reason,
            reservation=Amounts(),
            question=None,
            **more,
        )

    @property
    def executed(self) -> bool:
        """Whether it began or ended by running: nothing may change it any more."""
        return self.attempt > 0 or self.state in (StepState.RUNNING, StepState.UNKNOWN)

    @property
    def step_id(self) -> str:
        return self.step.step_id


Steps = Mapping[str, StepSnapshot]  # by step id, in plan order

AFTER_CRASH = {
    Recovery.RERUN: StepState.READY,
    Recovery.RECONCILE: StepState.READY,
    Recovery.ASK: StepState.UNKNOWN,
}


def advance(steps: Steps) -> Steps:
    """Steps whose dependencies all succeeded become READY; those that lost one are SKIPPED, and so on down.

    A dependency that is not among the steps is lost: it will never give a result.
    """
    changed = dict(steps)
    moved = True
    while moved:  # a plan's order need not follow its dependencies
        moved = False
        for step in [s for s in changed.values() if s.state is StepState.PENDING]:
            unmet = [name for name in step.step.depends_on if not _succeeded(changed, name)]
            if not unmet:
                changed[step.step_id] = replace(step, state=StepState.READY)
            elif lost := [name for name in unmet if name not in changed or changed[name].state.ended]:
                error = f"it needs {', '.join(lost)}, which gave no result"
                changed[step.step_id] = replace(
                    step, state=StepState.SKIPPED, error=error, reason="DEPENDENCY_FAILED"
                )
                moved = True
    return changed


def _succeeded(steps: Steps, step_id: str) -> bool:
    return step_id in steps and steps[step_id].state is StepState.SUCCEEDED


def skip_waiting(steps: Steps, reason: str) -> Steps:
    """Nothing new starts and nobody is asked: steps that have not run, or wait for a person, are SKIPPED."""
    waiting = (StepState.PENDING, StepState.READY)
    return {
        step_id: replace(step, state=StepState.SKIPPED, reason=reason, question=None)
        if step.state in waiting or step.question is not None
        else step
        for step_id, step in steps.items()
    }


def refined(steps: Steps, plan: Plan) -> Steps:
    """The steps of a changed plan: what was executed stays as it was, whatever the plan says of it, and the rest
    stands as newly planned.

    ValueError when the plan lacks an executed step.
    """
    changed: dict[str, StepSnapshot] = {}
    for step in plan:
        before = steps.get(step.step_id)
        changed[step.step_id] = before if before is not None and before.executed else StepSnapshot(step)
    lost = [s.step_id for s in steps.values() if s.executed and s.step_id not in changed]
    if lost:
        raise ValueError(f"executed steps cannot be removed: {', '.join(lost)}")
    return advance(changed)


def after_crash(steps: Steps) -> Steps:
    """Steps that were running go by their recovery rule; a repair that was cut does not count as tried."""
    changed = dict(steps)
    for step_id, step in steps.items():
        if step.state is StepState.RUNNING and step.question is None:
            mode = None if step.mode is StepMode.REPAIR else step.mode
            changed[step_id] = replace(
                step, state=AFTER_CRASH[step.recovery], mode=mode, reservation=Amounts()
            )
    return changed
