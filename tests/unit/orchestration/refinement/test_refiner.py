import json
from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.outcome import Outcome
from aeond.domain.plans.evaluations import Evaluation, Issue, RefinementAction, RefinementOperation, Severity
from aeond.domain.plans.plan import MAX_REFINEMENTS, PlanStep, StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.interfaces import Refinement
from aeond.orchestration.planning.planner import ModelPlanner
from aeond.orchestration.refinement.actions import MAX_NESTING
from aeond.orchestration.refinement.refiner import TOO_COARSE, ModelRefiner
from tests.support.judging import model_of, preamble
from tests.support.strategy import calls, ended, grant, run_of, run_with, says, thinks

POND = {"tool": "look", "arguments": {"path": "pond"}}
ELSEWHERE = {"changes": [{"change": "replace", "id": "s2", "step": POND}]}


def failed(**more: Any) -> RunSnapshot:
    """A run whose second step failed, and was said to have."""
    issue = Issue("TOOL_FAILED", Severity.HIGH, "s2", "there is no park")
    return run_with(
        ended(calls("s1", "look", path="garden"), "roses"),
        ended(calls("s2", "look", path="park"), state=StepState.FAILED, error="there is no park"),
        **{"route": Route.PLAN, "pass_index": 1, "evaluation": Evaluation(1, False, issues=(issue,)), **more},
    )


def vague(step: PlanStep, severity: Severity = Severity.MEDIUM, *beside: PlanStep) -> RunSnapshot:
    """A plan that has not run, with a step that was found to say too little."""
    issue = Issue(TOO_COARSE, severity, step.step_id, "how?")
    return run_of(
        calls("s1", "look", path="garden"),
        step,
        *beside,
        route=Route.PLAN,
        evaluation=Evaluation(0, False, issues=(issue,)),
    )


class Desk:
    """A refiner with its model and its grant."""

    def __init__(self, *answers: Any, llm_calls: int = 2, tokens: int = 12_000) -> None:
        self.llm = says(*(json.dumps(a) if isinstance(a, dict) and "text" not in a else a for a in answers))
        self.grant: Grant = grant(llm_calls, tokens)
        model = model_of(self.llm)
        self.refiner = ModelRefiner(model, preamble(), ModelPlanner(model, preamble()))

    async def refine(self, run: RunSnapshot) -> Outcome[Refinement]:
        outcome = await self.refiner.refine(run, self.grant)
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        return outcome


async def test_one_call_changes_what_was_found_wanting() -> None:
    """The issues go to the model, its changes into the plan; what ran is as it was."""
    desk, run = Desk(ELSEWHERE), failed()
    outcome = await desk.refine(run)
    assert outcome.ok
    assert [step.step_id for step in outcome.value.plan] == ["s1", "s2", "s3"]
    assert run.plan is not None
    assert outcome.value.plan.steps[:2] == run.plan.steps
    assert [action.operation for action in outcome.value.applied] == [RefinementOperation.ADD]
    assert "there is no park" in str(desk.llm.requests[0].messages[-1].content)
    assert len(desk.llm.requests) == 1


async def test_an_invalid_change_is_skipped() -> None:
    """A change that cannot be applied is reported, and the rest is applied."""
    add = {"change": "add", "step": {"agent": "llm", "task": "Tell $s8."}}
    outcome = await Desk({"changes": [add, {"change": "add", "step": POND}]}).refine(failed())
    assert [problem.reason for problem in outcome.value.skipped] == ["REFERENCE_UNKNOWN"]
    assert len(outcome.value.applied) == 1


@pytest.mark.parametrize("bad", [{"text": "Nothing comes to mind."}, {"fail": "BAD_ANSWER", "text": ""}])
async def test_on_failure_the_plan_is_as_it_was(bad: dict[str, Any]) -> None:
    """A model that fails or talks changes nothing, and the reason is reported."""
    run = failed()
    outcome = await Desk(bad).refine(run)
    assert not outcome.ok
    assert (outcome.value.plan, outcome.value.applied) == (run.plan, ())
    assert len(outcome.value.skipped) == 1


async def test_without_budget_nothing_is_changed() -> None:
    """A spent grant leaves the plan as it is."""
    desk = Desk(ELSEWHERE, llm_calls=0)
    outcome = await desk.refine(failed())
    assert (outcome.ok, outcome.value.applied, len(desk.llm.requests)) == (False, (), 0)


@pytest.mark.parametrize(
    "more", [{"route": Route.DIRECT}, {"refinement_count": MAX_REFINEMENTS}, {"plan": None}]
)
async def test_some_runs_are_not_refined(more: dict[str, Any]) -> None:
    """A DIRECT run, one without a plan and one that was refined often enough cost no question."""
    desk = Desk(ELSEWHERE)
    outcome = await desk.refine(replace(failed(), **more))
    assert outcome.value.applied == ()
    assert not desk.llm.requests


async def test_a_vague_step_gets_a_plan_of_its_own() -> None:
    """The step's task is planned like a request, and the plan takes its place in the graph."""
    fragment = {"steps": [POND, {"agent": "llm", "task": "Tell what grows in $s1."}]}
    desk = Desk(fragment)
    outcome = await desk.refine(vague(thinks("s2", "Look after the pond.", "s1")))
    assert [step.step_id for step in outcome.value.plan] == ["s1", "s2_1", "s2"]
    assert outcome.value.plan.step("s2").description == "Tell what grows in $s2_1."
    assert desk.llm.requests[0].messages[-1].content == "Look after the pond."


@pytest.mark.parametrize(
    "run",
    [
        vague(thinks("s2", "Look after $s1.", "s1")),
        vague(thinks("s2", "Look."), Severity.LOW),
        vague(calls("s2", "look", path="pond")),
        vague(thinks("s2", "Look."), Severity.MEDIUM, thinks("s2_1", "Look there.")),
        vague(thinks("s2" + "_1" * MAX_NESTING, "Look.")),
    ],
)
async def test_a_step_that_cannot_be_nested_is_changed(run: RunSnapshot) -> None:
    """A call, a task that speaks of another step, one nested before or deep enough and a slight doubt are no plans."""
    desk = Desk({"changes": []})
    outcome = await desk.refine(run)
    assert outcome.value.applied == ()
    assert '{"changes":[...]}' in str(desk.llm.requests[0].messages[-1].content)


async def test_a_fragment_that_cannot_be_planned_changes_nothing() -> None:
    """Without a plan for the step and without changes, the step stays."""
    run = vague(thinks("s2", "Look after the pond."))
    outcome = await Desk({"text": "no"}).refine(run)
    assert (outcome.ok, outcome.value.plan) == (False, run.plan)


async def test_without_a_plan_for_a_step_the_issues_ask_for_changes() -> None:
    """A plan of one step is no finer: all issues found become problems to fix, and none of them is lost."""
    run = vague(thinks("s2", "Look after the pond."))
    worse = Issue("CONSISTENCY", Severity.HIGH, "s1", "the garden is none")
    issues = (*(run.evaluation.issues if run.evaluation else ()), worse)
    desk = Desk({"steps": [POND]}, {"changes": [{"change": "replace", "id": "s1", "step": POND}]})
    outcome = await desk.refine(replace(run, evaluation=Evaluation(0, False, issues=issues)))
    assert [action.step_id for action in outcome.value.applied] == ["s1"]
    assert [problem.reason for problem in outcome.value.skipped] == ["NOT_NESTED"]
    assert "the garden is none" in str(desk.llm.requests[-1].messages[-1].content)
    assert desk.grant.used.llm_calls == 2


async def test_a_plan_within_a_plan_is_put_in_as_a_whole_or_not_at_all() -> None:
    """Where one of its steps does not fit, none of them is in the plan."""
    fragment = {"steps": [{"agent": "llm", "task": "Tell what grows there."}, POND]}
    run = vague(thinks("s2", "Look after the pond."))
    kept = replace(run, request=replace(run.request, tools=("store",)))
    outcome = await Desk(fragment, {"changes": []}).refine(kept)
    assert (outcome.value.plan, outcome.value.applied) == (run.plan, ())
    assert [problem.reason for problem in outcome.value.skipped] == ["TOOL_UNKNOWN"]


def test_actions_of_an_evaluation_are_applied_alike() -> None:
    """Changes that came with a judgement go through the same checks, tools of the run included."""
    run = failed()
    look = calls("s3", "look", path="pond")
    action = RefinementAction(RefinementOperation.ADD, "s3", look)
    assert Desk().refiner.apply(run, (action,)).plan.step("s3") == look
    kept = replace(run, request=replace(run.request, tools=("store",)))
    assert [p.reason for p in Desk().refiner.apply(kept, (action,)).skipped] == ["TOOL_UNKNOWN"]
