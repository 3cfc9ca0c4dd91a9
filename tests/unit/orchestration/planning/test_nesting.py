from dataclasses import replace

from aeond.domain.plans.evaluations import RefinementOperation
from aeond.domain.plans.plan import Plan, fragment_of, nesting_of
from aeond.domain.runs.events import Event, PlanRefined
from aeond.domain.runs.run import Phase, RunSnapshot
from aeond.orchestration.interfaces import Refinement
from aeond.orchestration.planning.nesting import can_be_nested, nested_in, nested_steps
from aeond.orchestration.refinement.actions import MAX_FRAGMENT_ROUNDS, MAX_NESTING, apply_actions
from aeond.state_machine.fold import fold
from tests.support.strategy import calls, run_of, thinks, validator

FRAGMENT = Plan(
    "find out", (calls("s1", "look", path="garden"), calls("s2", "store", "s1", key="k", value="$s1"))
)


def nested(run: RunSnapshot, step_id: str) -> Refinement:
    """The run's plan with the fragment in the step's place."""
    actions = tuple(nested_steps(run.steps[step_id].step, FRAGMENT))
    return apply_actions(run, actions, validator().validate_plan, {"look", "store"})


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
    """Steps that wait for the step still do, and the whole plan passes the Validator."""
    run = run_of(
        calls("s1", "look", path="park"), thinks("s2", "Find out.", "s1"), thinks("s3", "Tell $s2.", "s2")
    )
    refined = nested(run, "s2")
    assert refined.skipped == ()
    assert [step.step_id for step in refined.plan] == ["s1", "s2_1", "s2", "s3"]
    assert validator().validate_plan(refined.plan) == ()


def test_a_fragment_nests_again() -> None:
    """A step of a fragment is nested like any other; its name tells how deep, and which step it was made for."""
    (first, _) = nested_steps(thinks("s2_1", "Look closer."), FRAGMENT)
    assert first.step_id == "s2_1_1"
    assert (nesting_of(first.step_id), fragment_of(first.step_id)) == (2, "s2_1")
    assert [fragment_of(step_id) for step_id in ("s2_1", "s2")] == ["s2", "s2"]


def test_the_steps_with_a_plan_of_their_own_are_known_by_their_fragments() -> None:
    """Each is named once, however many steps its plan has, and one within another is one more."""
    ids = ("s1", "s2_1_1", "s2_1", "s2_2", "s2")
    assert nested_in(Plan("find out", tuple(thinks(step_id, "Look.") for step_id in ids))) == {"s2", "s2_1"}
    assert nested_in(FRAGMENT) == set()


def test_only_a_task_that_stands_alone_is_nested() -> None:
    """A call is no task, and a task that names another step's result cannot be planned without it."""
    ids = ("s1", "s2", "s2_1")
    assert can_be_nested(thinks("s2", "Find out."), ids)
    assert not can_be_nested(thinks("s2", "Find out from $s1."), ids)
    assert not can_be_nested(thinks("s2_2", "Find out from $s2_1."), ids)
    assert not can_be_nested(calls("s2", "look", path="garden"), ids)


def test_plans_nest_to_a_depth_of_five() -> None:
    """Step by step, each round within the three of its fragment; the plans stand in each other, and a sixth is refused."""
    run = run_of(calls("s1", "look", path="park"), thinks("s2", "Find out."), phase=Phase.PLAN)
    inmost = "s2"
    for level in range(1, MAX_NESTING + 2):
        refined = nested(run, inmost)
        if level > MAX_NESTING:
            assert {problem.reason for problem in refined.skipped} >= {"NESTING_TOO_DEEP"}
            assert nesting_of(inmost) == MAX_NESTING
            break
        assert refined.skipped == ()
        inmost = refined.applied[0].step_id
        kind = PlanRefined(refined.plan, refined.applied, refined.skipped)
        run = replace(fold(run, Event(run.run_id, run.seq + 1, 0.0, 0.0, kind)), phase=Phase.PLAN)
    assert [nesting_of(step_id) for step_id in run.steps] == [0, 5, 4, 3, 2, 1, 0]
    assert max(run.refinements.values()) <= MAX_FRAGMENT_ROUNDS


def test_a_fragment_has_rounds_of_its_own() -> None:
    """One that was changed three times lets none of its steps be nested, and keeps no other from it."""
    run = run_of(thinks("s1", "Find out."), thinks("s1_1", "Look."), refinements={"s1": MAX_FRAGMENT_ROUNDS})
    assert "FRAGMENT_LIMIT" in [problem.reason for problem in nested(run, "s1_1").skipped]
    other = run_of(
        thinks("s1", "Find out."), thinks("s1_1", "Look."), refinements={"s1_1": MAX_FRAGMENT_ROUNDS - 1}
    )
    assert nested(other, "s1_1").skipped == ()
