from dataclasses import replace

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.orchestration.evaluation.progress import executed_steps, fresh_steps, stuck_in
from tests.support.judging import after_pass, ran
from tests.support.strategy import calls, thinks

LOOK = calls("s1", "look", path="garden")
AGAIN = calls("s2", "look", path="garden")
OTHER = calls("s2", "look", path="shed")


def test_the_same_failing_call_in_another_pass_is_stuck() -> None:
    """A call that failed before and fails again just so will not help a third time."""
    run = after_pass(2, ran(LOOK, 1, error="no garden"), ran(AGAIN, 2, error="no garden"))
    assert stuck_in(run) == "s2 failed with the same call as a step before it"


def test_a_failure_with_another_call_is_not_stuck_yet() -> None:
    """Trying something else after a failure is progress, as long as something new comes in two passes."""
    run = after_pass(
        2,
        ran(calls("s0", "add", a=1, b=2), 1),
        ran(LOOK, 1, error="no garden"),
        ran(OTHER, 2, error="no shed"),
    )
    assert stuck_in(run) == ""


def test_two_steps_of_one_pass_that_fail_alike_are_not_stuck() -> None:
    """A plan that makes the same call twice in one pass has not yet seen that it fails."""
    assert stuck_in(after_pass(1, ran(LOOK, 1, error="no"), ran(AGAIN, 1, error="no"))) == ""


def test_two_calls_in_turn_are_stuck() -> None:
    """Two calls made in turn, twice each, are stuck, whatever they return."""
    steps = [
        ran(replace(LOOK if i % 2 else OTHER, step_id=f"s{i}"), i, output={"turn": i}) for i in range(1, 5)
    ]
    assert stuck_in(after_pass(4, *steps)) == "the same two calls are made in turn"
    assert stuck_in(after_pass(3, *steps[:3])) == ""


def test_two_calls_in_turn_in_one_pass_are_not_stuck() -> None:
    """A plan that makes two calls twice in one pass has not yet seen their results; in a later pass it has."""
    steps = [
        ran(replace(step, step_id=f"s{i}"), (i + 1) // 2, error="no shed" if step is OTHER else "")
        for i, step in enumerate((LOOK, OTHER, LOOK, OTHER), start=1)
    ]
    assert stuck_in(after_pass(1, *(replace(step, pass_index=1) for step in steps))) == ""
    later = [replace(step, state=StepState.SUCCEEDED) for step in steps]
    assert stuck_in(after_pass(2, *later)) == "the same two calls are made in turn"


def test_the_same_call_over_and_over_is_no_alternation_but_barren() -> None:
    """A call that gives the same again and again gives nothing new after the first time."""
    steps = [ran(replace(LOOK, step_id=f"s{i}"), i) for i in range(1, 4)]
    assert fresh_steps(after_pass(2, *steps[:2]), 1) == (steps[0],)
    assert fresh_steps(after_pass(2, *steps[:2]), 2) == ()
    assert stuck_in(after_pass(2, *steps[:2])) == ""
    assert stuck_in(after_pass(3, *steps)) == "the last 2 passes gave nothing new"


def test_two_passes_without_anything_new_are_stuck() -> None:
    """One pass may fail as a whole; the next one must give something."""
    first, second = ran(LOOK, 1, error="no garden"), ran(OTHER, 2, error="no shed")
    assert stuck_in(after_pass(1, first)) == ""
    assert stuck_in(after_pass(2, first, second)) == "the last 2 passes gave nothing new"


def test_reasoning_counts_like_calls() -> None:
    """A step of an agent that is asked the same again and fails again is stuck too."""
    said = [ran(thinks(f"s{i}", "Count the herbs."), i, error="no herbs") for i in (1, 2)]
    assert stuck_in(after_pass(2, *said)).startswith("s2 failed with the same call")


def test_steps_are_reported_in_the_order_they_ran() -> None:
    """Steps that ran in an earlier pass come first, wherever they stand in the plan; steps that did not run are left out."""
    late, early = ran(LOOK, 2), ran(OTHER, 1)
    waiting = StepSnapshot(thinks("s3", "Wait."), StepState.PENDING)
    assert executed_steps(after_pass(2, late, early, waiting)) == (early, late)


def test_a_run_without_steps_is_not_stuck() -> None:
    """Nothing done is nothing repeated."""
    assert stuck_in(after_pass(1)) == ""
