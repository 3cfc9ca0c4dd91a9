"""A host whose steps start no runs of their own."""

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.events import ChildRunEnded, StepEnded
from aeond.domain.runs.run import RunSnapshot, RunState


class NoChildren:
    """Implements Children without starting any: the step that requested one fails."""

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[ChildRunEnded, StepEnded]:
        error = "this daemon starts no child runs"
        failed = StepEnded(step_id, StepState.FAILED, StepMode.TOOL, error=error, reason="CHILD_RUNS_OFF")
        return ChildRunEnded(step_id, child.child_run_id, RunState.FAILED), failed
