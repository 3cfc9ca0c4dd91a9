from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.plans.evaluations import RefinementAction, RefinementOperation
from aeond.domain.plans.plan import StepState
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.refinement.actions import apply_actions
from aeond.orchestration.refinement.change_schema import actions_from_model, changes_schema
from tests.support.strategy import SPECS, calls, ended, run_of, run_with, thinks, validator

LOOK: JsonValue = {"tool": "look", "arguments": {"path": "pond"}}
TELL: JsonValue = {"agent": "llm", "task": "Tell."}


def halfway() -> RunSnapshot:
    """A run with a result, a failure, a step skipped for it, and one still to come."""
    plan = (
        calls("s1", "look", path="garden"),
        calls("s2", "look", path="park"),
        thinks("s3", "Compare $s1 and $s2.", "s1", "s2"),
        calls("s4", "store", "s1", key="k", value="$s1"),
    )
    steps = run_of(*plan).steps
    return run_with(
        ended(plan[0], "roses"),
        ended(plan[1], state=StepState.FAILED, error="there is no park"),
        replace(steps["s3"], state=StepState.SKIPPED),
        steps["s4"],
    )


def actions(*changes: Any) -> tuple[RefinementAction, ...]:
    return actions_from_model({"changes": list(changes)}, halfway(), SPECS)


def test_an_addition_is_a_step_with_a_new_id() -> None:
    """An added step is numbered on from the plan, and waits for the steps it refers to."""
    first, second = actions(
        {"change": "add", "step": {"tool": "add", "arguments": {"a": 1, "b": 2}}},
        {"change": "add", "step": {"tool": "store", "arguments": {"key": "k", "value": "$s1"}}},
    )
    assert (first.operation, first.step_id, second.step_id) == (RefinementOperation.ADD, "s5", "s6")
    assert first.step is not None
    assert second.step is not None
    assert first.step.tool_call == ToolCall("add", {"a": 1, "b": 2})
    assert "s1" in second.step.depends_on


def test_a_task_waits_for_what_may_still_give_a_result() -> None:
    """A step of an agent that refers to nothing speaks about everything before it but what failed."""
    (added,) = actions({"change": "add", "step": TELL})
    assert added.step is not None
    assert added.step.depends_on == ("s1", "s3", "s4")


def test_other_arguments_modify_and_another_action_replaces() -> None:
    """A step that has not run keeps its id; the same tool again is the same step with other arguments."""
    modified, replaced = actions(
        {
            "change": "replace",
            "id": "s4",
            "step": {"tool": "store", "arguments": {"key": "other", "value": 5}},
        },
        {"change": "replace", "id": "s3", "step": TELL},
    )
    assert (modified.operation, modified.step_id) == (RefinementOperation.MODIFY, "s4")
    assert (replaced.operation, replaced.step_id) == (RefinementOperation.REPLACE, "s3")
    assert replaced.step is not None
    assert replaced.step.depends_on == ("s1",)


def test_a_task_that_is_put_otherwise_waits_as_before() -> None:
    """A task of the same step keeps what it waited for and does not name, but for what failed or goes away."""
    plan = (
        calls("s1", "look", path="garden"),
        calls("s2", "look", path="park"),
        calls("s3", "look", path="yard"),
        thinks("s4", "Tell of $s1.", "s1", "s2", "s3"),
    )
    replaced = {"change": "replace", "id": "s4", "step": {"agent": "llm", "task": "Sing of $s1."}}

    def waits(run: RunSnapshot, *changes: Any) -> tuple[str, ...]:
        actions = actions_from_model({"changes": list(changes)}, run, SPECS)
        return next(a.step.depends_on for a in actions if a.step_id == "s4" and a.step)

    fresh = run_of(*plan)
    assert waits(fresh, replaced) == ("s1", "s2", "s3")
    assert waits(fresh, replaced, {"change": "remove", "id": "s2"}) == ("s1", "s3")
    failed = replace(fresh, steps={**fresh.steps, "s3": ended(plan[2], state=StepState.FAILED)})
    assert waits(failed, replaced) == ("s1", "s2")
    call = {"change": "replace", "id": "s4", "step": {"tool": "look", "arguments": {"path": "shed"}}}
    assert waits(fresh, call) == ()


def test_a_failed_step_gets_another_in_its_place() -> None:
    """Executed steps stay; steps that waited for a replaced one wait for the new step, and refer to it."""
    added, moved = actions({"change": "replace", "id": "s2", "step": LOOK})
    assert (added.operation, added.step_id) == (RefinementOperation.ADD, "s5")
    assert (moved.operation, moved.step_id) == (RefinementOperation.REPLACE, "s3")
    assert moved.step is not None
    assert moved.step.description == "Compare $s1 and $s5."
    assert moved.step.depends_on == ("s1", "s5")
    refined = apply_actions(halfway(), (added, moved), validator().validate_plan, {"look", "store"})
    assert refined.skipped == ()


def test_an_added_call_of_the_tool_that_failed_takes_its_place() -> None:
    """Adding another call of the tool that failed means replacing the failed step."""
    assert actions({"change": "add", "step": LOOK}) == actions(
        {"change": "replace", "id": "s2", "step": LOOK}
    )


def test_a_replacement_does_not_depend_on_later_steps() -> None:
    """A task in the place of a failed step speaks about what came before, not about what waits for it."""
    added, moved = actions({"change": "replace", "id": "s2", "step": TELL})
    assert added.step is not None
    assert moved.step is not None
    assert added.step.depends_on == ("s1", "s4")
    assert (moved.step_id, moved.step.depends_on) == ("s3", ("s1", "s5"))


def test_a_removal_names_a_step() -> None:
    """A step that is not wanted is removed by its id."""
    assert actions({"change": "remove", "id": "s4"}) == (RefinementAction(RefinementOperation.REMOVE, "s4"),)


@pytest.mark.parametrize(
    "change", [{"change": "add"}, {"change": "add", "step": {"agent": "llm", "tool": "look"}}, "nonsense"]
)
def test_a_change_without_a_step_is_ignored(change: Any) -> None:
    """A change without a step is none, and the others count."""
    assert [a.step_id for a in actions(change, {"change": "remove", "id": "s4"})] == ["s4"]
    assert actions_from_model("nonsense", halfway(), SPECS) == ()


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({"change": "add", "step": LOOK}, True),
        ({"change": "add", "step": {"tool": "fly", "arguments": {}}}, False),
        ({"change": "replace", "id": "s2", "step": TELL}, True),
        ({"change": "replace", "id": "s3", "step": TELL}, True),
        ({"change": "replace", "id": "s1", "step": TELL}, False),
        ({"change": "remove", "id": "s3"}, True),
        ({"change": "remove", "id": "s2"}, False),
        ({"change": "remove", "id": "s9"}, False),
    ],
)
def test_the_schema_admits_what_may_change(change: JsonValue, valid: bool) -> None:
    """Steps that have not run may change, a failed one may be replaced, and a result stays; tools are the live ones."""
    problems = validator().validate_output({"changes": [change]}, changes_schema(halfway(), SPECS))
    assert (problems == ()) is valid


def test_where_all_has_run_steps_may_only_be_added() -> None:
    """A plan that ran to its end can be continued, not changed."""
    run = run_with(ended(calls("s1", "look", path="garden"), "roses"))
    schema = changes_schema(run, SPECS)
    assert validator().validate_output({"changes": [{"change": "add", "step": TELL}]}, schema) == ()
    assert validator().validate_output({"changes": [{"change": "remove", "id": "s1"}]}, schema) != ()
