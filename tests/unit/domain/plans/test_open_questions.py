"""Which questions of a run are open."""

import pytest

from aeond.capabilities.journal.encoding import KINDS
from aeond.domain.plans.open_questions import NONE_OPEN, TELLING, open_after
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs import events as e
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Owner, Resolution

ASKED = [e.InputRequested(Question(f"{s}.1", s, InputRequest("?"), 0.0)) for s in ("a", "b")]


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        (e.InputAnswered("a.1", "x", Owner()), {"b.1": "b"}),
        (e.StepEnded("b", StepState.FAILED, StepMode.TOOL), {"a.1": "a"}),
        (e.StepEnded("c", StepState.SUCCEEDED, StepMode.TOOL), {"a.1": "a", "b.1": "b"}),
        (e.CancelRequested(Owner()), {}),
        (e.BudgetExhausted("ttl"), {}),
        (e.StepResolved(Resolution.ABORT, Owner()), {}),
        (e.StepResolved(Resolution.RETRY, Owner()), {"a.1": "a", "b.1": "b"}),
        (e.RunParked(), {"a.1": "a", "b.1": "b"}),
    ],
)
def test_events_that_end_a_question(kind: e.EventKind, left: dict[str, str]) -> None:
    """An answer, the end of its step, and whatever ends all waiting; nothing else."""
    assert open_after(NONE_OPEN, [*ASKED, kind]) == left


def test_the_kinds_that_tell_are_kinds_that_are_stored() -> None:
    """A name that no event is stored under would leave a question open for ever."""
    assert set(TELLING) <= set(KINDS)
