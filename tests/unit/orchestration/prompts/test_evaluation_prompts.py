import pytest

from aeond.domain.plans.evaluations import Evaluation, Issue, Severity
from aeond.domain.plans.plan import Plan, StepState
from aeond.orchestration.evaluation.convergence import Scores, assess
from aeond.orchestration.prompts.evaluation_prompts import (
    pass_judging_messages,
    plan_judging_messages,
    profile_messages,
    refining_messages,
    results_length,
)
from tests.support.judging import after_pass, preamble, ran
from tests.support.strategy import calls, ended, run_of, run_with, thinks

LOOK = calls("s1", "look", path="garden")
BEGINNING = preamble().messages(run_of())


def test_every_question_goes_on_from_the_preamble() -> None:
    """Profile, plan and pass are asked about in one more turn behind what engines have in their cache."""
    run = after_pass(1, ran(LOOK))
    for messages in (
        profile_messages("Count.", BEGINNING),
        plan_judging_messages("Count.", Plan("x", (LOOK,)), BEGINNING),
        pass_judging_messages(run, (), BEGINNING, 100),
    ):
        assert messages[:-1] == BEGINNING


def test_a_pass_is_shown_with_what_failed_and_what_was_found() -> None:
    """Results, errors and the issues that are known stand in the question, each with its step."""
    run = after_pass(1, ran(LOOK, output={"herbs": 3}), ran(thinks("s2", "Tell."), error="no voice"))
    issue = Issue("TOOL_FAILED", Severity.HIGH, "s2", "no voice")
    prompt = str(pass_judging_messages(run, (issue,), BEGINNING, 1_000)[-1].content)
    assert 's1 (look something): {"herbs": 3}' in prompt
    assert "s2 (Tell.): no result (failed): no voice" in prompt
    assert "- s2 TOOL_FAILED: no voice" in prompt
    assert "Found already" not in str(pass_judging_messages(run, (), BEGINNING, 1_000)[-1].content)


def test_results_have_as_much_room_as_they_are_given() -> None:
    """Long results are shortened visibly; their full length can be computed beforehand."""
    run = after_pass(1, ran(LOOK, output="herb " * 1_000))
    assert results_length(run) == 5_000
    short = str(pass_judging_messages(run, (), BEGINNING, 100)[-1].content)
    assert "4900 characters left out" in short


def test_the_plan_its_results_and_the_issues_are_reported() -> None:
    """The model sees the steps that ran and their results, the steps still to come, and the problems to fix."""
    waiting = run_of(thinks("s3", "Compare.")).steps["s3"]
    issue = Issue("TOOL_FAILED", Severity.HIGH, "s2", "there is no park", "look elsewhere")
    run = run_with(
        ended(calls("s1", "look", path="garden"), "roses"),
        ended(calls("s2", "look", path="park"), state=StepState.FAILED, error="there is no park"),
        waiting,
        evaluation=Evaluation(1, False, issues=(issue,)),
    )
    *before, last = refining_messages(run, BEGINNING)
    assert tuple(before) == BEGINNING
    text = str(last.content)
    assert 's1: look {"path":"garden"} -> result: roses' in text
    assert 's2: look {"path":"park"} -> failed: there is no park' in text
    assert "s3: Compare. -> not run" in text
    assert "- s2: there is no park (look elsewhere)" in text


LOW = ("COMPLETENESS_LOW", "COHERENCE_LOW", "CONSISTENCY_LOW")
UNFULFILLED = "- the request is not fulfilled yet"


@pytest.mark.parametrize(
    ("reasons", "issues", "lines"),
    [
        (LOW, (), [UNFULFILLED, "- the results do not fit together", "- results disagree"]),
        (
            LOW[2:],
            (Issue("PARTIALLY_CLEAR", Severity.LOW, "s1", "half"),),
            ["- s1: half", "- results disagree"],
        ),
        (("HALLUCINATION",), (Issue("HALLUCINATION", Severity.HIGH, "", "no"),), ["- no"]),
        ((), (), [UNFULFILLED]),
    ],
)
def test_each_score_that_was_too_low_is_reported(
    reasons: tuple[str, ...], issues: tuple[Issue, ...], lines: list[str]
) -> None:
    """The reasons why a pass did not converge are problems to fix, with issues and without; none is listed twice."""
    judged = Evaluation(1, False, reasons, issues)
    run = run_with(ended(calls("s1", "look", path="garden"), "roses"), evaluation=judged)
    text = str(refining_messages(run, BEGINNING)[-1].content)
    wrong = text.partition("What is wrong:\n")[2].partition("\n\n")[0]
    assert wrong.splitlines() == lines


def test_the_scores_that_are_reported_are_those_that_are_judged() -> None:
    """No reason of a low score goes untold under another name."""
    assert assess(Scores(0.0, 0.0, 0.0)) == (False, LOW)


def test_long_results_are_shown_in_part() -> None:
    """A long result is shortened in the prompt."""
    run = run_with(ended(calls("s1", "look", path="garden"), "rose " * 1_000))
    text = str(refining_messages(run, BEGINNING)[-1].content)
    assert "characters left out" in text
    assert len(text) < 2_000
