"""Steps in progress: their snapshot, and the rules by which the graph moves on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from aeond.domain.budgets import Amounts
from aeond.domain.plans import Clarity, PlanStep, StepState
from aeond.domain.tools import Recovery
from aeond.domain.values import JsonValue


class StepMode(StrEnum):
    """How a step is executed."""

    TOOL = "tool"
    AGENT = "agent"
    REPAIR = "repair"  # the tool is missing or its arguments are wrong: the form is mended first
    FALLBACK = "fallback"  # no tool was found: the model answers the step's description


@dataclass(frozen=True, slots=True)
class StepSnapshot:
    """A step and how it went so far. `attempt` counts its starts; 0 means never started."""

    step: PlanStep
    state: StepState = StepState.PENDING
    attempt: int = 0
    mode: StepMode | None = None
    recovery: Recovery = Recovery.RERUN
    reservation: Amounts = field(default_factory=Amounts)
    output: JsonValue = None
    error: str = ""
    reason: str = ""
    clarity: Clarity | None = None
    duration_seconds: float = 0.0

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
    """Steps whose dependencies all succeeded become READY; those that lost one are SKIPPED, and so on down."""
    changed = dict(steps)
    moved = True
    while moved:  # a plan's order need not follow its dependencies
        moved = False
        for step in changed.values():
            if step.state is not StepState.PENDING:
                continue
            needed = [changed[d] for d in step.step.depends_on]
            lost = [s.step_id for s in needed if s.state.ended and s.state is not StepState.SUCCEEDED]
            if lost:
                error = f"it needs {', '.join(lost)}, which gave no result"
                changed[step.step_id] = replace(
                    step, state=StepState.SKIPPED, error=error, reason="DEPENDENCY_FAILED"
                )
                moved = True
            elif all(s.state is StepState.SUCCEEDED for s in needed):
                changed[step.step_id] = replace(step, state=StepState.READY)
    return changed


def skip_waiting(steps: Steps, reason: str) -> Steps:
    """Nothing new starts: steps that have not run are SKIPPED for this reason."""
    waiting = (StepState.PENDING, StepState.READY)
    return {
        step_id: replace(step, state=StepState.SKIPPED, reason=reason) if step.state in waiting else step
        for step_id, step in steps.items()
    }


def after_crash(steps: Steps) -> Steps:
    """Steps that were running go by their recovery rule; a repair that was cut does not count as tried."""
    changed = dict(steps)
    for step_id, step in steps.items():
        if step.state is StepState.RUNNING:
            mode = None if step.mode is StepMode.REPAIR else step.mode
            changed[step_id] = replace(
                step, state=AFTER_CRASH[step.recovery], mode=mode, reservation=Amounts()
            )
    return changed
