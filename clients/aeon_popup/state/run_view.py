"""One run as the popup shows it, folded from its events."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from aeon_cli.runs.checklist import Checklist, Line
from aeon_cli.text.printable import one_line
from aeon_cli.text.titles import title_of
from aeon_popup.state.continuing import RetryPoint, Start, retry_point, with_start
from aeon_popup.state.happenings import Approval, subject_of
from aeond_client import events
from aeond_client.records.judgements import Question
from aeond_client.records.runs import Plan, PlanStep, Resolution, RunState, StepState, UndoReport
from aeond_client.records.tools import RecordedEffect

# The tool whose call is a question to a person.
_ASKING = "request_user_input"
# The last untrusted source of a run says "more" if there are others, as the daemon records it.
_MOST_SOURCES = 16
_MORE_SOURCES = "more"
_OVER = {StepState.SUCCEEDED, StepState.FAILED, StepState.INVALID, StepState.SKIPPED}


class Stage(StrEnum):
    """What the popup shows."""

    PROMPT = "prompt"
    PLANNING = "planning"
    RUNNING = "running"
    QUESTION = "question"
    APPROVAL = "approval"
    DECISION = "decision"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the run `run_id`, which is the shown run or one below it."""

    run_id: str
    question: Question

    @property
    def subject(self) -> str:
        return subject_of(self.run_id, self.question.question_id)


@dataclass(frozen=True, slots=True)
class RunView:
    """A run. `key` is its request id, known before the daemon has named the run; `run_id` is "" until then.

    `titles` has the descriptions of steps by step id. `seqs` has the number of the last event of the run and of each run below it, so that an event that arrives
    twice counts once. `sent` has the subjects of questions, approvals and steps whose reply is on its way, and `replies` has
    what was typed for a question so far, by the run that asked and the question. `effects` are the changes of the steps
    that have ended. Events up to `past_seq` happened before the popup was started, or in the run that this one continues. `below`
    is the key of the run below which the request was written. `continues` is the id of the run whose events this one has copied, and `retry_key` the request id under
    which this one may have been continued already. `starts` has the start of each step. `taints` has the untrusted sources that the run and each run below
    it have read, by run id.
    """

    key: str
    text: str
    run_id: str = ""
    session_id: str = ""
    steps: Checklist = field(default_factory=Checklist)
    seqs: dict[str, int] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    tool_calls: int = 0
    effects: tuple[RecordedEffect, ...] = ()
    questions: tuple[Asked, ...] = ()
    approvals: tuple[Approval, ...] = ()
    sent: frozenset[str] = frozenset()
    replies: dict[tuple[str, str], str] = field(default_factory=dict)
    below: str = ""
    continues: str = ""
    retry_key: str = ""
    starts: Mapping[str, Start] = field(default_factory=dict)
    taints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    past_seq: int = 0
    stopping: bool = False
    undoing: bool = False
    undo: UndoReport | None = None
    note: str = ""

    @property
    def stage(self) -> Stage:
        """The stage of the run itself, whether or not a daemon is available."""
        match self.steps.state:
            case RunState.FAILED:
                return Stage.FAILED
            case RunState.CANCELLED:
                return Stage.CANCELLED
            case RunState.SUCCEEDED | RunState.EXPIRED:
                return Stage.DONE
            case _:
                pass
        if self.approvals:
            return Stage.APPROVAL
        if self.questions:
            return Stage.QUESTION
        if self.steps.needs_decision:
            return Stage.DECISION
        return Stage.RUNNING if self.steps.lines else Stage.PLANNING

    @property
    def is_past(self) -> bool:
        """Whether this is an earlier state of the run, because some of the old events are missing."""
        return self.seqs.get(self.run_id, 0) < self.past_seq

    @property
    def ended(self) -> bool:
        return self.steps.state.ended

    @property
    def needs_person(self) -> bool:
        return self.stage in {Stage.QUESTION, Stage.APPROVAL, Stage.DECISION}

    @property
    def _asked(self) -> tuple[Approval | Asked, ...]:
        return (*self.approvals, *self.questions)

    @property
    def subjects(self) -> tuple[str, ...]:
        """Identifies everything about which a person decides, in the order in which it is shown."""
        asked = tuple(one.subject for one in self._asked)
        if not self.steps.needs_decision:
            return asked
        step = self.unknown_step
        return (*asked, subject_of(self.run_id, step.step_id if step else ""))

    @property
    def subject(self) -> str:
        """Identifies the approval, the question or the step about which a person decides now; "" if there is none."""
        return next(iter(self.subjects), "")

    @property
    def over_count(self) -> int:
        """The number of steps that have ended."""
        return sum(line.state in _OVER for line in self.steps.lines)

    @property
    def changes(self) -> tuple[RecordedEffect, ...]:
        """What the run changed. The list of an answer is limited in length; a run without an answer may have changed things,
        too.
        """
        return self.steps.answer.effects if self.steps.answer else self.effects

    @property
    def retry_point(self) -> RetryPoint | None:
        """The point from which Retry continues the run; None if Retry sends the request again. A continued run may work in
        another folder and cannot undo what this one changed, so that a run with changes is not continued.
        """
        possible = self.stage is Stage.FAILED and not self.changes
        return retry_point(self.steps, self.starts) if possible else None

    @property
    def undoable(self) -> bool:
        """Whether the run recorded changes that were not yet undone, and are not being undone."""
        return self.ended and bool(self.changes) and self.undo is None and not self.undoing

    @property
    def unknown_step(self) -> Line | None:
        """The interrupted step about which a person decides; None if the decision is about the run."""
        return next((line for line in self.steps.lines if line.state is StepState.UNKNOWN), None)

    @property
    def waiting_steps(self) -> frozenset[str]:
        """The steps that wait for a person: their ids."""
        own = {one.question.step_id for one in self.questions if one.run_id == self.run_id}
        mine = (one.request for one in self.approvals if one.run_id == self.run_id)
        held = {step_id for request in mine for step_id in request.step_ids}
        below = {self.parents.get(one.run_id, "") for one in self._asked}
        return frozenset(own | held | below)

    @property
    def taint(self) -> tuple[str, ...]:
        """The untrusted sources that the run whose approval is shown has read."""
        return self.taints.get(self.approvals[0].run_id, ()) if self.approvals else ()

    def reply_to(self, asked: Asked) -> str:
        """What the user has typed for a question and not sent."""
        return self.replies.get((asked.run_id, asked.question.question_id), "")

    def replying(self, run_id: str, question_id: str, text: str) -> "RunView":
        """The run after the user has changed the text for a question."""
        return replace(self, replies=self.replies | {(run_id, question_id): text})

    def not_continued(self, message: str, *, lasting: bool) -> "RunView":
        """The failed run after it was not continued, for the reason in the message."""
        left = replace(self, starts={}, retry_key="") if lasting else self
        return replace(left, note=message)

    def title_of(self, line: Line) -> str:
        """The planner's description of the step, else its tool with the arguments."""
        return self.titles.get(line.step_id) or line.title

    def after(self, event: events.Event, now: float) -> "RunView":
        """The run after this event; unchanged if the event was seen before. `now` is the time of a live
        update, in Unix seconds.
        """
        if event.seq and event.seq <= self.seqs.get(event.run_id, 0):
            return self
        seqs = self.seqs | {event.run_id: event.seq} if event.seq else self.seqs
        seen = replace(self, seqs=seqs, taints=_with_taint(self.taints, event))
        run_id = self.run_id or event.run_id
        after = _own(seen, event, now) if event.run_id == run_id else _below(seen, event, now)
        return replace(after, sent=after.sent.intersection(after.subjects)) if after.sent else after


def _with_taint(taints: Mapping[str, tuple[str, ...]], event: events.Event) -> Mapping[str, tuple[str, ...]]:
    match event.kind:
        case (
            events.RunCreated(taint=read)
            | events.ReferencesResolved(taint=read)
            | events.StepEnded(taint=read)
            | events.PolicyDecided(adds=read)
        ) if read:
            return {**taints, event.run_id: _joined(taints.get(event.run_id, ()), read)}
    return taints


def _joined(known: tuple[str, ...], read: tuple[str, ...]) -> tuple[str, ...]:
    """The sources of both, by the rule of the daemon."""
    every = {*known, *read}
    sources = sorted(every - {_MORE_SOURCES})
    if len(sources) < _MOST_SOURCES and _MORE_SOURCES not in every:
        return tuple(sources)
    return (*sources[: _MOST_SOURCES - 1], _MORE_SOURCES)


def _own(run: RunView, event: events.Event, now: float) -> RunView:
    starts = with_start(run.starts, run.steps, event)
    run = replace(run, steps=run.steps.after(event, now), starts=starts)
    match event.kind:
        case events.PlanAdopted(plan=plan) | events.PlanRefined(plan=plan):
            return replace(run, titles=run.titles | _titles(plan))
        case events.RunCreated(text=text, session_id=session_id, plan=plan, forked_run_id=forked):
            run = replace(run, titles=_titles(plan) if plan else {}, continues=forked)
            return replace(run, text=text, session_id=session_id, run_id=event.run_id)
        case events.StepEnded(used=used, step_id=step_id, effects=effects):
            left = tuple(
                one for one in run.questions if (one.run_id, one.question.step_id) != (event.run_id, step_id)
            )
            calls = run.tool_calls + used.tool_calls
            return replace(run, tool_calls=calls, questions=left, effects=(*run.effects, *effects))
        case events.ChildRunStarted(step_id=step_id, child_run_id=child_run_id):
            return replace(run, parents=run.parents | {child_run_id: step_id})
        case events.ChildRunEnded(child_run_id=child_run_id):
            return _without_run(run, child_run_id)
        case events.RunEnded():
            return replace(run, questions=(), approvals=(), replies={}, note="")
        case _:
            return _asked(run, event)


def _below(run: RunView, event: events.Event, now: float) -> RunView:
    """A run below shows its current step on the line of the step that started it."""
    step_id = run.parents.get(event.run_id, "")
    match event.kind:
        case events.ChildRunStarted(child_run_id=child_run_id):
            return replace(run, parents=run.parents | {child_run_id: step_id})
        case events.StepStarted(step=step) if step_id:
            live = events.Event(
                run.run_id, 0, event.time, 0.0, events.Progress(title_of(step), step_id=step_id)
            )
            return replace(run, steps=run.steps.after(live, now))
        case events.RunEnded():
            return _without_run(run, event.run_id)
        case _:
            return _asked(run, event)


def _asked(run: RunView, event: events.Event) -> RunView:
    """What a person is asked, by the run itself or by one below it."""
    match event.kind:
        case events.InputRequested(question=question):
            return replace(run, questions=(*run.questions, Asked(event.run_id, question)))
        case events.InputAnswered(question_id=question_id):
            answered = (event.run_id, question_id)
            left = tuple(one for one in run.questions if (one.run_id, one.question.question_id) != answered)
            replies = {key: text for key, text in run.replies.items() if key != answered}
            return replace(run, questions=left, replies=replies, note="")
        case events.ApprovalRequested():
            return _held(run, Approval(event.run_id, event.kind.approval), event.kind.step_id)
        case events.ApprovalDecided(approval_id=approval_id):
            decided = (event.run_id, approval_id)
            kept = tuple(one for one in run.approvals if (one.run_id, one.request.approval_id) != decided)
            return replace(run, approvals=kept, note="")
        case (
            events.CancelRequested()
            | events.BudgetExhausted()
            | events.StepResolved(step_id="", resolution=Resolution.ABORT)
        ):
            return _without_run(run, event.run_id)
        case _:
            return run


def _held(run: RunView, approval: Approval, step_id: str) -> RunView:
    """The event of the first step opens an approval. That of another step, which waits for the same one, may come after the
    decision.
    """
    opens = (step_id,) == approval.request.step_ids[:1] or not step_id
    if opens and approval not in run.approvals:
        return replace(run, approvals=(*run.approvals, approval))
    return run


def _titles(plan: Plan) -> dict[str, str]:
    """The descriptions of a plan's steps, where there are any; of a question what it asks."""
    described = {step.step_id: _description(step) for step in plan.steps}
    return {step_id: one_line(words) for step_id, words in described.items() if words}


def _description(step: PlanStep) -> str:
    """The description of a step. Where a planner gives none, the daemon writes the tool and its arguments: of a question, the
    prompt says more.
    """
    if step.tool != _ASKING or not (step.description or _ASKING).startswith(_ASKING):
        return step.description
    return str(step.arguments.get("prompt", ""))


def _without_run(run: RunView, run_id: str) -> RunView:
    """Closes the questions and approvals of a run."""
    return replace(
        run,
        questions=tuple(one for one in run.questions if one.run_id != run_id),
        approvals=tuple(one for one in run.approvals if one.run_id != run_id),
    )
