"""Applies happenings to the state and the user's choices to the daemon: the middle between window and link."""

import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from aeon_cli.text.printable import shortened
from aeon_popup.state import happenings
from aeon_popup.state.happenings import Approval, Happening, HotkeySet
from aeon_popup.state.notices import HOTKEY, Notice, choice_of, hotkey_notice, notice_of
from aeon_popup.state.run_view import Asked, RunView, Stage
from aeon_popup.state.session import Link, SessionView, after
from aeon_popup.trace import Trace
from aeond_client.records.runs import Resolution

# Characters of an address.
_SHOWN = 200
_NO_OPENER = "the desktop has no portal that took it, and xdg-open (of xdg-utils) could not be started."
_CONTINUED = uuid.uuid5(uuid.NAMESPACE_URL, "aeon-popup:continued")


class Daemon(Protocol):
    """The calls that the controller makes; `background.link.Link` implements them."""

    def look(self, *, visible: bool) -> None: ...
    def submit(self, key: str, text: str, session_id: str) -> None: ...
    def fork(self, key: str, run_id: str, after_seq: int, session_id: str) -> None: ...
    def follow(self, key: str, run_id: str) -> None: ...
    def cancel(self, key: str, run_id: str) -> None: ...
    def answer(self, key: str, run_id: str, question_id: str, answer: Any) -> None: ...
    def resolve(self, key: str, run_id: str, resolution: Resolution, step_id: str) -> None: ...
    def decide(self, key: str, approval: Approval, *, approved: bool, scope: str) -> None: ...
    def undo(self, key: str, run_id: str) -> None: ...
    def list_history(self) -> None: ...
    def start_daemon(self) -> None: ...


class Screen(Protocol):
    """The window; `ui.popup.Popup` implements it."""

    def show_view(self, view: SessionView) -> None: ...
    def toggle(self) -> None: ...
    def appear(self) -> None: ...
    def hide(self) -> None: ...


class Controller:
    """Owns the state. All methods belong to the thread of the window; `notify` shows a notification and
    `close_notice` closes the one of a run.
    """

    def __init__(
        self,
        daemon: Daemon,
        trace: Trace,
        *,
        notify: Callable[[Notice], None],
        close_notice: Callable[[str], None],
    ) -> None:
        self._daemon = daemon
        self._trace = trace
        self._notify = notify
        self._close_notice = close_notice
        self._visible = False
        self.screen: Screen | None = None
        self.view = SessionView()

    def apply(self, batch: list[Happening]) -> None:
        """Applies happenings in order and draws once."""
        before = self.view
        for happening in batch:
            self.view = after(self.view, happening)
            self._note(happening)
        self._draw(before)

    def _take(self, view: SessionView) -> None:
        """Takes this state and draws it."""
        before, self.view = self.view, view
        self._draw(before)

    def _draw(self, before: SessionView) -> None:
        if self.screen is not None:
            self.screen.show_view(self.view)
        if self._visible and self.view.shown_key not in ("", before.shown_key):
            self._close_notice(self.view.shown_key)
        for run in self.view.runs:
            seen = self._visible and run.key == self.view.shown_key
            notice = None if seen else notice_of(before.run(run.key), run)
            if notice is not None:
                self._notify(notice)

    def _note(self, happening: Happening) -> None:
        match happening:
            case happenings.Received(event=event):
                self._trace("event", seq=event.seq, run=event.run_id, kind=type(event.kind).__name__)
            case (
                happenings.CallFailed(message=message)
                | happenings.StartFailed(message=message)
                | happenings.HistoryFailed(message=message)
            ):
                self._trace("failed", message=message)
            case happenings.Accepted(key=key, run_id=run_id):
                self._cancel_if_stopped(key, run_id)
            case happenings.Undone() | happenings.Refused() | happenings.HistoryListed():
                name = type(happening).__name__.removesuffix("Listed").lower()
                self._trace(name)
            case _:
                pass

    # ------------------------------------------------------------ the window

    def visible(self) -> None:
        self._visible = True
        self._daemon.look(visible=True)
        if self.view.shown is not None:
            self._close_notice(self.view.shown_key)

    def hidden(self) -> None:
        """A run that was shown and still waits for the user is notified from now on."""
        self._visible = False
        self._daemon.look(visible=False)
        run = self.view.shown
        if run is not None and run.needs_person and (notice := notice_of(None, run)):
            self._notify(notice)

    def draft(self, text: str) -> None:
        self._take(self.view.drafted(text))

    def draft_reply(self, asked: Asked, text: str) -> None:
        run = self.view.shown
        if run is not None:
            self._take(self.view.reply_drafted(run.key, asked.run_id, asked.question.question_id, text))

    def follow_up(self, text: str) -> None:
        run = self.view.shown
        if run is not None and run.ended:
            self._take(self.view.follow_up_started(text))

    def start_new(self) -> None:
        self._take(self.view.new_started())

    # ------------------------------------------------------------ runs

    def submit(self, text: str) -> None:
        key = self.view.draft_key or str(uuid.uuid4())
        session_id = self.view.session_id
        self._take(self.view.submitted(key, text, session_id))
        self._daemon.submit(key, text, session_id)

    def stop(self) -> None:
        """Cancels the shown run; one that is being sent is cancelled once the daemon has it."""
        run = self.view.shown
        if run is not None and not run.ended:
            self._take(self.view.stop_asked(run.key))
            if run.run_id:
                self._daemon.cancel(run.key, run.run_id)

    def _cancel_if_stopped(self, key: str, run_id: str) -> None:
        run = self.view.run(key)
        if run is not None and run.stopping:
            self._daemon.cancel(key, run_id)

    def retry(self) -> None:
        """Starts the daemon if none is running, else sends the draft, or continues the failed run, or sends its request again."""
        run = self.view.shown
        waits = run is not None and run.retry_point is not None and self.view.link is Link.DOWN
        if self.view.stage is Stage.UNAVAILABLE or waits:
            if not self.view.starting:
                self._take(self.view.start_asked())
                self._daemon.start_daemon()
        elif self.view.writing and self.view.draft.strip():
            self.submit(self.view.draft.strip())
        elif run is not None and run.retry_point is not None:
            self._continue(run, run.retry_point.after_seq)
        elif run is not None and run.stage in {Stage.FAILED, Stage.CANCELLED}:
            self.submit(run.text)

    def _continue(self, run: RunView, after_seq: int) -> None:
        """Continues a failed run once: a repeat, also after a lost reply or in another popup, has the same request id."""
        key = str(uuid.uuid5(_CONTINUED, f"{run.run_id}/{after_seq}"))
        if self.view.run(key) is None:
            self._take(self.view.continued(key, run.key, after_seq))
            self._daemon.fork(key, run.run_id, after_seq, run.session_id)
        else:
            self._take(self.view.selected(key))

    def answer(self, asked: Asked, value: Any) -> None:
        run = self.view.shown
        if run is not None:
            self._trace("answered")
            self._answer(run.key, asked, value)

    def _answer(self, key: str, asked: Asked, value: Any) -> None:
        self._take(self.view.reply_sent(key, asked.subject))
        self._daemon.answer(key, asked.run_id, asked.question.question_id, value)

    def decide(self, approval: Approval, *, approved: bool, scope: str = "once") -> None:
        run = next((run for run in self.view.runs if approval in run.approvals), None)
        if run is not None:
            self._trace("decided", approved=approved, scope=scope)
            self._take(self.view.reply_sent(run.key, approval.subject))
            self._daemon.decide(run.key, approval, approved=approved, scope=scope)

    def resolve(self, resolution: Resolution) -> None:
        run = self.view.shown
        if run is not None and run.run_id:
            self._take(self.view.reply_sent(run.key, run.subject))
            step = run.unknown_step
            self._daemon.resolve(run.key, run.run_id, resolution, step.step_id if step else "")

    def undo(self) -> None:
        run = self.view.shown
        if run is not None and run.undoable:
            self._take(self.view.undo_asked(run.key))
            self._daemon.undo(run.key, run.run_id)

    def show_history(self) -> None:
        self._daemon.list_history()

    def open_run(self, run_id: str) -> None:
        """Shows a run; one that is not kept any more is read from its first event."""
        known = next((run for run in self.view.runs if run.run_id == run_id), None)
        if known is not None:
            self._take(self.view.selected(known.key))
            return
        summary = next((run for run in self.view.history or () if run.run_id == run_id), None)
        key = happenings.key_of(run_id)
        self._take(self.view.opened(key, run_id, summary.text if summary else ""))
        self._daemon.follow(key, run_id)

    # ------------------------------------------------------------ the desktop

    def act(self, action: str) -> None:
        """An action of the hotkey or of another program: toggle, show, hide or new."""
        if self.screen is None:
            return
        match action:
            case "toggle":
                self.screen.toggle()
            case "show":
                self.screen.appear()
            case "hide":
                self.screen.hide()
            case "new":
                self.start_new()
                self.screen.appear()
            case _:
                pass

    def set_hotkey(self, hotkey: HotkeySet) -> None:
        """Without a hotkey that the user could press, a notification says so, once for each reason."""
        before, notice = hotkey_notice(self.view.hotkey), hotkey_notice(hotkey)
        self._take(replace(self.view, hotkey=hotkey))
        if notice is None and before is not None:
            self._close_notice(HOTKEY)
        elif notice is not None and notice != before and not self._visible:
            self._notify(notice)

    def note_unopened(self, address: str) -> None:
        """Nothing could open a link of the shown answer: the window says so."""
        run = self.view.shown
        if run is not None:
            message = f"The link {shortened(address, _SHOWN)} was not opened: {_NO_OPENER}"
            self._trace("failed", message=message)
            self._take(self.view.noted(run.key, message))

    def reply(self, key: str, action: str) -> None:
        """The user chose an action of a run's notification; that about the hotkey only opens the window."""
        if key == HOTKEY and self.screen is not None:
            self.screen.appear()
        run = self.view.run(key)
        if run is None or self.screen is None:
            return
        chosen = choice_of(action, run)
        if isinstance(chosen, bool):
            self.decide(run.approvals[0], approved=chosen)
        elif isinstance(chosen, str):
            self._answer(key, run.questions[0], chosen)
        else:
            self._take(self.view.selected(key))
            self.screen.appear()


def wants_motion() -> bool:
    """Whether animations are wanted: AEON_POPUP_MOTION=reduced turns them off."""
    return os.environ.get("AEON_POPUP_MOTION", "") != "reduced"
