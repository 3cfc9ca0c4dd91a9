"""The conditions for which an inactive run waits: a person, its child runs, or being resumed."""

from collections.abc import Callable

from aeond.domain.runs.events import CancelRequested
from aeond.domain.runs.run import RunSnapshot, RunState, SuspendReason


def needs_a_person(run: RunSnapshot) -> bool:
    """Whether the run needs a decision or an answer; a run that is being cancelled proceeds to its end."""
    if run.cancel_requested:
        return False
    if run.state is RunState.AWAITING_INPUT:
        return not (was_cut(run) or run.startable)
    return run.state is RunState.SUSPENDED and run.suspend_reason is not SuspendReason.DISK_FULL


def was_cut(run: RunSnapshot) -> bool:
    """Whether an earlier daemon left work of this run in flight, so that RunResumed must come first.

    Valid only for a run without a loop.
    """
    return run.parked or run.in_flight


def waits_for_runs(run: RunSnapshot, idle: Callable[[str], bool]) -> bool:
    """Whether the run only waits for child runs which themselves are idle."""
    steps = run.running
    return (
        not (run.state.ended or run.cancel_requested or run.exhausted)
        and run.operation is None
        and bool(steps)
        and all(step.child is not None and idle(step.child.child_run_id) for step in steps)
    )


def started_runs(run: RunSnapshot) -> list[str]:
    """The ids of the child runs, in plan order."""
    return [step.child.child_run_id for step in run.steps.values() if step.child is not None]


def called_off(run: RunSnapshot) -> CancelRequested:
    """The event delivered to a run whose parent, this run or the one above it, has ended."""
    return CancelRequested(run.request.owner, "its parent run has ended")


class IdleRuns:
    """Runs that stay inactive until a person decides or answers.

    Some wait for a person themselves; others rest because all runs they wait for do.
    """

    def __init__(self) -> None:
        self._waiting: set[str] = set()
        self._resting: set[str] = set()

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._waiting or run_id in self._resting

    def __len__(self) -> int:
        """The number of runs that wait for a person themselves."""
        return len(self._waiting)

    def wait(self, run_id: str) -> None:
        """Marks the run as waiting for a person."""
        self._waiting.add(run_id)

    def rest(self, run_id: str) -> None:
        """Marks the run as resting."""
        self._resting.add(run_id)

    def rouse(self, run_id: str) -> bool:
        """Removes the run; returns whether it was resting."""
        rested = run_id in self._resting
        self._waiting.discard(run_id)
        self._resting.discard(run_id)
        return rested
