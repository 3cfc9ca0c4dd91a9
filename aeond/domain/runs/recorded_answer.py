"""The part of an answer that comes from the record and not from a model: effects and notes on uncertain steps."""

from collections.abc import Iterator
from dataclasses import replace

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode, StepSnapshot
from aeond.domain.runs.events import AnswerComposed, EventKind
from aeond.domain.runs.run import Answer, RunSnapshot
from aeond.domain.tools import EFFECT_UNKNOWN, MAX_ANSWER_EFFECTS, Recovery, bounded


def as_recorded(run: RunSnapshot, kind: EventKind) -> EventKind:
    """The event as the kernel records it: any composed answer gets the effects and notes of the record."""
    if not isinstance(kind, AnswerComposed):
        return kind
    return replace(kind, answer=recorded_answer(run, kind.answer))


def recorded_answer(run: RunSnapshot, answer: Answer) -> Answer:
    """The answer with the recorded effects of the run and of its child runs in place of any that it came with,
    and with a note for each step whose effects are not known or that a model did in place of a missing tool."""
    notes = (*answer.notes, *(note for step in run.steps.values() for note in _notes(step)))
    return replace(answer, effects=bounded(run.effects, MAX_ANSWER_EFFECTS), notes=notes)


def _notes(step: StepSnapshot) -> Iterator[str]:
    if step.mode is StepMode.FALLBACK and step.state is StepState.SUCCEEDED:
        yield f"{step.step_id} was answered by the model, not by a tool: {'; '.join(step.step.errors)}"
    if step.state in (StepState.FAILED, StepState.SKIPPED) and _may_have_changed_something(step):
        doer = f"run {step.child.child_run_id}" if step.child else f"step {step.step_id}"
        yield f"{doer} was cut short; whether it changed anything is unknown"


def _may_have_changed_something(step: StepSnapshot) -> bool:
    """Whether the step stopped between the start and the end of a call with effects."""
    if step.child is not None:
        return step.reason == "INTERRUPTED"
    return step.recovery is not Recovery.RERUN and step.reason in (*EFFECT_UNKNOWN, "ABORTED", "INTERRUPTED")
