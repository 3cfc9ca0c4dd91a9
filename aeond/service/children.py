"""Runs that steps start: created below their parent, waited for, and stopped with it."""

from aeond.domain.budgets import Amounts
from aeond.domain.events import ChildRunEnded, StepEnded
from aeond.domain.plans import StepState
from aeond.domain.runs import RunSnapshot, RunState
from aeond.domain.steps import StepMode
from aeond.domain.subtasks import ChildRun


class NoChildren:
    """Children: none are started; the step that wanted one fails."""

    async def run(
        self, child: ChildRun, parent: RunSnapshot, step_id: str, reserved: Amounts
    ) -> tuple[ChildRunEnded, StepEnded]:
        error = "this daemon starts no child runs"
        failed = StepEnded(step_id, StepState.FAILED, StepMode.TOOL, error=error, reason="CHILD_RUNS_OFF")
        return ChildRunEnded(step_id, child.child_run_id, RunState.FAILED), failed
