"""State of the run display, folded from the run's events: steps, current activity and partial answer.

The state is never changed: each event makes a new one, which the views draw and the tests read.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aeon_cli.text.printable import one_line, short_value
from aeon_cli.text.titles import counted, title_of
from aeond_client import events
from aeond_client.records.judgements import Question
from aeond_client.records.runs import Answer, PlanStep, Problem, Resolution, RunState, StepState

# Activity shown for each kind of reasoning call.
_OPERATIONS = {
    "resolve": "reading the conversation",
    "route": "choosing an approach",
    "profile": "estimating the work",
    "evaluate": "checking the results",
    "refine": "improving the plan",
}

WRITING = "writing the answer"
_WAITING = {StepState.PENDING, StepState.READY}

_RESOLVED: Final[Mapping[str, StepState]] = {
    Resolution.RETRY: StepState.READY,
    Resolution.DONE: StepState.SUCCEEDED,
    Resolution.ABORT: StepState.FAILED,
}
# Maximum characters of an output and of partial text kept for display.
_PREVIEW_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Line:
    """One step: `detail` is a short form of its output or error, `text` is the partial output of its
    agent. `recovery` is how a restart treats it while it runs.
    """

    step_id: str
    title: str
    state: StepState = StepState.PENDING
    detail: str = ""
    text: str = ""
    activity: str = ""
    started_time: float = 0.0
    duration_seconds: float = 0.0
    recovery: str = ""


@dataclass(frozen=True, slots=True)
class Checklist:
    """A run as displayed. `activity` names the work outside the steps ("" for none) and `activity_time` its
    start; `fraction` is its progress, -1 if unknown. `usual_activity` is shown when no specific activity is
    known. `approvals` are the steps that wait for each approval, by its id.
    """

    lines: tuple[Line, ...] = ()
    activity: str = "starting"
    usual_activity: str = "starting"
    activity_time: float = 0.0
    fraction: float = -1.0
    answer_text: str = ""
    answer: Answer | None = None
    suspended: str = ""
    questions: tuple[Question, ...] = ()
    approvals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exhausted: str = ""
    state: RunState = RunState.PENDING
    problem: Problem | None = None
    created_time: float = 0.0
    ended_time: float = 0.0

    @property
    def place(self) -> dict[str, int]:
        """Step numbers by step id, counted from 1."""
        return {line.step_id: number for number, line in enumerate(self.lines, start=1)}

    @property
    def needs_decision(self) -> bool:
        """Whether the run is suspended until a person decides. With an activity it continues by itself, or is cancelled."""
        return self.state is RunState.SUSPENDED and not self.activity

    def at_rest(self) -> "Checklist":
        """The steps without any activity."""
        return replace(self, activity="")

    def line(self, step_id: str) -> Line:
        """The line of a step, or an empty line for a step that is not shown."""
        return next(
            (line for line in self.lines if line.step_id == step_id), Line(step_id, one_line(step_id))
        )

    def after(self, event: events.Event, now: float) -> "Checklist":
        """The display after this event. `now` is the time of a live update, which carries none."""
        kind, time = event.kind, event.time or now
        match kind:
            case events.RunCreated(plan=plan):
                lines = _lines(plan.steps) if plan else ()
                return replace(self, created_time=time, activity_time=time, lines=lines)
            case events.Queued(ahead=ahead):
                words = f"waiting for {counted(ahead, 'run')}" if ahead else "next in the queue"
                return self.doing(words, time)
            case events.RunStarted():
                return self.doing("", time, state=RunState.RUNNING)
            case events.PlanningStarted():
                return self.doing("planning", time)
            case events.PlanAdopted(plan=plan):
                return self.doing("", time, lines=_lines(plan.steps, self.lines))
            case events.PlanningFailed():
                return self.doing("no plan: answering directly", time)
            case events.OperationStarted(operation=operation):
                return self.doing(_OPERATIONS.get(operation, operation), time)
            case events.PlanRefined(plan=plan, applied=applied) if applied:
                return self.doing("", time, lines=_lines(plan.steps, self.lines))
            case (
                events.ReferencesResolved()
                | events.RouteChosen()
                | events.ProfileInferred()
                | events.PassEvaluated()
                | events.PlanRefined()
            ):
                return self.doing("", time)
            case events.StepStarted(step=step, recovery=recovery):
                begun = Line(
                    step.step_id, title_of(step), StepState.RUNNING, started_time=time, recovery=recovery
                )
                return self.doing("", time).with_line_for(step).with_line(begun)
            case events.StepRepaired(step=step):
                return self.with_line_for(step).changed_line(step.step_id, title=title_of(step))
            case events.StepEnded():
                return self._ended(kind, time)
            case events.ChildRunStarted(step_id=step_id):  # from now on the step only waits
                return self.changed_line(step_id, recovery="")
            case events.InputRequested(question=question):
                waiting = self.changed_line(question.step_id, activity=f"asks: {one_line(question.prompt)}")
                questions = (*self.questions, question)
                return waiting.doing(
                    "waiting for an answer", time, state=RunState.AWAITING_INPUT, questions=questions
                )
            case events.InputAnswered(question_id=question_id, answer=answer):
                step_id = next((q.step_id for q in self.questions if q.question_id == question_id), "")
                detail = one_line(short_value(answer)[:_PREVIEW_CHARACTERS])
                done = self.changed_line(step_id, state=StepState.SUCCEEDED, detail=detail, activity="")
                return done.without_questions(step_id, time)
            case events.ApprovalRequested(step_id=step_id, approval=approval):
                held = self.changed_line(step_id, state=StepState.READY, activity="", detail="needs approval")
                approvals = {**self.approvals, approval.approval_id: approval.step_ids}
                return held.doing(
                    "waiting for approval", time, state=RunState.AWAITING_INPUT, approvals=approvals
                )
            case events.ApprovalDecided():
                return self._decided(kind, time)
            case events.RunSuspended(reason=reason, message=message):
                why = one_line(message or reason.replace("_", " "))
                # After a full disk it continues by itself: shown while it pauses.
                activity = why if reason == "disk_full" else ""
                return self.doing(activity, time, state=RunState.SUSPENDED, suspended=why)
            case events.RunResumed():
                asking = {question.step_id for question in self.questions}
                lines = tuple(line if line.step_id in asking else _cut(line) for line in self.lines)
                return self.doing(
                    "", time, lines=lines, state=_waiting_or_running(asking, self.approvals), suspended=""
                )
            case events.StepResolved(step_id=step_id, resolution=resolution):
                after = _RESOLVED.get(resolution, self.line(step_id).state)
                resolved = self.changed_line(step_id, state=after)
                return resolved.doing("", time, state=RunState.RUNNING, suspended="")
            case events.RunParked():
                return self.doing("waiting to resume", time)
            case events.CancelRequested():
                return self.skipping(_WAITING).doing("cancelling", time)
            case events.BudgetExhausted(dimension=dimension):
                return replace(self.skipping(_WAITING), exhausted=dimension)
            case events.AnswerStarted():
                return self.doing(WRITING, time, answer_text="")
            case events.AnswerComposed(answer=answer):
                return self.doing("", time, answer=answer)
            case events.RunEnded(state=state, problem=problem):
                left = self.skipping({*_WAITING, StepState.RUNNING})
                return left.doing("", time, state=state, problem=problem, ended_time=time)
            case events.TextDelta():
                return self._written(kind, time)
            case events.Progress():
                return self._progressed(kind, time)
            case _:
                return self

    def _ended(self, kind: events.StepEnded, time: float) -> "Checklist":
        output = "" if kind.output is None else short_value(kind.output)
        detail = output if kind.state is StepState.SUCCEEDED else kind.error or output
        ended = self.changed_line(
            kind.step_id,
            state=kind.state,
            detail=one_line(detail[:_PREVIEW_CHARACTERS]),
            duration_seconds=kind.duration_seconds,
            text="",
            activity="",
        )
        return ended.without_questions(kind.step_id, time)

    def _decided(self, kind: events.ApprovalDecided, time: float) -> "Checklist":
        left = {name: steps for name, steps in self.approvals.items() if name != kind.approval_id}
        after = StepState.READY if kind.approved else StepState.FAILED
        why = "" if kind.approved else "not approved in time" if kind.expired else "denied"
        decided = self
        for step_id in self.approvals.get(kind.approval_id, ()):
            decided = decided.changed_line(step_id, state=after, detail=why)
        return decided.doing("", time, approvals=left, state=_waiting_or_running(left, self.questions))

    def skipping(self, states: Collection[StepState]) -> "Checklist":
        """The display when nothing new starts and nothing is asked: steps in these states, or with a question, are skipped."""
        asking = {question.step_id for question in self.questions}
        lines = tuple(
            replace(line, state=StepState.SKIPPED, detail="", text="", activity="")
            if line.state in states or line.step_id in asking
            else line
            for line in self.lines
        )
        return replace(self, lines=lines, questions=(), approvals={})

    def without_questions(self, step_id: str, time: float) -> "Checklist":
        """The display without the questions of this step."""
        if not any(question.step_id == step_id for question in self.questions):
            return self
        left = tuple(question for question in self.questions if question.step_id != step_id)
        state = _waiting_or_running(left, self.approvals)
        return self.doing("waiting for an answer" if left else "", time, questions=left, state=state)

    def _written(self, kind: events.TextDelta, time: float) -> "Checklist":
        if kind.step_id:
            written = self.line(kind.step_id).text[: kind.offset] + kind.text
            return self.changed_line(kind.step_id, text=written)
        # a reply produces no text before its first token
        shown = self if self.answer_text else self.doing(WRITING, time)
        return replace(shown, answer_text=self.answer_text[: kind.offset] + kind.text)

    def _progressed(self, kind: events.Progress, time: float) -> "Checklist":
        if kind.step_id:
            activity = one_line(kind.activity)
            words = activity if kind.fraction < 0 else f"{activity} {kind.fraction:.0%}"
            return self.changed_line(kind.step_id, activity=words)
        activity = kind.activity or self.usual_activity
        started = self.activity_time if activity == self.activity else time
        return replace(self, activity=activity, activity_time=started, fraction=kind.fraction)

    def doing(self, activity: str, time: float, **changes: Any) -> "Checklist":
        """The display with another activity, and these changes."""
        doing = replace(self, activity=activity, usual_activity=activity, activity_time=time, fraction=-1.0)
        return replace(doing, **changes)

    def with_line_for(self, step: PlanStep) -> "Checklist":
        """Adds a line for a step that no plan contains."""
        return self if step.step_id in self.place else replace(self, lines=(*self.lines, *_lines((step,))))

    def changed_line(self, step_id: str, **changes: Any) -> "Checklist":
        """The display with these changes of a step's line, if there is one."""
        return self.with_line(replace(self.line(step_id), **changes))

    def with_line(self, changed: Line) -> "Checklist":
        """The display with this line in the place of the one of its step."""
        lines = tuple(changed if line.step_id == changed.step_id else line for line in self.lines)
        return replace(self, lines=lines)


def _waiting_or_running(*asked: Collection[Any]) -> RunState:
    return RunState.AWAITING_INPUT if any(asked) else RunState.RUNNING


def _cut(line: Line) -> Line:
    """The line after a restart of the daemon: a running step starts again, or waits for a person if it may have acted."""
    if line.state is not StepState.RUNNING:
        return line
    state = StepState.UNKNOWN if line.recovery == "ask" else StepState.READY
    return replace(line, state=state, text="", activity="")


def _lines(steps: tuple[PlanStep, ...], before: tuple[Line, ...] = ()) -> tuple[Line, ...]:
    """One line per step of a plan; steps that exist already keep their state."""
    known = {line.step_id: line for line in before}
    return tuple(
        replace(known[step.step_id], title=title_of(step))
        if step.step_id in known
        else Line(step.step_id, title_of(step))
        for step in steps
    )
