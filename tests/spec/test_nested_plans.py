"""Whole runs whose steps are found too vague: plans within plans, by the run's own judging, within their bounds."""

from typing import Any

from aeond.domain.plans.plan import MAX_REFINEMENTS, nesting_of
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.orchestration.refinement.actions import MAX_FRAGMENT_ROUNDS, MAX_NESTING
from tests.spec.test_phase_flow import (
    ANSWER,
    HARD,
    JUDGE,
    PLAN,
    PROFILE,
    REFINE,
    STEP,
    Daemon,
    think,
    within_bounds,
)

AMPLE = Budget(ttl=200, llm_calls=200, tokens=1_000_000, tool_calls=200, passes=20)
FRAGMENT = {"steps": [think("Look closer."), think("Tell $s1.")]}


def found(*step_ids: str, kind: str = "vague") -> dict[str, Any]:
    """The model's evaluation of a plan: these steps have issues."""
    usual = {"kind": kind, "severity": "high", "problem": "how?", "repair": "say how"}
    return {"issues": [{"step": step_id, **usual} for step_id in step_ids]}


def daemon(*judgements: dict[str, Any], steps: int = 2, refine: Any = None) -> Daemon:
    """A hard task planned as so many steps; each vague one becomes two. The last judgement is of all later plans."""
    plan = {"steps": [*(think(f"Find out {n}.") for n in range(1, steps)), think("Tell all of it.")]}
    usual: dict[str, list[Any]] = {
        STEP: ["Mint."],
        ANSWER: ["Mint and sage."],
        REFINE: [{"changes": [refine] if refine else []}],
    }
    return Daemon({PROFILE: [HARD], PLAN: [plan, FRAGMENT], JUDGE: list(judgements), **usual})


def deepest(run: RunSnapshot) -> int:
    return max(nesting_of(step_id) for step_id in run.steps)


async def test_a_plan_nests_in_a_plan_that_nests() -> None:
    """A vague step gets a plan, and a vague step of that another: all of it is done within the default budget."""
    simulated = daemon(found("s1"), found("s1_1"), found())
    run = await simulated.work()
    assert run.state is RunState.SUCCEEDED
    assert list(run.steps) == ["s1_1_1", "s1_1", "s1", "s2"]
    assert run.steps["s1_1"].step.description == "Tell $s1_1_1."
    assert run.steps["s1"].step.depends_on == ("s1_1",)
    assert all(step.attempt == 1 for step in run.steps.values())
    judged = [x.evaluation.reasons for x in await simulated.kinds(e.PassEvaluated)]
    assert judged == [("SPECIFICITY",), ("SPECIFICITY",), ("PLAN_VALID",), ("ALL_STEPS_COMPLETE",)]
    assert within_bounds(run)


async def test_all_that_was_found_is_repaired_before_the_plan_runs() -> None:
    """Two vague steps and a contradiction beside them: one is nested in each round, then the last is changed."""
    change = {"change": "replace", "id": "s3", "step": think("Find out 3 in peace.")}
    wrong = found("s3", kind="contradiction")
    both = {"issues": [*found("s1", "s2")["issues"], *wrong["issues"]]}
    rest = {"issues": [*found("s2")["issues"], *wrong["issues"]]}
    simulated = daemon(both, rest, wrong, steps=4, refine=change)
    run = await simulated.work()
    assert run.state is RunState.SUCCEEDED
    assert list(run.steps) == ["s1_1", "s1", "s2_1", "s2", "s3", "s4"]
    assert run.steps["s3"].step.description == "Find out 3 in peace."
    assert run.pass_index == 1


async def test_a_run_nests_to_a_depth_of_five_and_no_deeper() -> None:
    """A model that finds the inmost step vague again and again gets five levels; then it may change the plan no more."""
    inmost = ["s1" + "_1" * depth for depth in range(MAX_NESTING + 1)]
    simulated = daemon(*(found(step_id) for step_id in inmost))
    run = await simulated.work()
    assert run.state is RunState.SUCCEEDED
    assert deepest(run) == MAX_NESTING == 5
    assert run.refinement_count == MAX_NESTING
    assert list(run.steps) == [*reversed(inmost), "s2"]
    assert all(step.attempt == 1 for step in run.steps.values())
    assert within_bounds(run)


async def test_a_fragment_is_changed_in_three_rounds() -> None:
    """Its making is one, a plan for one of its steps another; after the third its steps are no longer changed."""
    wide = {"steps": [*(think(f"Look closer at {n}.") for n in "abc"), think("Tell.")]}
    change = {"change": "replace", "id": "s1_3", "step": think("Look closer still.")}
    simulated = daemon(found("s1"), found("s1_1"), found("s1_2"), found("s1_3"), refine=change)
    simulated.said[PLAN].insert(1, wide)
    run = await simulated.work(AMPLE)
    assert run.state is RunState.SUCCEEDED
    assert run.refinements == {"s1": MAX_FRAGMENT_ROUNDS, "s1_1": 1, "s1_2": 1}
    assert run.refinement_count == MAX_FRAGMENT_ROUNDS == 3
    refused = [p.reason for x in await simulated.kinds(e.PlanRefined) for p in x.skipped]
    assert refused == ["FRAGMENT_LIMIT"]


async def test_a_plan_is_changed_in_ten_rounds() -> None:
    """A model that always finds one more vague step is asked once for each round and heard ten times."""
    vague = [f"s{n}" for n in range(1, MAX_REFINEMENTS + 3)]
    simulated = daemon(*(found(step_id) for step_id in vague), steps=len(vague) + 1)
    run = await simulated.work(AMPLE)
    assert run.state is RunState.SUCCEEDED
    assert run.refinement_count == MAX_REFINEMENTS == 10
    judged = [x for x in await simulated.kinds(e.PassEvaluated) if x.evaluation.pass_index == 0]
    assert [x.used.llm_calls for x in judged] == [1] * MAX_REFINEMENTS
    assert deepest(run) == 1


async def test_nesting_leaves_what_the_answer_needs() -> None:
    """With calls for little more than the answer a run is nested less, and answers all the same."""
    inmost = ["s1" + "_1" * depth for depth in range(MAX_NESTING + 1)]
    run = await daemon(*(found(step_id) for step_id in inmost)).work(Budget(llm_calls=12))
    assert run.answer is not None
    assert 0 < deepest(run) < MAX_NESTING
    assert within_bounds(run)
