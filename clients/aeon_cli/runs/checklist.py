"""State of the run display, folded from the run's events: steps, current activity and partial answer.

The functions are pure: the views draw the state and the tests read it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from aeon_cli.text.printable import one_line, short_value
from aeon_cli.text.titles import counted, title_of
from aeond_client.events import (
    AnswerComposed,
    AnswerStarted,
    ApprovalDecided,
    ApprovalRequested,
    BudgetExhausted,
    CancelRequested,
    ChildRunStarted,
    Event,
    EventKind,
    InputAnswered,
    InputRequested,
    OperationStarted,
    PassEvaluated,
    PlanAdopted,
    PlanningFailed,
    PlanningStarted,
    PlanRefined,
    ProfileInferred,
    Progress,
    Queued,
    ReferencesResolved,
    RouteChosen,
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

    def after(self, event: Event, now: float) -> "Checklist":
        """The display after this event. `now` is the time of a live update, which carries none."""
        kind, time = event.kind, event.time or now
        match kind:
            case TextDelta():
                return _written(self, kind, time)
            case Progress():
                return _progressed(self, kind, time)
            case StepStarted() | StepRepaired() | StepEnded():
                return _stepped(self, kind, time)
            case InputRequested() | InputAnswered():
                return _asked(self, kind, time)
            case ApprovalRequested() | ApprovalDecided():
                return _held(self, kind, time)
            case RunSuspended() | StepResolved() | RunResumed() | RunParked() | CancelRequested():
                return _interrupted(self, kind, time)
            case _:
                return _advanced(self, kind, time)


def _advanced(shown: Checklist, kind: EventKind, time: float) -> Checklist:
    """The default transition: a run that progresses normally."""
    match kind:
        case RunCreated(plan=plan):
            lines = _lines(plan.steps) if plan else ()
            return replace(shown, created_time=time, activity_time=time, lines=lines)
        case Queued(ahead=ahead):
            return _doing(
                shown, f"waiting for {counted(ahead, 'run')}" if ahead else "next in the queue", time
            )
        case RunStarted():
            return replace(_doing(shown, "", time), state=RunState.RUNNING)
        case PlanningStarted():
            return _doing(shown, "planning", time)
        case PlanAdopted(plan=plan):
            return replace(_doing(shown, "", time), lines=_lines(plan.steps, shown.lines))
        case PlanningFailed():
            return _doing(shown, "no plan: answering directly", time)
        case OperationStarted(operation=operation):
            return _doing(shown, _OPERATIONS.get(operation, operation), time)
        case PlanRefined(plan=plan, applied=applied) if applied:
            return replace(_doing(shown, "", time), lines=_lines(plan.steps, shown.lines))
        case ReferencesResolved() | RouteChosen() | ProfileInferred() | PassEvaluated() | PlanRefined():
            return _doing(shown, "", time)
        case AnswerStarted():
            return replace(_doing(shown, WRITING, time), answer_text="")
        case AnswerComposed(answer=answer):
            return replace(_doing(shown, "", time), answer=answer)
        case ChildRunStarted(step_id=step_id):  # from now on the step only waits
            return _change(shown, step_id, replace(shown.line(step_id), recovery=""))
        case BudgetExhausted(dimension=dimension):
            return replace(_skipped(shown, _WAITING), exhausted=dimension)
        case RunEnded(state=state, problem=problem):
            ended = _doing(_skipped(shown, {*_WAITING, StepState.RUNNING}), "", time)
            return replace(ended, state=state, problem=problem, ended_time=time)
        case _:
            return shown


def _interrupted(
    shown: Checklist,
    kind: RunSuspended | StepResolved | RunResumed | RunParked | CancelRequested,
    time: float,
) -> Checklist:
    match kind:
        case RunSuspended(reason=reason, message=message):
            why = one_line(message or reason.replace("_", " "))
            activity = why if reason == "disk_full" else ""  # it continues by itself: shown while it pauses
            return replace(_doing(shown, activity, time), state=RunState.SUSPENDED, suspended=why)
        case RunResumed():
            asking = {question.step_id for question in shown.questions}
            lines = tuple(line if line.step_id in asking else _cut(line) for line in shown.lines)
            state = RunState.AWAITING_INPUT if asking or shown.approvals else RunState.RUNNING
            return replace(_doing(shown, "", time), lines=lines, state=state, suspended="")
        case StepResolved(step_id=step_id, resolution=resolution):
            changed = _doing(shown, "", time)
            if step_id:
                line = shown.line(step_id)
                changed = _change(
                    changed, step_id, replace(line, state=_RESOLVED.get(resolution, line.state))
                )
            return replace(changed, state=RunState.RUNNING, suspended="")
        case RunParked():
            return _doing(shown, "waiting to resume", time)
        case CancelRequested():
            return _doing(_skipped(shown, _WAITING), "cancelling", time)


def _cut(line: Line) -> Line:
    """The line after a restart of the daemon: a running step starts again, or waits for a person if it may have acted."""
    if line.state is not StepState.RUNNING:
        return line
    state = StepState.UNKNOWN if line.recovery == "ask" else StepState.READY
    return replace(line, state=state, text="", activity="")


def _skipped(shown: Checklist, states: Collection[StepState]) -> Checklist:
    """The display when nothing new starts and nothing is asked: steps in these states, or with a question, are skipped."""
    asking = {question.step_id for question in shown.questions}
    lines = tuple(
        replace(line, state=StepState.SKIPPED, detail="", text="", activity="")
        if line.state in states or line.step_id in asking
        else line
        for line in shown.lines
    )
    return replace(shown, lines=lines, questions=(), approvals={})


def _stepped(shown: Checklist, kind: StepStarted | StepRepaired | StepEnded, time: float) -> Checklist:
    match kind:
        case StepStarted(step=step):
            known = _with_line_for(_doing(shown, "", time), step)
            begun = Line(step.step_id, title_of(step), StepState.RUNNING, started_time=time)
            return _change(known, step.step_id, replace(begun, recovery=kind.recovery))
        case StepRepaired(step=step):
            known = _with_line_for(shown, step)
            return _change(known, step.step_id, replace(known.line(step.step_id), title=title_of(step)))
        case StepEnded(step_id=step_id, state=state):
            output = "" if kind.output is None else short_value(kind.output)
            detail = output if state is StepState.SUCCEEDED else kind.error or output
            ended = replace(
                shown.line(step_id),
                state=state,
                detail=one_line(detail[:_PREVIEW_CHARACTERS]),
                duration_seconds=kind.duration_seconds,
                text="",
                activity="",
            )
            return _without_questions(_change(shown, step_id, ended), step_id, time)


def _asked(shown: Checklist, kind: InputRequested | InputAnswered, time: float) -> Checklist:
    match kind:
        case InputRequested(question=question):
            line = replace(shown.line(question.step_id), activity=f"asks: {one_line(question.prompt)}")
            waiting = replace(
                _change(shown, question.step_id, line),
                state=RunState.AWAITING_INPUT,
                questions=(*shown.questions, question),
            )
            return _doing(waiting, "waiting for an answer", time)
        case InputAnswered(question_id=question_id, answer=answer):
            step_id = next((q.step_id for q in shown.questions if q.question_id == question_id), "")
            detail = one_line(short_value(answer)[:_PREVIEW_CHARACTERS])
            line = replace(shown.line(step_id), state=StepState.SUCCEEDED, detail=detail, activity="")
            return _without_questions(_change(shown, step_id, line), step_id, time)


def _held(shown: Checklist, kind: ApprovalRequested | ApprovalDecided, time: float) -> Checklist:
    match kind:
        case ApprovalRequested(step_id=step_id, approval=approval):
            held = replace(shown.line(step_id), state=StepState.READY, activity="", detail="needs approval")
            waiting = replace(
                _change(shown, step_id, held),
                state=RunState.AWAITING_INPUT,
                approvals={**shown.approvals, approval.approval_id: approval.step_ids},
            )
            return _doing(waiting, "waiting for approval", time)
        case ApprovalDecided(approval_id=approval_id, approved=approved):
            left = {name: steps for name, steps in shown.approvals.items() if name != approval_id}
            for step_id in shown.approvals.get(approval_id, ()):
                after = StepState.READY if approved else StepState.FAILED
                why = "" if approved else "not approved in time" if kind.expired else "denied"
                shown = _change(shown, step_id, replace(shown.line(step_id), state=after, detail=why))
            state = RunState.AWAITING_INPUT if left or shown.questions else RunState.RUNNING
            return replace(_doing(shown, "", time), approvals=left, state=state)


def _without_questions(shown: Checklist, step_id: str, time: float) -> Checklist:
    """The display with no step waiting for an answer."""
    if not any(question.step_id == step_id for question in shown.questions):
        return shown
    left = tuple(question for question in shown.questions if question.step_id != step_id)
    state = RunState.AWAITING_INPUT if left or shown.approvals else RunState.RUNNING
    return replace(_doing(shown, "waiting for an answer" if left else "", time), questions=left, state=state)


def _written(shown: Checklist, kind: TextDelta, time: float) -> Checklist:
    if not kind.step_id:
        if not shown.answer_text:  # a reply produces no text before its first token
            shown = _doing(shown, WRITING, time)
        return replace(shown, answer_text=shown.answer_text[: kind.offset] + kind.text)
    line = shown.line(kind.step_id)
    return _change(shown, kind.step_id, replace(line, text=line.text[: kind.offset] + kind.text))


def _progressed(shown: Checklist, kind: Progress, time: float) -> Checklist:
    if kind.step_id:
        activity = one_line(kind.activity)
        words = activity if kind.fraction < 0 else f"{activity} {kind.fraction:.0%}"
        return _change(shown, kind.step_id, replace(shown.line(kind.step_id), activity=words))
    activity = kind.activity or shown.usual_activity
    started = shown.activity_time if activity == shown.activity else time
    return replace(shown, activity=activity, activity_time=started, fraction=kind.fraction)


def _doing(shown: Checklist, activity: str, time: float) -> Checklist:
    return replace(shown, activity=activity, usual_activity=activity, activity_time=time, fraction=-1.0)


def _with_line_for(shown: Checklist, step: PlanStep) -> Checklist:
    """Adds a line for a step that no plan contains."""
    return shown if step.step_id in shown.place else replace(shown, lines=(*shown.lines, *_lines((step,))))


def _change(shown: Checklist, step_id: str, changed: Line) -> Checklist:
    return replace(shown, lines=tuple(changed if line.step_id == step_id else line for line in shown.lines))


def _lines(steps: tuple[PlanStep, ...], before: tuple[Line, ...] = ()) -> tuple[Line, ...]:
    """One line per step of a plan; steps that exist already keep their state."""
    known = {line.step_id: line for line in before}
    return tuple(
        replace(known[step.step_id], title=title_of(step))
        if step.step_id in known
        else Line(step.step_id, title_of(step))
        for step in steps
    )
