"""Which questions of a run are open, from its events alone: whether it is running or awaits input."""

from collections.abc import Iterable, Mapping
from typing import Final

from aeond.domain.events import (
    BudgetExhausted,
    CancelRequested,
    EventKind,
    InputAnswered,
    InputRequested,
    StepEnded,
    StepResolved,
)
from aeond.domain.runs import Resolution, RunState

OpenQuestions = Mapping[str, str]
"""The step of each open question, by the question's id."""

NONE_OPEN: Final[OpenQuestions] = {}

# Events of other kinds neither ask nor end a question; their names as they are stored.
TELLING: Final = (
    "input_requested", "input_answered", "step_ended", "step_resolved", "budget_exhausted", "cancel_requested",
)  # fmt: skip

# A run in any other state has no open question.
MAY_BE_OPEN: Final = (RunState.AWAITING_INPUT, RunState.SUSPENDED)


def open_after(questions: OpenQuestions, kinds: Iterable[EventKind]) -> OpenQuestions:
    """The open questions after these events."""
    for kind in kinds:
        questions = _after(questions, kind)
    return questions


def _after(questions: OpenQuestions, kind: EventKind) -> OpenQuestions:
    match kind:
        case InputRequested(question=question):
            return {**questions, question.question_id: question.step_id}
        case InputAnswered(question_id=question_id):
            return {asked: step_id for asked, step_id in questions.items() if asked != question_id}
        case StepEnded(step_id=ended):
            return {asked: step_id for asked, step_id in questions.items() if step_id != ended}
        case BudgetExhausted() | CancelRequested():
            return NONE_OPEN
        case StepResolved(step_id="", resolution=Resolution.ABORT):
            return NONE_OPEN
        case _:
            return questions
