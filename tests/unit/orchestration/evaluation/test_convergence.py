import math

import pytest

from aeond.domain.plans.evaluations import Issue, Severity
from aeond.orchestration.evaluation.convergence import Scores, assess


def issue(reason: str, severity: Severity) -> Issue:
    return Issue(reason, severity, "s1", "it is so")


@pytest.mark.parametrize("scores", [Scores(0.95, 0.90, 0.90), Scores(1.0, 1.0, 1.0)])
def test_scores_at_their_thresholds_converge(scores: Scores) -> None:
    """0.95 complete, 0.90 coherent and 0.90 consistent are enough by default."""
    assert assess(scores) == (True, ("THRESHOLDS_MET",))


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (Scores(0.94, 1.0, 1.0), "COMPLETENESS_LOW"),
        (Scores(1.0, 0.89, 1.0), "COHERENCE_LOW"),
        (Scores(1.0, 1.0, 0.89), "CONSISTENCY_LOW"),
        (Scores(math.nan, 1.0, 1.0), "COMPLETENESS_LOW"),
        (Scores(1.0, 7.0, 1.0), "COHERENCE_LOW"),
    ],
)
def test_a_score_below_its_threshold_is_a_reason(scores: Scores, reason: str) -> None:
    """A score that is too low, or is no share at all, is reported by its code."""
    assert assess(scores) == (False, (reason,))


def test_a_severe_issue_keeps_it_from_converging() -> None:
    """High scores do not outweigh a HIGH issue; lesser ones do not matter to them."""
    issues = [issue("HALLUCINATION", Severity.HIGH), issue("SPECIFICITY", Severity.MEDIUM)]
    assert assess(Scores(1.0, 1.0, 1.0), issues) == (False, ("HALLUCINATION",))
    assert assess(Scores(1.0, 1.0, 1.0), issues[1:])[0]


def test_each_reason_is_reported_once() -> None:
    """Two blocked steps are one reason."""
    issues = [issue("BLOCKED", Severity.HIGH)] * 2
    _, reasons = assess(Scores(0.0, 0.0, 0.0), issues)
    assert reasons == ("COMPLETENESS_LOW", "COHERENCE_LOW", "CONSISTENCY_LOW", "BLOCKED")


def test_a_pass_that_was_not_judged_does_not_converge() -> None:
    """Without scores the severe issues are the reasons; without these, that nothing was judged."""
    severe = [issue("BLOCKED", Severity.HIGH)]
    assert assess(None) == (False, ("NOT_JUDGED",))
    assert assess(None, severe) == (False, ("BLOCKED",))
