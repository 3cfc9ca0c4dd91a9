"""Counts of the events of a journal, made in the plainest way: the oracle of the metrics."""

from collections import Counter
from collections.abc import Sequence

from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import DIMENSIONS


def said(events: Sequence[e.Event]) -> dict[str, object]:
    """The totals by name, over all of these events."""
    kinds = [event.kind for event in events]
    used = [kind.used for kind in kinds if hasattr(kind, "used") and not isinstance(kind, e.ChildRunEnded)]
    uses = [use for kind in kinds if (use := getattr(kind, "model_use", None)) is not None]
    approvals = Counter(
        "expired" if kind.expired else "approved" if kind.approved else "denied"
        for kind in kinds
        if isinstance(kind, e.ApprovalDecided)
    )
    asked = sum(isinstance(kind, e.ApprovalRequested) and kind.opens for kind in kinds)
    decisions = Counter((kind.verdict, kind.effect) for kind in kinds if isinstance(kind, e.PolicyDecided))
    computed = sum(isinstance(kind, e.StepEnded) and bool(kind.policy_version) for kind in kinds)
    return {
        "created": sum(isinstance(kind, e.RunCreated) for kind in kinds),
        "ended": Counter((kind.state,) for kind in kinds if isinstance(kind, e.RunEnded)),
        "suspended": Counter((kind.reason,) for kind in kinds if isinstance(kind, e.RunSuspended)),
        "resumed": sum(isinstance(kind, e.RunResumed) for kind in kinds),
        "steps": Counter((kind.mode, kind.state) for kind in kinds if isinstance(kind, e.StepEnded)),
        "used": {name: sum(getattr(amounts, name) for amounts in used) for name in DIMENSIONS},
        "tokens": sum(use.prompt_tokens + use.completion_tokens for use in uses),
        "engine_seconds": sum(use.engine_seconds for use in uses),
        "decisions": decisions + Counter({("allow", "pure"): computed}),
        "approvals": approvals + Counter(requested=asked),
    }
