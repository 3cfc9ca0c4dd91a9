"""The whole state of the popup, and how choices of the user and happenings change it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from aeon_popup.state import happenings
from aeon_popup.state.drafts import Draft, Drafts, draft_at, returned, tidied, without, written
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
    hotkey: happenings.HotkeySet = field(default_factory=happenings.HotkeySet)

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

    # ------------------------------------------------------------ choices of the user

    def submitted(self, key: str, text: str, session_id: str = "") -> "SessionView":
        """The user sent a request. `key` is its request id: a repeat with the same key creates no second run."""
        fresh = RunView(key, text, session_id=session_id, below=self.shown_key)
        sent = draft_at(self.drafts, self.shown_key) if self.writing else None
        left = self.drafts if sent is None else without(self.drafts, sent)
        return replace(self, drafts=tidied(left), problem="", writing=False).with_shown(fresh)

    def continued(self, key: str, of_key: str, after_seq: int) -> "SessionView":
        """The user continues the failed run `of_key` from its failed step, as a new run that copies the events up to `after_seq`.
        `key` is the request id of that: a repeat with the same key creates no second run.
        """
        failed = self.run(of_key)
        if failed is None:
            return self
        place = RunView(key, failed.text, session_id=failed.session_id, below=failed.key)
        fresh = replace(place, continues=failed.run_id, past_seq=after_seq)
        tried = self.with_changed_run(failed.key, lambda run: replace(run, retry_key=key, note=""))
        return replace(tried, problem="", writing=False).with_shown(fresh)

    def opened(self, key: str, run_id: str, text: str) -> "SessionView":
        """A run of the history is shown; its events follow from the first one."""
        known = next((run for run in self.runs if run.run_id == run_id), None)
        return replace(
            self.with_shown(known or RunView(key, text, run_id)), drafts=tidied(self.drafts), writing=False
        )

    def selected(self, key: str) -> "SessionView":
        """The user chose one of the runs."""
        if self.run(key) is None:
            return self
        return replace(self, shown_key=key, drafts=tidied(self.drafts), writing=False)

    def reply_sent(self, key: str, subject: str) -> "SessionView":
        """The user's answer or decision is on its way; the card waits for the event that confirms it. `subject` is that of
        the question, the approval or the interrupted step.
        """
        return self.with_changed_run(key, lambda run: replace(run, sent=run.sent | {subject}, note=""))

    def stop_asked(self, key: str) -> "SessionView":
        """The user stops the run."""
        return self.with_changed_run(key, lambda run: replace(run, stopping=True))

    def undo_asked(self, key: str) -> "SessionView":
        """The user wants the changes of the run undone; why that failed before is not shown any more."""
        return self.with_changed_run(key, lambda run: replace(run, undoing=True, note=""))

    def start_asked(self) -> "SessionView":
        """The user starts the daemon; why that failed before is not shown any more."""
        return replace(self, starting=True, start_problem="")

    def drafted(self, text: str) -> "SessionView":
        """The text in the prompt changed."""
        return replace(self, drafts=written(self.drafts, self.shown_key, text))

    def reply_drafted(self, key: str, run_id: str, question_id: str, text: str) -> "SessionView":
        """The text in the field of a question changed; `run_id` is the run that asked."""
        return self.with_changed_run(key, lambda run: run.replying(run_id, question_id, text))

    def follow_up_started(self, text: str) -> "SessionView":
        """The user starts to write the next request of the shown run's session, or goes on with its draft; `text` is what was
        typed for that.
        """
        return self if self.shown is None else replace(self.drafted(self.draft + text), writing=True)

    def new_started(self) -> "SessionView":
        """The user starts a request of a new session, or goes on with the one that was begun."""
        return replace(self, shown_key="", drafts=tidied(self.drafts), writing=True)

    # ------------------------------------------------------------ changes of runs

    def noted(self, key: str, message: str) -> "SessionView":
        """Words about a run, which stand below it."""
        return self.with_changed_run(key, lambda run: replace(run, note=message))

    def with_changed_run(self, key: str, change: Callable[[RunView], RunView]) -> "SessionView":
        """The state with this change of a run, if it is kept."""
        return replace(self, runs=tuple(change(run) if run.key == key else run for run in self.runs))

    def with_shown(self, run: RunView) -> "SessionView":
        """The state that shows this run; drops the oldest ended runs beyond the limit, but not the one below which the run was written."""
        runs = [run, *(one for one in self.runs if one.key != run.key)]
        while len(runs) > KEPT_RUNS:
            places = {run.below, *(draft.place for draft in self.drafts if draft.text)}
            droppable = [one for one in runs[1:] if one.ended and one.key not in places]
            if not droppable:
                break
            runs.remove(droppable[-1])
        return replace(self, runs=tuple(runs), shown_key=run.key)


def after(view: SessionView, happening: happenings.Happening) -> SessionView:
    """The state after a happening. Happenings about runs that are not kept change nothing."""
    match happening:
        case happenings.Received(key=key, event=event, time=time):
            return view.with_changed_run(key, lambda run: run.after(event, time))
        case happenings.Accepted(key=key, run_id=run_id, session_id=session_id):
            return view.with_changed_run(key, lambda run: replace(run, run_id=run_id, session_id=session_id))
        case happenings.Refused():
            return _refused(view, happening)
        case happenings.Found(key=key, run_id=run_id, text=text, last_seq=last_seq):
            known = any(run.run_id == run_id for run in view.runs)
            found = RunView(key, text, run_id, past_seq=last_seq)
            return view if known else replace(view, runs=(*view.runs, found))
        case happenings.CallFailed(key=key):
            return view.with_changed_run(key, lambda run: _failed(run, happening))
        case happenings.Undone(key=key, report=report):
            return view.with_changed_run(key, lambda run: replace(run, undo=report, undoing=False, note=""))
        case happenings.LinkUp(socket=socket):
            runs = tuple(replace(run, note="") if run.retry_point else run for run in view.runs)
            up = replace(view, link=Link.UP, socket=socket, runs=runs, problem="")
            return replace(up, starting=False, start_problem="")
        case happenings.LinkDown(socket=socket, message=message):
            down = replace(view, link=Link.DOWN, socket=socket, problem=message)
            return replace(down, daemon_state=READY, daemon_messages=())
        case happenings.StartFailed(message=message):
            return replace(view, starting=False, start_problem=message if view.link is Link.DOWN else "")
        case happenings.DaemonSeen(state=state, messages=messages):
            return replace(view, daemon_state=state, daemon_messages=messages)
        case happenings.HistoryListed(runs=listed):
            return replace(view, history=listed, history_problem="")
        case happenings.HistoryFailed(message=message):
            return replace(view, history_problem=message)


def _failed(run: RunView, failed: happenings.CallFailed) -> RunView:
    """A failed decision about a settled subject is not explained: the words would stand on the next card."""
    if not failed.subject:
        return replace(run, note=failed.message, stopping=False, undoing=False)
    if failed.subject not in run.subjects:
        return run
    return replace(run, note=failed.message, sent=run.sent - {failed.subject})


def _refused(view: SessionView, refused: happenings.Refused) -> SessionView:
    """The request becomes a draft again where it was written. If it is still shown, the user goes on there. A failed run that was
    not continued says why; if it never can be, Retry sends its request again.
    """
    key, message = refused.key, refused.message
    run = view.run(key)
    if run is None:
        return view
    shown = view.shown_key == key
    runs = tuple(one for one in view.runs if one.key != key)
    # One that was sent twice is below itself.
    place = run.below if run.below != key and view.run(run.below) is not None else ""
    if run.continues and place:
        kept = replace(view, runs=runs)
        kept = kept.with_changed_run(
            place, lambda failed: failed.not_continued(message, lasting=refused.lasting)
        )
        return replace(kept, shown_key=place) if shown else kept
    again = Draft(run.text, place, "" if run.continues else key)  # a fork and a request do not share an id
    drafts = returned(view.drafts, again, shown=shown)
    kept = replace(view, runs=runs, drafts=drafts, problem=message)
    return replace(kept, shown_key=place, writing=True) if shown else kept
