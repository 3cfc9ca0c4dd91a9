from aeond.domain.plans.evaluations import Issue, Severity
from aeond.domain.plans.plan import Plan
from aeond.orchestration.prompts.evaluation_prompts import (
    pass_judging_messages,
    plan_judging_messages,
    profile_messages,
    results_length,
)
from tests.support.judging import after_pass, preamble, ran
from tests.support.strategy import calls, run_of, thinks

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
