from aeond.domain.evaluations import Evaluation, Issue, Severity
from aeond.domain.messages import Message, Role
from aeond.domain.plans import StepState
from aeond.orchestration.refining_prompts import refining_messages
from tests.support.strategy import calls, ended, run_of, run_with, thinks

BEGINNING = (Message(Role.SYSTEM, "rules"),)


def test_the_plan_its_results_and_the_issues_are_told() -> None:
    """The model sees what ran and how it went, what is to come, and what must be mended."""
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


def test_long_results_are_shown_in_part() -> None:
    """A result is told as far as it takes to change the plan."""
    run = run_with(ended(calls("s1", "look", path="garden"), "rose " * 1_000))
    text = str(refining_messages(run, BEGINNING)[-1].content)
    assert "characters left out" in text
    assert len(text) < 2_000
