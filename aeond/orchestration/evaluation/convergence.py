"""When a pass is good enough: three judged scores against their thresholds, and no severe issue."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from aeond.domain.plans.evaluations import Issue, Severity
from aeond.frozen import frozen

ALL_STEPS_COMPLETE: Final = "ALL_STEPS_COMPLETE"
THRESHOLDS_MET: Final = "THRESHOLDS_MET"
STUCK: Final = "STUCK"
NOT_JUDGED: Final = "NOT_JUDGED"


@frozen
class Scores:
    """How far the request is fulfilled, how well the parts fit together, how far they agree: 0 to 1 each."""

    completeness: float
    coherence: float
    consistency: float


THRESHOLDS: Final = Scores(completeness=0.95, coherence=0.90, consistency=0.90)


def assess(scores: Scores | None, issues: Sequence[Issue] = ()) -> tuple[bool, tuple[str, ...]]:
    """Whether a pass converged, and the reason codes of why or why not.

    A HIGH issue alone keeps a pass from converging, whatever its scores. Without scores no pass converges. A score that
    is no number from 0 to 1 meets no threshold.
    """
    reasons = [] if scores is None else _low(scores)
    reasons += dict.fromkeys(issue.reason for issue in issues if issue.severity is Severity.HIGH)
    if scores is None and not reasons:
        reasons = [NOT_JUDGED]
    return (False, tuple(reasons)) if reasons else (True, (THRESHOLDS_MET,))


def _low(scores: Scores) -> list[str]:
    return [
        f"{name.upper()}_LOW"
        for name, least in asdict(THRESHOLDS).items()
        if not least <= getattr(scores, name) <= 1.0
    ]
