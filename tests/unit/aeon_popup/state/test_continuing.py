"""Where a failed run can be continued."""

import pytest

from aeon_popup.state.continuing import RetryPoint
from aeon_popup.state.run_view import RunView
from aeond_client.events import (
    ApprovalDecided,
    ApprovalRequested,
    EventKind,
    PlanRefined,
    Refinement,
    RunEnded,
    StepEnded,
    StepStarted,
)
from aeond_client.records.judgements import ApprovalRequest
from aeond_client.records.runs import Plan, RunState, StepState
from tests.support.popup_states import EFFECTS, STEPS, folded, planned, received, sent, step_kinds

THIRD, FOURTH = STEPS[2], STEPS[3]
REMOVED = Refinement("remove_step", "s1")
FAILED = StepEnded("s3", StepState.FAILED, error="503 from provider")
# The number of the event before the third step starts: four of the run, the pass, and two for each of the first steps.
BEFORE_THIRD = 9


def failed_run(*kinds: EventKind) -> RunView:
    """A run that has failed after these events."""
    run = folded([*sent(), *received(*kinds, RunEnded(RunState.FAILED))]).shown
    assert run is not None
    return run


def test_a_failed_run_continues_before_its_failed_step() -> None:
    """The continued run keeps the events up to the start of the failed step, and with them each finished step."""
    run = failed_run(*planned(2), StepStarted(THIRD), FAILED)
    assert run.retry_point == RetryPoint(BEFORE_THIRD, 3, (1, 2))


def test_a_step_that_was_tried_twice_starts_from_its_first_try() -> None:
    """The first start of the failed step counts, so that the continued run has all of its attempts again."""
    again = StepStarted(THIRD, attempt=2)
    run = failed_run(*planned(2), StepStarted(THIRD), FAILED, again, FAILED)
    assert run.retry_point == RetryPoint(BEFORE_THIRD, 3, (1, 2))


def test_a_denied_step_is_asked_about_again() -> None:
    """A step that was denied did not run: the continued run starts with it, and asks for approval again."""
    asked = ApprovalRequested(ApprovalRequest("a1", ("s3",), (), "digest"), "s3")
    run = failed_run(*planned(2), StepStarted(THIRD), asked, ApprovalDecided("a1", False))
    assert run.retry_point == RetryPoint(BEFORE_THIRD, 3, (1, 2))


@pytest.mark.parametrize(
    "kinds",
    [
        [*planned(), StepStarted(STEPS[0]), StepEnded("s1", StepState.FAILED)],
        [*planned(2), StepStarted(THIRD), StepStarted(FOURTH), StepEnded("s4", StepState.FAILED)],
        [*planned(2), StepStarted(THIRD), FAILED, StepStarted(FOURTH), StepEnded("s4", StepState.SUCCEEDED)],
        [*planned(2), StepStarted(THIRD), FAILED, PlanRefined(Plan("the trip", STEPS[1:]), (REMOVED,))],
        [*planned(2), FAILED],
        [*planned(2), StepStarted(THIRD), StepEnded("s3", StepState.FAILED, effects=EFFECTS)],
        planned(2),
    ],
    ids=[
        "nothing has finished",
        "another step was running",
        "a step has finished since",
        "a finished step left the plan",
        "the failed step was not started",
        "something was changed",
        "no step has failed",
    ],
)
def test_a_run_that_would_lose_or_repeat_something_is_not_continued(kinds: list[EventKind]) -> None:
    """Retry sends the request again where a continued run would keep nothing, would repeat a finished step, or could not undo a
    change.
    """
    assert failed_run(*kinds).retry_point is None


@pytest.mark.parametrize("end", [RunState.CANCELLED, RunState.EXPIRED, RunState.SUCCEEDED])
def test_only_a_failed_run_is_continued(end: RunState) -> None:
    """A run that ended otherwise is not continued, although one of its steps has failed."""
    kinds = [*planned(), *step_kinds(2), StepStarted(THIRD), FAILED]
    run = folded([*sent(), *received(*kinds, RunEnded(end))]).shown
    assert run is not None
    assert run.retry_point is None
