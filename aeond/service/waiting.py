"""What a run that is not worked on waits for: a person, runs that it started, or to be taken up."""

from collections.abc import Callable

from aeond.domain.events import CancelRequested
from aeond.domain.plans import StepState
from aeond.domain.runs import RunSnapshot, RunState, SuspendReason
from aeond.domain.steps import StepSnapshot


def needs_a_person(run: RunSnapshot) -> bool:
    """Whether the run goes on only when somebody decides or answers; one that is to end goes on to its end."""
    if run.cancel_requested:
        return False
    if run.state is RunState.AWAITING_INPUT:
        return not (was_cut(run) or run.steps_in(StepState.READY))
    return run.state is RunState.SUSPENDED and run.suspend_reason is not SuspendReason.DISK_FULL


def was_cut(run: RunSnapshot) -> bool:
    """Whether a daemon that is gone left work of this run in flight: RunResumed comes first then.

    Only to be asked of a run that nobody works on."""
    return run.parked or run.operation is not None or bool(_in_flight(run))


def waits_for_runs(run: RunSnapshot, idle: Callable[[str], bool]) -> bool:
    """Whether all that the run does is to wait for runs which it started and which themselves are idle."""
    steps = _in_flight(run)
    return (
        not (run.state.ended or run.cancel_requested or run.exhausted)
        and run.operation is None
        and bool(steps)
        and all(step.child is not None and idle(step.child.child_run_id) for step in steps)
    )


def started_runs(run: RunSnapshot) -> list[str]:
    """The ids of the runs that its steps started, in plan order."""
    return [step.child.child_run_id for step in run.steps.values() if step.child is not None]


def called_off(run: RunSnapshot) -> CancelRequested:
    """What a run is told whose parent, this run or the one above it, has ended."""
    return CancelRequested(run.request.owner, "the run that started it has ended")


def _in_flight(run: RunSnapshot) -> list[StepSnapshot]:
    return [step for step in run.steps_in(StepState.RUNNING) if step.question is None]


class IdleRuns:
    """The runs that nobody works on until somebody decides or answers.

    Some wait for a person themselves; others rest because all runs that they wait for do.
    """

    def __init__(self) -> None:
        self._waiting: set[str] = set()
        self._resting: set[str] = set()

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._waiting or run_id in self._resting

    def __len__(self) -> int:
        """How many wait for a person themselves."""
        return len(self._waiting)

    def wait(self, run_id: str) -> None:
        """The run waits for a person from now on."""
        self._waiting.add(run_id)

    def rest(self, run_id: str) -> None:
        """The run rests from now on."""
        self._resting.add(run_id)

    def rouse(self, run_id: str) -> bool:
        """The run waits no longer; whether it was resting."""
        rested = run_id in self._resting
        self._waiting.discard(run_id)
        self._resting.discard(run_id)
        return rested
