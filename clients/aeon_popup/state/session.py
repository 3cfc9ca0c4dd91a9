"""The whole state of the popup, and how a happening changes it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from aeon_popup.state.drafts import Draft, Drafts, draft_at, returned, tidied, without, written
from aeon_popup.state.happenings import (
    Accepted,
    CallFailed,
    Continued,
    DaemonSeen,
    Drafted,
    FollowUpStarted,
    Found,
    Happening,
    HistoryFailed,
    HistoryListed,
    HotkeySet,
    LinkDown,
    LinkUp,
    NewStarted,
    Opened,
    Received,
    Refused,
    ReplyDrafted,
    Selected,
    Sent,
    StartAsked,
    StartFailed,
    StopAsked,
    Submitted,
    UndoAsked,
    Undone,
    Unopened,
)
from aeon_popup.state.run_view import RunView, Stage
from aeond_client.records.runs import RunSummary

# Runs that are kept; beyond that the oldest ended ones without a draft are dropped and can be opened from the history.
KEPT_RUNS = 16
# The state of a daemon that needs no words.
READY = "ready"


class Link(StrEnum):
    """The state of the connection to the daemon."""

    UNKNOWN = "unknown"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class SessionView:
    """The popup's state. `shown_key` names the shown run; "" shows the prompt alone.

    `drafts` has the requests that were begun. `starting` is set while the daemon is being started, and `start_problem` says why that failed. `history` is None until the
    runs were listed, and `history_problem` says why they could not be. `hotkey` is empty until it was bound or could not be.
    """

    runs: tuple[RunView, ...] = ()
    shown_key: str = ""
    drafts: Drafts = ()
    writing: bool = True
    link: Link = Link.UNKNOWN
    socket: str = ""
    problem: str = ""
    daemon_state: str = READY
    daemon_messages: tuple[str, ...] = ()
    starting: bool = False
    start_problem: str = ""
    history: tuple[RunSummary, ...] | None = None
    history_problem: str = ""
    hotkey: HotkeySet = field(default_factory=HotkeySet)

    @property
    def shown(self) -> RunView | None:
        return self.run(self.shown_key)

    def run(self, key: str) -> RunView | None:
        return next((run for run in self.runs if run.key == key), None) if key else None

    @property
    def session_id(self) -> str:
        """The session of the next request, which is that of the shown run; "" for a new one."""
        return self.shown.session_id if self.shown else ""

    @property
    def draft(self) -> str:
        """The text that was begun for a new request, or below the shown run."""
        return draft_at(self.drafts, self.shown_key).text

    @property
    def draft_key(self) -> str:
        """The request id under which the text that is being written is sent again; "" for a request that is new."""
        return draft_at(self.drafts, self.shown_key).key if self.writing else ""

    @property
    def stage(self) -> Stage:
        """The stage that the popup shows. An ended run stays readable without a daemon."""
        run = self.shown
        if self.link is Link.DOWN and (run is None or not run.ended or self.writing):
            return Stage.UNAVAILABLE
        return Stage.PROMPT if run is None else run.stage

    @property
    def others_running(self) -> int:
        """The number of runs that are not shown and go on by themselves."""
        return sum(not (run.ended or run.needs_person or run.key == self.shown_key) for run in self.runs)

    @property
    def others_waiting(self) -> int:
        """The number of runs that are not shown and wait for the user."""
        return sum(run.needs_person and run.key != self.shown_key for run in self.runs)


def after(view: SessionView, happening: Happening) -> SessionView:
    """The state after a happening. Happenings about runs that are not kept change nothing."""
    match happening:
        case Received(key=key, event=event, time=time):
            return _changed(view, key, lambda run: run.after(event, time))
        case Submitted(key=key, text=text, session_id=session_id):
            fresh = RunView(key, text, session_id=session_id, below=view.shown_key)
            left = (
                without(view.drafts, draft_at(view.drafts, view.shown_key)) if view.writing else view.drafts
            )
            return _with_run(replace(view, drafts=tidied(left), problem="", writing=False), fresh)
        case Continued():
            return _continued(view, happening)
        case Accepted(key=key, run_id=run_id, session_id=session_id):
            return _changed(view, key, lambda run: replace(run, run_id=run_id, session_id=session_id))
        case Refused(key=key):
            return _refused(view, key, happening)
        case Opened(key=key, run_id=run_id, text=text):
            known = next((run for run in view.runs if run.run_id == run_id), None)
            run = known or RunView(key, text, run_id)
            return replace(_with_run(view, run), drafts=tidied(view.drafts), writing=False)
        case Found(key=key, run_id=run_id, text=text, last_seq=last_seq):
            known = next((run for run in view.runs if run.run_id == run_id), None)
            found = RunView(key, text, run_id, past_seq=last_seq)
            return view if known else replace(view, runs=(*view.runs, found))
        case CallFailed() | Sent() | StopAsked() | UndoAsked() | Undone():
            return _replied(view, happening)
        case LinkUp(socket=socket):
            runs = tuple(replace(run, note="") if run.retry_point else run for run in view.runs)
            up = replace(view, link=Link.UP, socket=socket, runs=runs, problem="")
            return replace(up, starting=False, start_problem="")
        case StartAsked():
            return replace(view, starting=True, start_problem="")
        case StartFailed(message=message):
            return replace(view, starting=False, start_problem=message if view.link is Link.DOWN else "")
        case LinkDown(socket=socket, message=message):
            down = replace(view, link=Link.DOWN, socket=socket, problem=message)
            return replace(down, daemon_state=READY, daemon_messages=())
        case DaemonSeen(state=state, messages=messages):
            return replace(view, daemon_state=state, daemon_messages=messages)
        case HistoryListed(runs=runs):
            return replace(view, history=runs, history_problem="")
        case HistoryFailed(message=message):
            return replace(view, history_problem=message)
        case Unopened(key=key, message=message):
            return _changed(view, key, lambda run: replace(run, note=message))
        case HotkeySet():
            return replace(view, hotkey=happening)
        case _:
            return _written(view, happening)


def _replied(view: SessionView, happening: CallFailed | Sent | StopAsked | UndoAsked | Undone) -> SessionView:
    match happening:
        case CallFailed(key=key):
            return _changed(view, key, lambda run: _failed(run, happening))
        case Sent(key=key, subject=subject):
            return _changed(view, key, lambda run: replace(run, sent=run.sent | {subject}, note=""))
        case UndoAsked(key=key):
            return _changed(view, key, lambda run: replace(run, undoing=True, note=""))
        case StopAsked(key=key):
            return _changed(view, key, lambda run: replace(run, stopping=True))
        case Undone(key=key, report=report):
            return _changed(view, key, lambda run: replace(run, undo=report, undoing=False, note=""))


def _failed(run: RunView, failed: CallFailed) -> RunView:
    """A failed decision about a settled subject is not explained: the words would stand on the next card."""
    if not failed.subject:
        return replace(run, note=failed.message, stopping=False, undoing=False)
    if failed.subject not in run.subjects:
        return run
    return replace(run, note=failed.message, sent=run.sent - {failed.subject})


def _written(view: SessionView, happening: Happening) -> SessionView:
    """Changes of the prompt."""
    match happening:
        case Drafted(text=text):
            return replace(view, drafts=written(view.drafts, view.shown_key, text))
        case ReplyDrafted(key=key):
            return _changed(
                view, key, lambda run: run.replying(happening.run_id, happening.question_id, happening.text)
            )
        case FollowUpStarted(text=text) if view.shown is not None:
            drafts = written(view.drafts, view.shown_key, view.draft + text)
            return replace(view, drafts=drafts, writing=True)
        case NewStarted():
            return replace(view, shown_key="", drafts=tidied(view.drafts), writing=True)
        case Selected(key=key) if view.run(key) is not None:
            return replace(view, shown_key=key, drafts=tidied(view.drafts), writing=False)
        case _:
            return view


def _continued(view: SessionView, asked: Continued) -> SessionView:
    """Shows the run that continues a failed one."""
    failed = view.run(asked.of_key)
    if failed is None:
        return view
    place = RunView(asked.key, failed.text, session_id=failed.session_id, below=failed.key)
    fresh = replace(place, continues=failed.run_id, past_seq=asked.after_seq)
    tried = _changed(view, failed.key, lambda run: replace(run, retry_key=asked.key, note=""))
    return _with_run(replace(tried, problem="", writing=False), fresh)


def _refused(view: SessionView, key: str, refused: Refused) -> SessionView:
    """The request becomes a draft again where it was written. If it is still shown, the user goes on there. A failed run that was
    not continued says why; if it never can be, Retry sends its request again.
    """
    run, message = view.run(key), refused.message
    if run is None:
        return view
    shown = view.shown_key == key
    # One that was sent twice is below itself.
    place = run.below if run.below != key and view.run(run.below) is not None else ""
    if run.continues and place:
        kept = replace(view, runs=tuple(one for one in view.runs if one.key != key))
        kept = _changed(kept, place, lambda failed: failed.not_continued(message, lasting=refused.lasting))
        return replace(kept, shown_key=place) if shown else kept
    again = Draft(run.text, place, "" if run.continues else key)  # a fork and a request do not share an id
    drafts = returned(view.drafts, again, shown=shown)
    runs = tuple(one for one in view.runs if one.key != key)
    kept = replace(view, runs=runs, drafts=drafts, problem=message)
    return replace(kept, shown_key=place, writing=True) if shown else kept


def _with_run(view: SessionView, run: RunView) -> SessionView:
    """Shows the run; drops the oldest ended runs beyond the limit, but not the one below which the run was written."""
    runs = [run, *(one for one in view.runs if one.key != run.key)]
    while len(runs) > KEPT_RUNS:
        places = {run.below, *(draft.place for draft in view.drafts if draft.text)}
        droppable = [one for one in runs[1:] if one.ended and one.key not in places]
        if not droppable:
            break
        runs.remove(droppable[-1])
    return replace(view, runs=tuple(runs), shown_key=run.key)


def _changed(view: SessionView, key: str, change: Callable[[RunView], RunView]) -> SessionView:
    runs = tuple(change(run) if run.key == key else run for run in view.runs)
    return replace(view, runs=runs)
