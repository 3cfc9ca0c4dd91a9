from collections.abc import Mapping
from typing import Any, get_args

import pytest

from aeond.domain.plans.plan import StepState
from aeond.domain.runs import events as e
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.state_machine.fold import fold
from aeond.state_machine.transitions import (
    RUN_TRANSITIONS,
    STEP_TRANSITIONS,
    admits,
    state_after,
)
from tests.support.step_consequences import STEP_CONSEQUENCES

Table = Mapping[Any, Mapping[type, tuple[Any, ...]]]


def reachable(initial: Any, *tables: Table) -> set[Any]:
    """Every state that events can lead to from the initial one."""
    found, waiting = {initial}, [initial]
    while waiting:
        state = waiting.pop()
        for table in tables:
            for targets in table.get(state, {}).values():
                waiting += [target for target in targets if target not in found]
                found |= set(targets)
    return found


def test_the_table_of_runs_is_complete() -> None:
    """Each state of a run has its row, each can be reached, and only those that end a run have no way out."""
    assert set(RUN_TRANSITIONS) == set(RunState)
    assert reachable(RunState.PENDING, RUN_TRANSITIONS) == set(RunState)
    assert {state for state, row in RUN_TRANSITIONS.items() if not row} == {s for s in RunState if s.ended}


def test_the_table_of_steps_is_complete() -> None:
    """Each state of a step has its row, and each can be reached from PENDING."""
    assert set(STEP_TRANSITIONS) == set(StepState)
    assert reachable(StepState.PENDING, STEP_TRANSITIONS, STEP_CONSEQUENCES) == set(StepState)


def test_every_kind_of_event_has_a_place() -> None:
    """Each kind of event is admitted in some state, and the tables name nothing else."""
    assert {kind for row in RUN_TRANSITIONS.values() for kind in row} == set(get_args(e.EventKind))
    of_steps = {
        kind for table in (STEP_TRANSITIONS, STEP_CONSEQUENCES) for row in table.values() for kind in row
    }
    assert of_steps <= set(get_args(e.EventKind))


@pytest.mark.parametrize(
    ("state", "end", "admitted"),
    [
        (RunState.RUNNING, RunState.SUCCEEDED, True),
        (RunState.PENDING, RunState.SUCCEEDED, False),
        (RunState.SUSPENDED, RunState.EXPIRED, False),
        (RunState.AWAITING_INPUT, RunState.FAILED, True),
        (RunState.RUNNING, RunState.PENDING, False),
        (RunState.FAILED, RunState.FAILED, False),
    ],
)
def test_a_run_ends_only_as_its_state_allows(state: RunState, end: RunState, admitted: bool) -> None:
    """The end of a run is admitted when the table lists its state for the state that the run is in."""
    assert admits(RunSnapshot("run", seq=3, state=state), e.RunEnded(end)) is admitted


def test_open_questions_decide_between_running_and_awaiting() -> None:
    """After an event that may close a question, the run awaits input exactly while another one is open."""
    resumed = e.RunResumed()
    assert state_after(RunState.SUSPENDED, resumed, asking=True) is RunState.AWAITING_INPUT
    assert state_after(RunState.SUSPENDED, resumed, asking=False) is RunState.RUNNING
    assert state_after(RunState.RUNNING, resumed, asking=False) is RunState.RUNNING
    assert state_after(RunState.RUNNING, e.RunEnded(RunState.EXPIRED), asking=False) is RunState.EXPIRED


def test_an_event_of_an_unknown_kind_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind that the tables admit and the fold does not know raises instead of leaving the run unchanged."""

    class Invented:
        """A kind of event that no code knows."""

    known = RUN_TRANSITIONS[RunState.RUNNING]
    rows = {**RUN_TRANSITIONS, RunState.RUNNING: {**known, Invented: (RunState.RUNNING,)}}
    monkeypatch.setattr("aeond.state_machine.transitions.RUN_TRANSITIONS", rows)
    run = RunSnapshot("run", seq=3, state=RunState.RUNNING)
    event = e.Event("run", 4, 0.0, 0.0, Invented())  # type: ignore[arg-type]  # that is the point
    with pytest.raises(AssertionError, match="unreachable"):
        fold(run, event)
