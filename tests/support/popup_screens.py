"""Screens of real sessions, compared with the window as it draws itself without one."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import xcffib.xproto
from PySide6.QtGui import QImage

from aeon_popup.hotkey.x11 import connect
from aeon_popup.state import happenings
from aeon_popup.state.session import SessionView, after
from aeon_popup.ui.theme import DARK, TOP, WIDTH, Palette
from aeond_client import Client, RunOptions
from aeond_client.events import ApprovalRequested, EventKind, InputRequested
from aeond_client.records.runs import Plan, PlanStep
from tests.support.compared_pictures import check_picture
from tests.support.desktop_session import DEADLINE_SECONDS, Popup
from tests.support.popup_pictures import panel_of
from tests.support.popup_script import COLOURS, NOTE, QUESTION

_SCREEN_WIDTH, _SCREEN_HEIGHT = 1280, 800
# The corners of the prompt, which are smooth only where the screen is composited, are 0.3 % of it; the time in the footer goes on.
_MOST_SHARE = 0.005


def x11_screen(display: str) -> QImage:
    """The picture on the screen of an X server."""
    connection = connect(display)
    try:
        setup = connection.get_setup()
        root = setup.roots[connection.pref_screen]
        size = (root.width_in_pixels, root.height_in_pixels)
        pixmap = xcffib.xproto.ImageFormat.ZPixmap
        data = connection.core.GetImage(pixmap, root.root, 0, 0, *size, 0xFFFFFFFF).reply().data
        return QImage(bytes(data.buf()), *size, QImage.Format.Format_RGB32).copy()
    finally:
        connection.disconnect()


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen of 1280 x 800 that `take` takes pictures of. `top` is where the panel begins, if not where it does on X11."""

    name: str
    take: Callable[[], QImage]
    top: int = int(_SCREEN_HEIGHT * TOP)
    palette: Palette = DARK

    def compare(self, state: str, view: SessionView) -> None:
        """Compares the panel on the screen with the state as the window draws it by itself."""
        expected = panel_of(state, view, self.palette, time.time())
        left = (_SCREEN_WIDTH - WIDTH) // 2
        check_picture(
            f"{self.name}-{state}-{self.palette.name}",
            lambda: self.take().copy(left, self.top, expected.width(), expected.height()),
            expected,
            DEADLINE_SECONDS,
            most=_MOST_SHARE,
        )


def opened_run(view: SessionView, client: Client, run_id: str, last: type[EventKind]) -> SessionView:
    """The state after the run was opened from the history, with its events up to the first of this kind."""
    view = view.opened("opened", run_id, client.get_run(run_id).text)
    with client.watch(run_id) as events:
        for event in events:
            view = after(view, happenings.Received("opened", event, event.time))
            if isinstance(event.kind, last):
                break
    return view


def check_screens(popup: Popup, socket: str, screen: Screen) -> None:
    """Compares the empty prompt, the answer of a run, and a question.

    The change of the run is undone: later tests with the same daemon need a memory without it.
    """
    popup.open()
    view = after(SessionView(), happenings.LinkUp(socket))
    screen.compare("prompt", view)
    since = popup.seen()
    popup.type(NOTE)
    popup.press("Return")
    run_id = popup.wait_for("stage", since, stage="done")["run"]
    view = after(view.submitted("k", NOTE), happenings.Accepted("k", run_id, "s"))
    with Client(socket) as client:
        with client.watch(run_id) as events:
            for event in events:
                view = after(view, happenings.Received("k", event, event.time))
        assert client.undo_run(run_id).undone
        screen.compare("done", view)
        plan = Plan(QUESTION, (PlanStep("s1", "Ask for the colour", "request_user_input", COLOURS),))
        asking = client.create_run(QUESTION, RunOptions(plan=plan)).run_id
        view = opened_run(view.new_started(), client, asking, InputRequested)
        since = _open_newest(popup, "question", asking)
        screen.compare("question", view)
        popup.choose("alt+1")
        popup.wait_for("stage", since, stage="done", run=asking)


def check_approval(popup: Popup, socket: str, screen: Screen) -> None:
    """Compares the approval of a call of the tool `send`, about which the policy asks."""
    popup.open()
    step = PlanStep("s1", "send it", "send", {"gate": "", "seconds": 0.0})
    with Client(socket) as client:
        run_id = client.create_run("send it", RunOptions(plan=Plan("send it", (step,)))).run_id
        view = after(SessionView(), happenings.LinkUp(socket))
        view = opened_run(view, client, run_id, ApprovalRequested)
        since = _open_newest(popup, "approval", run_id)
        screen.compare("approval", view)
        (asked,) = client.get_run(run_id).approvals
        client.decide_approval(run_id, asked.approval_id, asked.digest, approved=False)
        popup.wait_for("stage", since, stage="failed", run=run_id)


def _open_newest(popup: Popup, stage: str, run_id: str) -> int:
    """Opens the newest run, which is at this stage, from the history; the number of entries before."""
    since = popup.seen()
    popup.press("ctrl+n", "Up")
    popup.wait_for("history", since)
    popup.press("Return")
    popup.wait_for("stage", since, stage=stage, run=run_id)
    return since
