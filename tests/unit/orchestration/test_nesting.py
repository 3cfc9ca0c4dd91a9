from aeond.domain.evaluations import RefinementOperation
from aeond.domain.plans import Plan, fragment_of, nesting_of
from aeond.orchestration.nesting import can_be_nested, nested_steps
from aeond.orchestration.refinement import apply_actions
from tests.support.strategy import calls, run_of, thinks, validator

FRAGMENT = Plan(
    "find out", (calls("s1", "look", path="garden"), calls("s2", "store", "s1", key="k", value="$s1"))
)


def test_a_fragment_takes_the_place_of_its_step() -> None:
    """The last step of the fragment keeps the id, the others are named after it; all wait for what it waited for."""
    first, last = nested_steps(thinks("s2", "Find out.", "s1"), FRAGMENT)
    assert (first.operation, first.step_id) == (RefinementOperation.ADD, "s2_1")
    assert (last.operation, last.step_id) == (RefinementOperation.REPLACE, "s2")
    assert first.step is not None
    assert last.step is not None
    assert first.step.depends_on == ("s1",)
    assert last.step.depends_on == ("s1", "s2_1")
    assert last.step.tool_call is not None
    assert last.step.tool_call.arguments["value"] == "$s2_1"


def test_a_nested_plan_is_a_sound_plan() -> None:
    """What waits for the step still does, and the whole passes the Validator."""
    run = run_of(
        calls("s1", "look", path="park"), thinks("s2", "Find out.", "s1"), thinks("s3", "Tell $s2.", "s2")
    )
    refined = apply_actions(
        run, tuple(nested_steps(run.steps["s2"].step, FRAGMENT)), validator().validate_plan, {"look", "store"}
    )
    assert refined.skipped == ()
    assert [step.step_id for step in refined.plan] == ["s1", "s2_1", "s2", "s3"]
    assert validator().validate_plan(refined.plan) == ()


def test_a_fragment_nests_again() -> None:
    """A step of a fragment is nested like any other; its name tells how deep, and which step it was made for."""
    (first, _) = nested_steps(thinks("s2_1", "Look closer."), FRAGMENT)
    assert first.step_id == "s2_1_1"
    assert (nesting_of(first.step_id), fragment_of(first.step_id)) == (2, "s2")


def test_only_a_task_that_stands_alone_is_nested() -> None:
    """A call is no task, and a task that names another step's result cannot be planned without it."""
    assert can_be_nested(thinks("s2", "Find out."))
    assert not can_be_nested(thinks("s2", "Find out from $s1."))
    assert not can_be_nested(calls("s2", "look", path="garden"))
