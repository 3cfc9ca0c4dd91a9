import pytest

from aeond.domain.messages import Message, Role
from aeond.domain.plans.evaluations import Evaluation, Issue, Severity
from aeond.domain.plans.plan import StepState
from aeond.orchestration.evaluation.convergence import Scores, assess
from aeond.orchestration.prompts.refinement_prompts import refining_messages
from tests.support.strategy import calls, ended, run_of, run_with, thinks

BEGINNING = (Message(Role.SYSTEM, "rules"),)


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
    first, last = refining_messages(run, BEGINNING)
    assert first is BEGINNING[0]
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
