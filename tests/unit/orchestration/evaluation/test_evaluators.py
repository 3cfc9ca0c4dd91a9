from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.plans.evaluations import Evaluation, Severity
from aeond.domain.plans.plan import Clarity, Plan, PlanStep, StepState
from aeond.domain.plans.profiles import ConfidenceLevel, Route, TaskProfile
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.evaluation.evaluators import EvaluatorByRoute, PlanEvaluator
from aeond.orchestration.evaluation.judgement_schema import judgement_schema
from aeond.orchestration.interfaces import Judgement
from tests.support.judging import after_pass, judgement, model_of, preamble, ran
from tests.support.null_objects import AcceptAll
from tests.support.strategy import calls, grant, says, thinks

LOOK = calls("s1", "look", path="garden")
TELL = thinks("s2", "Tell what grows there.", "s1")
DEEP = TaskProfile(reasoning_depth=4)


class Desk:
    """An evaluator with its model and its grant."""

    def __init__(self, *answers: Any, purse: Grant | None = None, **model: Any) -> None:
        rules = [{"json": a, "times": 1} if isinstance(a, dict) and "issues" in a else a for a in answers]
        self.llm = says(*rules, **model)
        self.grant = purse or grant(2, 12_000)

    async def judge(self, run: RunSnapshot) -> tuple[bool, Evaluation]:
        evaluator = PlanEvaluator(model_of(self.llm), preamble())
        ok, judged, problem = await evaluator.evaluate(run, self.grant)
        assert ok or problem is not None
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        assert judged.evaluation.pass_index == run.pass_index
        return ok, judged.evaluation

    @property
    def asked(self) -> int:
        return len(self.llm.requests)


def drafted(*steps: PlanStep, **more: Any) -> RunSnapshot:
    return replace(after_pass(0, *(ran(step) for step in steps), **more), steps={})


def failing_pass() -> RunSnapshot:
    return after_pass(
        1, ran(LOOK, error="there is no 'garden'; there is 'gardens'"), ran(thinks("s2", "Sing."))
    )


def doubtful_pass() -> RunSnapshot:
    return after_pass(1, ran(LOOK), ran(TELL, clarity=Clarity.PARTIALLY_CLEAR))


# ---------------------------------------------------------------- a plan that has not run


async def test_a_sound_plan_is_not_shown_to_the_model() -> None:
    """For a task that is not deep, validation without a model is enough."""
    desk = Desk()
    assert await desk.judge(drafted(LOOK, TELL)) == (True, Evaluation(0, True, ("PLAN_VALID",)))
    assert desk.asked == 0


async def test_structural_errors_cost_no_model_call() -> None:
    """A plan with an unknown tool is not converged, whatever a model would say, and no call is spent."""
    desk = Desk(judgement())
    ok, judged = await desk.judge(drafted(calls("s1", "fly"), profile=DEEP))
    assert (ok, judged.converged, judged.reasons) == (True, False, ("TOOL_UNKNOWN",))
    assert judged.issues[0].step_id == "s1"
    assert desk.asked == 0


@pytest.mark.parametrize(
    "profile", [DEEP, TaskProfile(reasoning_depth=1, confidence_requirement=ConfidenceLevel.HIGH)]
)
async def test_a_deep_task_has_its_plan_judged_by_the_model(profile: TaskProfile) -> None:
    """From depth 4, or where high confidence is needed, a sound plan is shown to the model, with one call."""
    said = {"issues": judgement({"step": "s1", "kind": "irrelevant", "severity": "medium"})["issues"]}
    desk = Desk(said)
    ok, judged = await desk.judge(drafted(LOOK, TELL, profile=profile, request="What grows?"))
    assert (ok, judged.converged, judged.reasons) == (True, False, ("RELEVANCE",))
    assert [(i.reason, i.step_id, i.severity) for i in judged.issues] == [
        ("RELEVANCE", "s1", Severity.MEDIUM)
    ]
    assert desk.asked == 1
    prompt = str(desk.llm.requests[0].messages[-1].content)
    assert "What grows?" in prompt
    assert "s2: Tell what grows there." in prompt


async def test_a_plan_with_small_flaws_runs() -> None:
    """A LOW issue is kept with the evaluation and stops nothing."""
    desk = Desk({"issues": judgement({"severity": "low"})["issues"]})
    _, judged = await desk.judge(drafted(LOOK, TELL, profile=DEEP))
    assert (judged.converged, len(judged.issues)) == (True, 1)


@pytest.mark.parametrize(("rounds", "asked"), [(1, 1), (2, 0)])
async def test_a_plan_is_shown_again_after_a_round_that_nested(rounds: int, asked: int) -> None:
    """Steps that are new to the model are shown to it with one call; changes made for what it said are not."""
    nested = (LOOK, thinks("s2_1", "Find out."), thinks("s2", "Tell $s2_1.", "s2_1"))
    desk = Desk({"issues": judgement({"step": "s2_1"})["issues"]})
    _, judged = await desk.judge(drafted(*nested, profile=DEEP, refinement_count=rounds))
    assert desk.asked == asked
    assert judged.converged is not bool(asked)


async def test_a_refined_plan_is_not_shown_to_the_model_again() -> None:
    """The model says once what it thinks of a plan; after that only what can be checked is checked."""
    desk = Desk({"issues": judgement({})["issues"]})
    _, judged = await desk.judge(drafted(LOOK, TELL, profile=DEEP, refinement_count=1))
    assert judged.converged
    assert desk.asked == 0


@pytest.mark.parametrize("purse", [None, grant(0, 0)])
async def test_a_plan_that_the_model_cannot_judge_runs(purse: Grant | None) -> None:
    """A model that is gone, or no budget for it, leaves the validation as the judgement."""
    ok, judged = await Desk({"fail": "BAD_ANSWER"}, purse=purse).judge(drafted(LOOK, profile=DEEP))
    assert (ok, judged.converged) == (False, True)


async def test_without_a_plan_nothing_converges() -> None:
    """A run that has no plan is judged as not converged, with the reason."""
    ok, judged = await Desk().judge(replace(drafted(LOOK), plan=None))
    assert (ok, judged.converged, judged.reasons) == (False, False, ("PLAN_MISSING",))


# ---------------------------------------------------------------- a pass


async def test_all_steps_complete_and_nothing_flagged_converges_by_itself() -> None:
    """A pass without a flaw takes no model call, and has no scores, since nothing judged it."""
    desk = Desk()
    ok, judged = await desk.judge(after_pass(1, ran(LOOK), ran(TELL)))
    assert (ok, judged) == (True, Evaluation(1, True, ("ALL_STEPS_COMPLETE",)))
    assert not judged.scored
    assert desk.asked == 0


async def test_a_flagged_pass_is_judged_by_one_call() -> None:
    """A complete but doubtful pass is shown to the model: its scores and issues decide."""
    unclear = ran(TELL, output="mint", clarity=Clarity.PARTIALLY_CLEAR)
    desk = Desk(judgement(complete=100, coherent=95, consistent=90))
    ok, judged = await desk.judge(after_pass(1, ran(LOOK), unclear))
    assert (ok, judged.converged, judged.reasons) == (True, True, ("THRESHOLDS_MET",))
    assert (judged.completeness, judged.coherence, judged.consistency) == (1.0, 0.95, 0.9)
    assert judged.scored
    assert desk.asked == 1
    prompt = str(desk.llm.requests[0].messages[-1].content)
    assert "s2 (Tell what grows there.): mint" in prompt
    assert "s2 PARTIALLY_CLEAR" in prompt


async def test_scores_below_their_thresholds_do_not_converge() -> None:
    """A model that finds the results incomplete or contradicting is heard."""
    unclear = ran(TELL, clarity=Clarity.PARTIALLY_CLEAR)
    desk = Desk(judgement({"step": "s2", "kind": "invented", "severity": "high"}, complete=60, consistent=50))
    _, judged = await desk.judge(after_pass(1, ran(LOOK), unclear))
    assert judged.reasons == ("COMPLETENESS_LOW", "CONSISTENCY_LOW", "HALLUCINATION")
    assert [i.reason for i in judged.issues] == ["PARTIALLY_CLEAR", "HALLUCINATION"]


async def test_a_failed_step_is_never_complete() -> None:
    """A failed step settles it: the pass has not converged, its error is the issue, and no call is spent."""
    desk = Desk(judgement())
    ok, judged = await desk.judge(failing_pass())
    assert (ok, judged.converged) == (True, False)
    assert not judged.scored
    assert judged.reasons == ("TOOL_FAILED",)
    assert "there is 'gardens'" in judged.issues[0].message
    assert desk.asked == 0


async def test_only_what_was_executed_is_judged() -> None:
    """Of a step that did not run a model can find nothing wrong in a pass: its schema does not name it."""
    skipped = StepSnapshot(thinks("s3", "Sing."), StepState.SKIPPED)
    desk = Desk(judgement())
    await desk.judge(after_pass(1, ran(LOOK), ran(TELL, clarity=Clarity.PARTIALLY_CLEAR), skipped))
    assert desk.llm.requests[0].schema == judgement_schema(("s1", "s2"), scored=True)


async def test_a_failure_that_was_made_good_may_converge() -> None:
    """A failure of an earlier pass that another step made good is a matter of judgement."""
    run = after_pass(2, ran(LOOK, 1, error="no garden"), ran(calls("s3", "look", path="gardens"), 2))
    _, judged = await Desk(judgement()).judge(run)
    assert (judged.converged, judged.reasons) == (True, ("THRESHOLDS_MET",))
    assert [(i.step_id, i.severity) for i in judged.issues] == [("s1", Severity.LOW)]


async def test_a_stuck_run_is_reported_as_such_without_a_call() -> None:
    """The same failing call in a second pass is STUCK: neither model nor refinement will help."""
    again = ran(replace(LOOK, step_id="s3"), 2, error="no garden")
    desk = Desk(judgement())
    _, judged = await desk.judge(after_pass(2, ran(LOOK, 1, error="no garden"), again))
    assert not judged.converged
    assert "STUCK" in judged.reasons
    assert desk.asked == 0


@pytest.mark.parametrize(
    ("answer", "purse"),
    [
        ({"fail": "BAD_ANSWER"}, None),
        ({"gone": True}, None),
        ({"text": "It is fine."}, None),
        ("", grant(0, 0)),
        ("", grant(2, 50)),
    ],
)
async def test_without_a_model_the_judgement_is_conservative(answer: Any, purse: Grant | None) -> None:
    """A flagged pass that cannot be judged has not converged; its issues hold the known facts."""
    ok, judged = await Desk(answer, purse=purse).judge(doubtful_pass())
    assert (ok, judged.converged) == (False, False)
    assert [i.reason for i in judged.issues] == ["PARTIALLY_CLEAR"]
    assert (judged.scored, judged.reasons) == (False, ("NOT_JUDGED",))


async def test_long_results_are_shortened_to_be_judged() -> None:
    """A pass with results beyond the model's context is judged by their beginnings and ends."""
    long = ran(LOOK, output={"text": "mint and sage " * 4_000})
    desk = Desk(judgement(), context_length=2_500)
    ok, _ = await desk.judge(after_pass(1, long, ran(TELL, clarity=Clarity.PARTIALLY_CLEAR)))
    assert ok
    assert "characters left out" in str(desk.llm.requests[0].messages[-1].content)


async def test_the_snapshot_is_read_and_not_changed() -> None:
    """Judging is a new value: run, plan and steps are what they were."""
    run, same = doubtful_pass(), doubtful_pass()
    await Desk(judgement()).judge(run)
    assert replace(run, plan=Plan("")) == replace(same, plan=Plan(""))
    assert run.plan == same.plan


@pytest.mark.parametrize(
    ("route", "wanted"), [(Route.DIRECT, "direct"), (Route.PLAN, "plan"), (None, "plan")]
)
async def test_each_route_has_its_evaluator(route: Route | None, wanted: str) -> None:
    """DIRECT runs are judged by their own evaluator, all others by that of plans."""

    class Named(AcceptAll):
        def __init__(self, name: str) -> None:
            self.name = name

        async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Any:
            judged = await super().evaluate(snapshot, grant)
            return replace(judged, value=Judgement(replace(judged.value.evaluation, reasons=(self.name,))))

    both = EvaluatorByRoute(Named("direct"), Named("plan"))
    outcome = await both.evaluate(replace(failing_pass(), route=route), grant())
    assert outcome.value.evaluation.reasons == (wanted,)
