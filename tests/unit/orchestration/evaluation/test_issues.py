from dataclasses import replace

import pytest

from aeond.domain.plans.evaluations import Issue, Severity
from aeond.domain.plans.plan import Clarity, Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode, StepSnapshot
from aeond.orchestration.evaluation.issues import MAX_ISSUES, MAX_MESSAGE_CHARS, pass_facts, plan_issues
from tests.support.judging import after_pass, ran
from tests.support.strategy import SPECS, calls, thinks, validator

NAMES = {spec.name for spec in SPECS}
LOOK = calls("s1", "look", path="garden")
TELL = thinks("s2", "Tell it.", "s1")


def issues_of(*steps: PlanStep, tools: set[str] = NAMES) -> tuple[Issue, ...]:
    return plan_issues(Plan("a goal", steps), validator(), tools)


def test_a_sound_plan_has_no_issues() -> None:
    """Registered tools, their arguments, and steps that wait for each other without a circle."""
    assert issues_of(LOOK, TELL) == ()


@pytest.mark.parametrize(
    ("steps", "reason", "step_id"),
    [
        ((calls("s1", "fly"),), "TOOL_UNKNOWN", "s1"),
        ((replace(LOOK, depends_on=("s2",)), TELL), "PLAN_CYCLE", ""),
        ((LOOK, replace(TELL, depends_on=("s7",))), "DEPENDENCY_UNKNOWN", "s2"),
        ((LOOK, calls("s2", "look", "s1", path="shed", depth="deep")), "ARGUMENT_INVALID", "s2"),
        ((calls("s1", "look"),), "ARGUMENT_MISSING", "s1"),
        ((replace(TELL, depends_on=(), agent="nobody"),), "AGENT_UNKNOWN", "s2"),
    ],
)
def test_structural_errors_are_found_without_a_model(
    steps: tuple[PlanStep, ...], reason: str, step_id: str
) -> None:
    """Unknown tools and agents, cycles, missing dependencies and unfit arguments each have their own reason."""
    found = issues_of(*steps)
    assert [(i.reason, i.step_id, i.severity) for i in found] == [(reason, step_id, Severity.HIGH)]
    assert found[0].message
    assert found[0].proposal


def test_a_tool_that_the_run_may_not_use_is_unknown_to_it() -> None:
    """A registered tool that is not among the run's own is as good as none."""
    assert [i.reason for i in issues_of(LOOK, tools={"add"})] == ["TOOL_UNKNOWN"]


def test_issues_are_bounded() -> None:
    """The issues of a plan with everything wrong are bounded in number and in length."""
    found = issues_of(*(calls(f"s{i}", "x" * 500) for i in range(60)))
    assert len(found) == MAX_ISSUES
    assert max(len(issue.message) for issue in found) <= MAX_MESSAGE_CHARS + 100


def test_a_pass_without_flaws() -> None:
    """Every step gave its result: nothing to say."""
    facts = pass_facts(after_pass(1, ran(LOOK), ran(TELL)))
    assert (facts.flawless, facts.issues) == (True, ())


def test_a_missing_result_is_reported_first() -> None:
    """However much else is flagged, a missing result is still reported."""
    unclear = (
        ran(thinks(f"s{n}", "Sing."), clarity=Clarity.PARTIALLY_CLEAR) for n in range(1, MAX_ISSUES + 9)
    )
    lost = ran(calls("s99", "look", path="garden"), error="no garden")
    facts = pass_facts(after_pass(1, *unclear, lost))
    assert len(facts.issues) == MAX_ISSUES
    assert facts.lacking


def test_failed_and_skipped_steps_are_issues() -> None:
    """A failed step is a HIGH issue in its own words, a step skipped for it a LOW one; the pass is not flawless."""
    skipped = StepSnapshot(TELL, StepState.SKIPPED, error="it needs s1, which gave no result")
    facts = pass_facts(after_pass(1, ran(LOOK, error="no garden"), skipped, ran(thinks("s3", "Sing."))))
    assert [(i.reason, i.severity, i.step_id, i.message) for i in facts.issues] == [
        ("TOOL_FAILED", Severity.HIGH, "s1", "no garden"),
        ("SKIPPED", Severity.LOW, "s2", "it needs s1, which gave no result"),
    ]
    assert not facts.flawless


def test_a_blocked_step_is_flagged_as_blocked() -> None:
    """A step that the model could not do with what it had says so by its reason."""
    facts = pass_facts(after_pass(1, ran(LOOK), ran(TELL, clarity=Clarity.BLOCKED)))
    assert [(i.reason, i.step_id) for i in facts.issues] == [("BLOCKED", "s2")]


def test_doubtful_results_are_flagged() -> None:
    """Results that are there but doubtful are issues, and yet nothing is missing."""
    unclear = ran(replace(TELL, handoff_to_next="This text was cut off."), clarity=Clarity.PARTIALLY_CLEAR)
    facts = pass_facts(after_pass(1, ran(LOOK, mode=StepMode.FALLBACK), unclear))
    assert [(i.reason, i.severity) for i in facts.issues] == [
        ("TOOL_MISSING", Severity.MEDIUM),
        ("PARTIALLY_CLEAR", Severity.LOW),
    ]
    assert facts.issues[1].message == "This text was cut off."
    assert (facts.succeeded, facts.lacking) == (True, False)
    assert not facts.flawless


def test_a_failure_that_later_steps_made_good_weighs_little() -> None:
    """A failure of an earlier pass is a LOW issue once a later pass gave something new."""
    failed, repaired = ran(LOOK, 1, error="no garden"), ran(calls("s3", "look", path="shed"), 2)
    facts = pass_facts(after_pass(2, failed, repaired))
    assert [(i.step_id, i.severity) for i in facts.issues] == [("s1", Severity.LOW)]
    assert not facts.lacking
    third = ran(calls("s4", "look", path="pond"), 3, error="no pond")
    assert [i.severity for i in pass_facts(after_pass(3, failed, repaired, third)).issues] == [
        Severity.LOW,
        Severity.HIGH,
    ]
    still = pass_facts(after_pass(2, failed, ran(calls("s3", "look", path="shed"), 2, error="no shed")))
    assert [i.severity for i in still.issues] == [Severity.HIGH, Severity.HIGH]
    assert not still.succeeded


def test_a_call_that_took_the_place_of_a_failed_one_settles_it() -> None:
    """Nothing is wrong any more where a later call of the same tool succeeded and was used; each settles one."""
    failed, instead = ran(LOOK, error="no garden"), ran(calls("s3", "look", path="shed"), 2)
    answered = ran(replace(TELL, depends_on=("s3",)), 2)
    facts = pass_facts(after_pass(2, failed, answered, instead))
    assert (facts.flawless, facts.issues) == (True, ())
    two = pass_facts(
        after_pass(2, failed, ran(calls("s4", "look", path="den"), error="no den"), answered, instead)
    )
    assert [issue.step_id for issue in two.issues] == ["s4"]
    other = ran(calls("s3", "add", a=1, b=2), 2)
    assert pass_facts(after_pass(2, failed, answered, other)).issues


def test_an_empty_pass_is_not_complete() -> None:
    """Without steps there is nothing that could be complete."""
    assert not pass_facts(after_pass(1)).flawless
