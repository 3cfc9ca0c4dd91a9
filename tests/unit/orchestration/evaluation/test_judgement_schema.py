import pytest

from aeond.domain.plans.evaluations import Issue, Severity
from aeond.domain.plans.profiles import Breadth, ConfidenceLevel, TaskProfile, ToolUsage
from aeond.domain.values import JsonObject
from aeond.orchestration.evaluation.convergence import Scores
from aeond.orchestration.evaluation.judgement_schema import (
    KINDS,
    MAX_MODEL_ISSUES,
    PROFILE_SCHEMA,
    judgement_schema,
    read_issues,
    read_profile,
    read_scores,
)
from tests.support.judging import judgement
from tests.support.strategy import validator

PROFILE: JsonObject = {
    "depth": 4,
    "known": 25,
    "tools": "extensive",
    "breadth": "broad",
    "confidence": "high",
    "why": "three files to compare",
}


def test_a_profile_is_read_as_it_was_said() -> None:
    """Percents become shares, words their values, and what the model said about it is kept."""
    assert validator().validate_output(PROFILE, PROFILE_SCHEMA) == ()
    assert read_profile(PROFILE) == TaskProfile(
        4, 0.25, ToolUsage.EXTENSIVE, Breadth.BROAD, ConfidenceLevel.HIGH, "three files to compare"
    )


@pytest.mark.parametrize("changes", [{"depth": 6}, {"known": 120}, {"tools": "some"}, {"extra": 1}])
def test_a_profile_off_its_scales_does_not_satisfy_the_schema(changes: JsonObject) -> None:
    """Depth, share and words beyond their scales are refused."""
    assert validator().validate_output({**PROFILE, **changes}, PROFILE_SCHEMA)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_of_issue_has_its_reason(kind: str) -> None:
    """Each of the five kinds of issue that a judge may find has its own code."""
    said = judgement({"step": "s2", "kind": kind, "severity": "medium", "problem": "why", "repair": "how"})
    assert validator().validate_output(said, judgement_schema(("s1", "s2"), scored=True)) == ()
    assert read_issues(said) == (Issue(KINDS[kind], Severity.MEDIUM, "s2", "why", "how"),)


def test_an_issue_of_the_whole_names_no_step() -> None:
    """A problem with the whole is an issue without a step."""
    assert read_issues(judgement({"step": "all"}))[0].step_id == ""
    assert read_scores(judgement(complete=40, coherent=90, consistent=100)) == Scores(0.4, 0.9, 1.0)


@pytest.mark.parametrize(
    "said",
    [
        judgement({"step": "s9"}),
        judgement({"kind": "ugly"}),
        judgement(*[{}] * (MAX_MODEL_ISSUES + 1)),
        judgement(complete=101),
    ],
)
def test_a_judgement_of_something_else_is_refused(said: JsonObject) -> None:
    """Steps that are not there, other kinds, too many issues and shares beyond 100 percent do not pass."""
    assert validator().validate_output(said, judgement_schema(("s1",), scored=True))


def test_a_plan_is_judged_without_scores() -> None:
    """Before anything ran there is nothing that could be complete."""
    schema = judgement_schema(("s1",), scored=False)
    assert validator().validate_output({"issues": []}, schema) == ()
    assert validator().validate_output(judgement(), schema)
