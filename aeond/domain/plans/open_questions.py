"""Tracks the open questions and approvals of a run from its events, to tell RUNNING from AWAITING_INPUT."""

from collections.abc import Iterable, Mapping
from typing import Final

from aeond.domain.runs.events import (
    ApprovalDecided,
    ApprovalRequested,
    BudgetExhausted,
    CancelRequested,
    EventKind,
    InputAnswered,
    InputRequested,
    StepEnded,
    StepResolved,
)
from aeond.domain.runs.run import Resolution, RunState

OpenQuestions = Mapping[str, str]
"""The step of each open question, by the question's id; of an approval "", by its id."""

NONE_OPEN: Final[OpenQuestions] = {}

_APPROVAL: Final = "approval "

# Events of other kinds neither open nor close any; names as stored.
TELLING: Final = (
    "input_requested", "input_answered", "approval_requested", "approval_decided", "step_ended", "step_resolved", "budget_exhausted", "cancel_requested",
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
        case ApprovalRequested(approval=approval) if kind.opens:
            return {**questions, _approval(approval.approval_id): ""}
        case InputAnswered(question_id=question_id):
            return {asked: step_id for asked, step_id in questions.items() if asked != question_id}
        case ApprovalDecided(approval_id=approval_id):
            return {asked: step_id for asked, step_id in questions.items() if asked != _approval(approval_id)}
        case StepEnded(step_id=ended):
            return {asked: step_id for asked, step_id in questions.items() if step_id != ended}
        case BudgetExhausted() | CancelRequested():
            return NONE_OPEN
        case StepResolved(step_id="", resolution=Resolution.ABORT):
            return NONE_OPEN
        case _:
            return questions


def is_approval(name: str) -> bool:
    """Whether this name of an open question is that of an approval."""
    return name.startswith(_APPROVAL)


def _approval(approval_id: str) -> str:
    """A name that no question has: a step may ask for approval and then a question under the same id."""
    return f"{_APPROVAL}{approval_id}"
