import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.plans.evaluations import RefinementAction, RefinementOperation
from aeond.domain.plans.plan import MAX_PLAN_STEPS, MAX_REFINEMENTS, Plan, PlanStep, StepState
from aeond.domain.runs.events import Event, PlanRefined
from aeond.domain.runs.run import Phase, RunSnapshot
from aeond.orchestration.interfaces import Refinement
from aeond.orchestration.refinement.actions import (
    MAX_ACTIONS,
    MAX_FRAGMENT_ROUNDS,
    MAX_NESTING,
    apply_actions,
)
from aeond.state_machine.fold import fold
from tests.support.strategy import SPECS, calls, ended, run_of, run_with, thinks, validator

ADD, MODIFY = RefinementOperation.ADD, RefinementOperation.MODIFY
REMOVE, REPLACE = RefinementOperation.REMOVE, RefinementOperation.REPLACE
TOOLS = {spec.name for spec in SPECS}
VALIDATE = validator().validate_plan

PLAN = (
    calls("s1", "look", path="garden"),
    calls("s2", "look", path="park"),
    thinks("s3", "Compare.", "s1", "s2"),
)


def change(operation: RefinementOperation, step: PlanStep | str) -> RefinementAction:
    if isinstance(step, str):
        return RefinementAction(operation, step)
    return RefinementAction(operation, step.step_id, step)


def refine(run: RunSnapshot, *actions: RefinementAction) -> Refinement:
    return apply_actions(run, actions, VALIDATE, TOOLS)


def halfway(**more: Any) -> RunSnapshot:
    """Its first step gave a result, its second failed; the third was skipped for that."""
    steps = run_of(*PLAN).steps
    skipped = replace(steps["s3"], state=StepState.SKIPPED)
    failed = ended(PLAN[1], state=StepState.FAILED, error="there is no park")
    return run_with(ended(PLAN[0], "roses"), failed, skipped, **more)


def reasons(refinement: Refinement) -> list[str]:
    return [problem.reason for problem in refinement.skipped]


def test_steps_are_added_modified_replaced_and_removed() -> None:
    """Each kind of change does what it says, and the steps keep their ids and places."""
    run = run_of(*PLAN)
    refined = refine(
        run,
        change(ADD, calls("s4", "look", path="pond")),
        change(MODIFY, calls("s1", "look", path="greenhouse")),
        change(REPLACE, thinks("s3", "Sum up.", "s1")),
        change(REMOVE, "s2"),
    )
    assert refined.skipped == ()
    assert [step.step_id for step in refined.plan] == ["s1", "s3", "s4"]
    first, third, fourth = refined.plan
    assert (first.tool_call, first.description) == (
        calls("s1", "look", path="greenhouse").tool_call,
        PLAN[0].description,
    )
    assert third == thinks("s3", "Sum up.", "s1")
    assert fourth.tool_call == calls("s4", "look", path="pond").tool_call


def test_a_change_keeps_fields_that_it_leaves_empty() -> None:
    """Only what the change says is changed; errors of the step as it was are gone."""
    planned = replace(PLAN[2], errors=("it was wrong",), handoff_to_next="be brief", provides=("a text",))
    run = run_of(*PLAN[:2], planned)
    (refined,) = [s for s in refine(run, change(MODIFY, PlanStep("s3", ""))).plan if s.step_id == "s3"]
    assert refined == replace(planned, errors=())


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (change(MODIFY, calls("s1", "look", path="elsewhere")), "STEP_EXECUTED"),
        (change(REMOVE, "s2"), "STEP_EXECUTED"),
        (change(REPLACE, calls("s2", "look", path="elsewhere")), "STEP_EXECUTED"),
        (change(ADD, thinks("s3", "Again.")), "STEP_ID_DUPLICATE"),
        (change(REMOVE, "s9"), "STEP_UNKNOWN"),
        (change(MODIFY, thinks("s9", "Again.")), "STEP_UNKNOWN"),
        (RefinementAction(ADD, "s4"), "STEP_MISSING"),
        (RefinementAction(ADD, "s4", thinks("s5", "Again.")), "STEP_MISSING"),
        (change(ADD, calls("s4", "fly")), "TOOL_UNKNOWN"),
        (change(ADD, calls("s4", "look")), "ARGUMENT_MISSING"),
        (change(ADD, thinks("s4", "Tell $s9.")), "REFERENCE_UNKNOWN"),
        (change(ADD, thinks("s4", "Tell $s1.")), "REFERENCE_NOT_EARLIER"),
        (change(ADD, thinks("s4", "Tell.", "s9")), "DEPENDENCY_UNKNOWN"),
        (change(REPLACE, thinks("s3", "Compare.", "s3")), "PLAN_CYCLE"),
        (change(ADD, thinks("no id", "Tell.")), "STEP_ID_INVALID"),
        (change(ADD, thinks("s3" + "_1" * (MAX_NESTING + 1), "Tell.")), "NESTING_TOO_DEEP"),
    ],
)
def test_an_invalid_action_is_skipped_and_the_others_apply(action: RefinementAction, reason: str) -> None:
    """An action that cannot be applied is skipped with its reason; a good action next to it is still applied."""
    run = halfway()
    good = change(ADD, calls("s7", "look", path="pond"))
    refined = refine(run, action, good)
    assert reasons(refined) == [reason]
    assert refined.applied == (good,)
    assert refine(run, action).plan == run.plan


@pytest.mark.parametrize("made", ["garden", "park"])
def test_a_call_that_was_made_is_not_made_again(made: str) -> None:
    """Neither a result that there is nor a failure that there was is fetched again; other arguments are."""
    again = refine(halfway(), change(ADD, calls("s4", "look", path=made)))
    assert (reasons(again), again.plan) == (["CALL_REPEATED"], halfway().plan)
    assert refine(halfway(), change(ADD, calls("s4", "look", path="pond"))).applied


def test_a_call_that_was_made_is_made_again_after_something_new() -> None:
    """A call may be repeated after a step that is still to run, but not after one that ran before."""
    write = calls("s4", "look", path="pond")
    again = refine(halfway(), change(ADD, write), change(ADD, calls("s5", "look", "s4", path="park")))
    assert [action.step_id for action in again.applied] == ["s4", "s5"]
    assert reasons(refine(halfway(), change(ADD, calls("s5", "look", "s1", path="park")))) == [
        "CALL_REPEATED"
    ]


def test_actions_that_need_each_other_come_in_any_order() -> None:
    """A step may wait for one that is added after it in the same breath."""
    refined = refine(
        run_of(*PLAN),
        change(ADD, thinks("s5", "Tell $s4.", "s4")),
        change(ADD, calls("s4", "look", path="pond")),
    )
    assert refined.skipped == ()
    assert VALIDATE(refined.plan) == ()


def test_a_step_that_others_refer_to_is_not_removed() -> None:
    """A removal that leaves a reference behind is refused; one that others only wait for is not."""
    run = run_of(PLAN[0], thinks("s2", "Tell $s1.", "s1"), thinks("s3", "Tell.", "s1"))
    assert reasons(refine(run, change(REMOVE, "s1"))) == ["REFERENCE_UNKNOWN"]
    waiting = run_of(PLAN[0], thinks("s3", "Tell.", "s1"))
    assert refine(waiting, change(REMOVE, "s1")).plan.step("s3").depends_on == ()


def test_a_step_is_changed_once_in_a_round() -> None:
    """The first change of a step counts, and the last step of a plan is not removed."""
    refined = refine(
        run_of(PLAN[0]),
        change(MODIFY, calls("s1", "look", path="a")),
        change(MODIFY, calls("s1", "look", path="b")),
        change(REMOVE, "s1"),
    )
    assert reasons(refined) == ["STEP_CHANGED_TWICE", "STEP_CHANGED_TWICE"]
    assert reasons(refine(run_of(PLAN[0]), change(REMOVE, "s1"))) == ["PLAN_EMPTY"]


def test_a_fragment_is_refined_three_times_at_most() -> None:
    """The limit is of a step with all that was nested for it; other steps may still change."""
    run = run_of(*PLAN, refinements={"s3": MAX_FRAGMENT_ROUNDS})
    refined = refine(
        run,
        change(REPLACE, thinks("s3", "Sum up.")),
        change(ADD, thinks("s3_1", "Think.")),
        change(REMOVE, "s2"),
    )
    assert reasons(refined) == ["FRAGMENT_LIMIT", "FRAGMENT_LIMIT"]
    assert [step.step_id for step in refined.plan] == ["s1", "s3"]


def test_a_plan_is_refined_ten_times_at_most() -> None:
    """After the last round the best plan so far is executed unchanged."""
    run = run_of(*PLAN, refinement_count=MAX_REFINEMENTS)
    refined = refine(run, change(REMOVE, "s2"))
    assert (refined.plan, refined.applied, reasons(refined)) == (run.plan, (), ["REFINEMENT_LIMIT"])


def test_a_round_and_a_plan_have_a_size() -> None:
    """Actions beyond the bound of a round are left out and reported, and so are steps beyond that of a plan."""
    many = [change(ADD, thinks(f"t{n}", "Think.")) for n in range(MAX_ACTIONS + 5)]
    refined = refine(run_of(*PLAN), *many)
    assert len(refined.applied) == MAX_ACTIONS
    assert reasons(refined) == ["REFINEMENT_LIMIT"]
    full = run_of(*(thinks(f"s{n}", "Think.") for n in range(MAX_PLAN_STEPS)))
    assert reasons(refine(full, many[0])) == ["PLAN_TOO_LONG"]


def test_an_existing_problem_keeps_no_change_away() -> None:
    """A plan that is not sound may be changed: only new problems count."""
    run = run_of(calls("s1", "look"), thinks("s2", "Tell."))
    assert refine(run, change(REMOVE, "s2")).skipped == ()
    assert refine(run, change(MODIFY, calls("s1", "look", path="garden"))).skipped == ()


def test_without_a_plan_nothing_is_applied() -> None:
    """There is nothing to refine before there is a plan."""
    run = replace(run_of(), plan=None)
    assert reasons(refine(run, change(ADD, thinks("s1", "Think.")))) == ["PLAN_MISSING"]


# ---------------------------------------------------------------- any refinement of any run

REFINEMENTS = 10_000
ROUNDS_OF_A_RUN = 5
STATES = (StepState.SUCCEEDED, StepState.FAILED, StepState.INVALID, StepState.RUNNING, StepState.UNKNOWN)


def any_step(dice: random.Random, step_id: str, ids: list[str]) -> PlanStep:
    """A step that may be right or wrong in any way."""
    waits = tuple(dice.sample(ids, dice.choice((0, 0, 1))))
    if dice.random() < 0.5:
        return thinks(step_id, dice.choice(("Think.", "Think.", f"Tell ${dice.choice(ids)}.", "")), *waits)
    arguments: Mapping[str, Any] = dice.choice(
        ({"path": "garden"}, {"path": "park"}, {"path": f"${dice.choice(ids)}"}, {})
    )
    return calls(step_id, dice.choice(("look", "look", "look", "fly")), *waits, **arguments)


def any_action(dice: random.Random, plan: Plan) -> RefinementAction:
    """An action on any step, there or not."""
    ids = [step.step_id for step in plan]
    new = dice.choice((f"s{len(ids) + 1}", f"{dice.choice(ids)}_{dice.randint(1, 3)}", "no id", "s99"))
    step_id = dice.choice((new, dice.choice(ids)))
    step = any_step(dice, dice.choice((step_id, step_id, step_id, new)), [*ids, new])
    return RefinementAction(dice.choice(tuple(RefinementOperation)), step_id, dice.choice((step, step, None)))


def any_run(dice: random.Random) -> RunSnapshot:
    """A run somewhere in a plan: its first steps ran, and ended in any way, or are running."""
    count = dice.randint(1, 6)
    steps = []
    for n in range(1, count + 1):
        earlier = [f"s{m}" for m in range(1, n)]
        waits = tuple(dice.sample(earlier, dice.randint(0, min(2, len(earlier)))))
        planned = (
            calls(f"s{n}", "look", *waits, path="garden") if n % 2 else thinks(f"s{n}", "Think.", *waits)
        )
        steps.append(planned)
    ran = dice.randint(0, count)
    snapshots = list(run_of(*steps).steps.values())
    executed = [ended(step, f"output of {step.step_id}", dice.choice(STATES)) for step in steps[:ran]]
    return run_with(*executed, *snapshots[ran:], phase=Phase.ADAPT)


def test_executed_steps_stay_bit_identical() -> None:
    """After ten thousand random refinements every executed step is what it was, in the plan and in the run."""
    dice = random.Random(20_260_101)
    applied = skipped = 0
    for _ in range(REFINEMENTS // ROUNDS_OF_A_RUN):
        run = any_run(dice)
        assert run.plan is not None
        executed = {i: (repr(s), repr(run.plan.step(i))) for i, s in run.steps.items() if s.executed}
        for _ in range(ROUNDS_OF_A_RUN):
            assert run.plan is not None
            refined = refine(run, *(any_action(dice, run.plan) for _ in range(dice.randint(1, 3))))
            applied += len(refined.applied)
            skipped += len(refined.skipped)
            kind = PlanRefined(refined.plan, refined.applied, refined.skipped)
            run = fold(replace(run, phase=Phase.ADAPT), Event(run.run_id, run.seq + 1, 0.0, 0.0, kind))
            assert run.plan is not None
            left = {i: (repr(s), repr(run.plan.step(i))) for i, s in run.steps.items() if i in executed}
            assert left == executed
            assert set(run.steps) == {step.step_id for step in run.plan}
            assert VALIDATE(run.plan) == ()
            assert max(run.refinements.values(), default=0) <= MAX_FRAGMENT_ROUNDS
    assert min(applied, skipped) > REFINEMENTS // 10  # both happen often enough to mean something
