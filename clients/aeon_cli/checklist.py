"""What a person sees of a run, folded from its events: steps, what is being done, the answer so far.

Pure: the views draw it, the tests read it.
"""

from dataclasses import dataclass, replace

from aeon_cli.printable import one_line, shown_value
from aeon_cli.titles import title_of
from aeond_client.events import (
    AnswerComposed,
    AnswerStarted,
    BudgetExhausted,
    CancelRequested,
    Event,
    PlanAdopted,
    PlanningFailed,
    PlanningStarted,
    Progress,
    RunCreated,
    RunEnded,
    RunParked,
    RunResumed,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepRepaired,
    StepResolved,
    StepStarted,
    TextDelta,
)
from aeond_client.runs import Answer, PlanStep, Problem, RunState, StepState

# What a line can show of an output, and of a text while it is written.
_PREVIEW_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Line:
    """One step: `detail` is its output or its error in short, `text` what its agent has written so far."""

    step_id: str
    title: str
    state: StepState = StepState.PENDING
    detail: str = ""
    text: str = ""
    activity: str = ""
    started_time: float = 0.0
    duration_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Checklist:
    """A run as it is shown. `activity` is what goes on beside the steps ("" for nothing), since
    `activity_time`; `fraction` how far it is (-1 where nobody knows).
    """

    lines: tuple[Line, ...] = ()
    activity: str = "starting"
    activity_time: float = 0.0
    fraction: float = -1.0
    answer_text: str = ""
    answer: Answer | None = None
    suspended: str = ""
    exhausted: str = ""
    state: RunState = RunState.PENDING
    problem: Problem | None = None
    created_time: float = 0.0
    ended_time: float = 0.0

    @property
    def place(self) -> dict[str, int]:
        """The number of each step, from 1."""
        return {line.step_id: number for number, line in enumerate(self.lines, start=1)}

    def after(self, event: Event) -> "Checklist":
        """What is shown once this event has happened."""
        kind, time = event.kind, event.time
        match kind:
            case RunCreated():
                return replace(
                    self,
                    created_time=time,
                    activity_time=time,
                    lines=_lines(kind.plan.steps if kind.plan else ()),
                )
            case RunStarted() | RunResumed():
                return replace(self._doing("", time), state=RunState.RUNNING, suspended="")
            case PlanningStarted():
                return self._doing("planning", time)
            case PlanAdopted(plan=plan):
                return replace(self._doing("", time), lines=_lines(plan.steps, self.lines))
            case PlanningFailed():
                return self._doing("no plan: answering without one", time)
            case StepStarted(step=step):
                return self._doing("", time)._with(
                    step, state=StepState.RUNNING, started_time=time, detail="", text="", activity=""
                )
            case StepRepaired(step=step):
                return self._with(step, title=title_of(step))
            case StepEnded():
                return self._ended(kind)
            case AnswerStarted():
                return replace(self._doing("writing the answer", time), answer_text="")
            case AnswerComposed(answer=answer):
                return replace(self._doing("", time), answer=answer)
            case BudgetExhausted(dimension=dimension):
                return replace(self, exhausted=dimension)
            case CancelRequested():
                return self._doing("cancelling", time)
            case RunParked():
                return self._doing("the daemon stops: the run goes on with the next one", time)
            case RunSuspended():
                return replace(
                    self._doing("", time),
                    state=RunState.SUSPENDED,
                    suspended=kind.message or kind.reason.replace("_", " "),
                )
            case StepResolved():
                return replace(self, suspended="", state=RunState.RUNNING)
            case RunEnded(state=state, problem=problem):
                return replace(self._doing("", time), state=state, problem=problem, ended_time=time)
            case TextDelta():
                return self._written(kind)
            case Progress():
                return self._progressed(kind, time)
            case _:
                return self

    def _doing(self, activity: str, time: float) -> "Checklist":
        return replace(self, activity=activity, activity_time=time, fraction=-1.0)

    def _with(self, step: PlanStep, **changes: object) -> "Checklist":
        """The list with one step changed; a step that no plan named is added."""
        known = self if step.step_id in self.place else replace(self, lines=(*self.lines, *_lines((step,))))
        return known._change(step.step_id, **changes)

    def _change(self, step_id: str, **changes: object) -> "Checklist":
        return replace(
            self,
            lines=tuple(
                replace(line, **changes) if line.step_id == step_id else line  # type: ignore[arg-type]  # names are Line's
                for line in self.lines
            ),
        )

    def _ended(self, kind: StepEnded) -> "Checklist":
        output = "" if kind.output is None else shown_value(kind.output)
        detail = output if kind.state is StepState.SUCCEEDED else kind.error or output
        return self._change(
            kind.step_id,
            state=kind.state,
            detail=one_line(detail[: _PREVIEW_CHARACTERS * 2]),
            duration_seconds=kind.duration_seconds,
            text="",
            activity="",
        )

    def _written(self, kind: TextDelta) -> "Checklist":
        if not kind.step_id:
            return replace(self, answer_text=self.answer_text[: kind.offset] + kind.text)
        written = next((line.text for line in self.lines if line.step_id == kind.step_id), "")
        return self._change(kind.step_id, text=written[: kind.offset] + kind.text)

    def _progressed(self, kind: Progress, time: float) -> "Checklist":
        if kind.step_id:
            return self._change(kind.step_id, activity=_progress_in_words(kind))
        started = self.activity_time if kind.activity == self.activity else time
        return replace(self, activity=kind.activity, activity_time=started, fraction=kind.fraction)


def _progress_in_words(kind: Progress) -> str:
    activity = one_line(kind.activity)
    return activity if kind.fraction < 0 else f"{activity} {kind.fraction:.0%}"


def _lines(steps: tuple[PlanStep, ...], before: tuple[Line, ...] = ()) -> tuple[Line, ...]:
    """A line for each step of a plan; steps that were there keep what happened to them."""
    known = {line.step_id: line for line in before}
    return tuple(
        replace(known[step.step_id], title=title_of(step))
        if step.step_id in known
        else Line(step.step_id, title_of(step))
        for step in steps
    )
