"""The window itself, without a display: what it draws, its keys, and what screen readers get."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QAccessible, QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from aeon_popup.state.session import SessionView
from aeon_popup.trace import Trace
from aeon_popup.ui import cards
from aeon_popup.ui.cards import ApprovalCard
from aeon_popup.ui.plan import Row
from aeon_popup.ui.popup import Popup, application
from aeon_popup.ui.theme import DARK, LIGHT
from aeon_popup.ui.window import NoSeat
from tests.support.desktop_session import DEADLINE_SECONDS
from tests.support.noted_calls import NotedCalls
from tests.support.popup_states import ANSWER, TEXT, states

REPAINTS = """
import sys
from PySide6.QtWidgets import QPlainTextEdit, QApplication
from aeon_popup.trace import Trace
from aeon_popup.ui.popup import Popup, application
from aeon_popup.ui.theme import DARK
from tests.support.desktop_session import DEADLINE_SECONDS
from tests.support.popup_states import states
from tests.support.popup_pictures import NoActions

app = application(["test"])
popup = Popup(NoActions(), DARK, Trace(), composited=True)
popup.show_view(states()["running"])
popup.appear()
app.processEvents()
popup.grab()
before = sys.getrefcount(None)
for _ in range(500):
    popup.grab()
print(abs(sys.getrefcount(None) - before))
"""


@pytest.fixture(scope="module")
def app() -> QApplication:
    existing = QApplication.instance()
    return existing if isinstance(existing, QApplication) else application(["tests"])


@pytest.fixture
def chosen() -> NotedCalls:
    return NotedCalls()


class Held(NoSeat):
    """A display on which Escape is down while `held`."""

    held = False

    def escape_is_held(self) -> bool:
        return self.held


@pytest.fixture
def seat() -> Held:
    return Held()


@pytest.fixture
def popup(
    app: QApplication, chosen: NotedCalls, seat: Held, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Popup]:
    """A visible window, on whose cards keys count from the start."""
    monkeypatch.setattr(cards, "GUARD_SECONDS", 0.0)
    actions: Any = chosen
    made = Popup(actions, DARK, Trace(), composited=True, motion=False, seat=seat)
    yield made
    made.hide()
    made.deleteLater()
    app.processEvents()


def show(popup: Popup, view: SessionView) -> None:
    popup.show_view(view)
    popup.appear()
    QApplication.processEvents()


def press(popup: Popup, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """A key goes to the widget that has the focus."""
    QTest.keyClick(popup.focusWidget(), key, modifiers)


def escape(popup: Popup, kind: QEvent.Type, milliseconds: int) -> None:
    """An event of the key Escape with its time."""
    event = QKeyEvent(kind, Qt.Key.Key_Escape.value, Qt.KeyboardModifier.NoModifier)
    event.setTimestamp(milliseconds)
    QApplication.sendEvent(popup.focusWidget(), event)


CTRL = Qt.KeyboardModifier.ControlModifier


def test_repaints_keep_the_count_of_references() -> None:
    """500 repaints lose no reference to None: a library that loses one for each call ends the program after hours."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": os.pathsep.join(sys.path)}
    printed = subprocess.run(
        [sys.executable, "-c", REPAINTS],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        timeout=120,
    ).stdout
    assert int(printed) < 50


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda one: one.name)
@pytest.mark.parametrize("name", sorted(states()))
def test_every_state_fits_its_window(popup: Popup, name: str, palette: Any) -> None:
    """Each state is drawn in both themes in a window that is high enough for it, with a name for screen readers."""
    popup.show_theme(palette)
    show(popup, states()[name])
    assert popup.height() >= popup.minimumSizeHint().height()
    assert popup.accessibleName().startswith("aeon")
    assert not popup.grab().isNull()


def test_a_centred_window_keeps_its_size(app: QApplication, chosen: NotedCalls) -> None:
    """Where the desktop puts the window in the middle, only the panel in it grows: the window has one size, which fits
    the screen, and the pointer reaches what is beside the panel.
    """
    actions: Any = chosen
    made = Popup(actions, DARK, Trace(), composited=True, centred=True, motion=False)
    sizes, panels = set(), set()
    for name in ("prompt", "running", "done"):
        show(made, states()[name])
        sizes.add((made.height(), made.minimumHeight(), made.maximumHeight()))
        panels.add(made.windowHandle().mask().boundingRect().height())
    made.hide()
    made.deleteLater()
    assert len(sizes) == 1
    assert len(panels) == 3
    assert max(panels) <= made.highest < QGuiApplication.primaryScreen().availableGeometry().height()


def test_plain_enter_never_allows(popup: Popup, chosen: NotedCalls) -> None:
    """On an approval Deny has the focus; Enter and Space on Allow do nothing, and Ctrl+Enter allows once."""
    show(popup, states()["approval"])
    card = popup.body.card
    assert isinstance(card, ApprovalCard)
    assert popup.focusWidget() is card.deny_button
    card.allow_button.setFocus()
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
        press(popup, key)
    assert chosen.of("decide") == []
    press(popup, Qt.Key.Key_Return, CTRL)
    assert chosen.of("decide") == [(card.approval, ("approved", True), ("scope", "once"))]


def test_an_approval_holds_for_what_is_chosen(popup: Popup, chosen: NotedCalls) -> None:
    """The card shows the change of the file as it will be made, and offers the scopes of the approval and no others."""
    show(popup, states()["approval-file"])
    card = popup.body.card
    assert isinstance(card, ApprovalCard)
    (text,) = (shown.toPlainText() for shown in card.findChildren(QPlainTextEdit))
    assert "-Monday: 12 failures" in text
    assert "writes: /home/ada/desk/report.txt" in text
    assert [made.text() for made in card.scope_buttons] == ["For this run", "For this folder"]
    card.scope_buttons[1].setFocus()
    press(popup, Qt.Key.Key_Return)
    assert chosen.of("decide") == []
    card.scope_buttons[1].click()
    assert chosen.of("decide") == [(card.approval, ("approved", True), ("scope", "folder"))]


def test_an_approval_is_denied_by_its_key(popup: Popup, chosen: NotedCalls) -> None:
    """Ctrl+Backspace denies, also while another widget has the focus."""
    show(popup, states()["approval"])
    press(popup, Qt.Key.Key_Backspace, CTRL)
    assert [call[1] for call in chosen.of("decide")] == [("approved", False)]


def test_keys_are_ignored_when_an_approval_has_just_appeared(
    popup: Popup, chosen: NotedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the first half second no key decides: it was meant for something else."""
    monkeypatch.setattr(cards, "GUARD_SECONDS", 3_600.0)
    show(popup, states()["approval"])
    press(popup, Qt.Key.Key_Return, CTRL)
    press(popup, Qt.Key.Key_Backspace, CTRL)
    press(popup, Qt.Key.Key_Space)
    assert chosen.of("decide") == []


def test_changed_calls_are_a_new_card(popup: Popup) -> None:
    """When the calls of an approval change, the card shows the new ones, and a decision carries the new digest."""
    view = states()["approval"]
    show(popup, view)
    before = popup.body.card
    run = view.runs[0]
    shown = run.approvals[0]
    changed = replace(shown, request=replace(shown.request, digest="another"))
    popup.show_view(replace(view, runs=(replace(run, approvals=(changed,)),)))
    assert isinstance(popup.body.card, ApprovalCard)
    assert popup.body.card is not before
    assert popup.body.card.approval is changed


def test_enter_sends_and_shift_enter_makes_a_line(popup: Popup, chosen: NotedCalls) -> None:
    """Enter sends the text of the prompt; Shift+Enter adds a line and the prompt grows."""
    show(popup, states()["prompt"])
    height = popup.prompt.height()
    QTest.keyClicks(popup.prompt, "one")
    press(popup, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(popup.prompt, "two")
    assert popup.prompt.height() > height
    press(popup, Qt.Key.Key_Return)
    assert chosen.of("submit") == [("one\ntwo",)]


def test_typing_below_an_answer_starts_a_follow_up(popup: Popup, chosen: NotedCalls) -> None:
    """The first character typed while an answer is shown begins the next request."""
    show(popup, states()["done"])
    QTest.keyClicks(popup.prompt, "A")
    assert chosen.of("follow_up") == [("A",)]


@pytest.mark.parametrize(
    ("key", "state", "action"),
    [
        (Qt.Key.Key_N, "done", "start_new"),
        (Qt.Key.Key_H, "prompt", "show_history"),
        (Qt.Key.Key_R, "failed", "retry"),
    ],
)
def test_a_key_with_control_begins_what_the_list_of_keys_says(
    popup: Popup, chosen: NotedCalls, key: Qt.Key, state: str, action: str
) -> None:
    """Ctrl+N starts a new session, Ctrl+H shows recent runs, and Ctrl+R sends a failed request again."""
    show(popup, states()[state])
    press(popup, key, CTRL)
    assert chosen.of(action) == [()]


@pytest.mark.parametrize(("second_press", "hidden"), [(20, True), (10, False)])
def test_escape_that_is_pressed_twice_on_a_busy_desktop_counts_twice(
    popup: Popup, seat: Held, second_press: int, hidden: bool
) -> None:
    """If the window gets to a release of Escape after the key was pressed again, both presses count; a repeat, whose
    release and press have one time, does not.
    """
    show(popup, states()["prompt"])
    press(popup, Qt.Key.Key_F1)
    seat.held = True
    for kind, at in (
        (QEvent.Type.KeyPress, 5),
        (QEvent.Type.KeyRelease, 10),
        (QEvent.Type.KeyPress, second_press),
    ):
        escape(popup, kind, at)
    seat.held = False
    escape(popup, QEvent.Type.KeyRelease, 30)
    assert popup.isVisible() is not hidden


def test_the_steps_of_an_answered_run_are_shown_and_hidden(popup: Popup) -> None:
    """Ctrl+D shows a line for each step of an answered run; the next one shows the summary again."""
    done = states()["done"]
    assert done.shown is not None
    show(popup, done)
    summary = popup.body.plan.shapes
    press(popup, Qt.Key.Key_D, CTRL)
    assert len(popup.body.plan.shapes) == len(done.shown.steps.lines) > len(summary)
    press(popup, Qt.Key.Key_D, CTRL)
    assert popup.body.plan.shapes == summary


def test_the_summary_counts_the_steps_that_were_done(popup: Popup) -> None:
    """The line above the answer of a run that was stopped at a limit does not count the steps that never started."""
    spoken = {}
    for name in ("done", "expired"):
        show(popup, states()[name])
        (row,) = popup.body.plan.findChildren(Row)
        spoken[name] = (row.accessibleName(), *popup.body.plan.shapes)
    assert spoken == {"done": ("5 steps done", "tick"), "expired": ("3 of 5 steps done", "dash")}


def test_the_answer_is_copied_as_it_was_written(popup: Popup) -> None:
    """Ctrl+C copies the whole answer as Markdown."""
    show(popup, states()["done"])
    press(popup, Qt.Key.Key_C, CTRL)
    assert QGuiApplication.clipboard().text() == ANSWER


def test_an_answer_cannot_make_the_window_load_anything(popup: Popup) -> None:
    """An image or HTML in an answer reads no file and is not interpreted."""
    popup.body.answer.show_text("![x](file:///etc/passwd) <b>bold</b>", DARK, 400)
    assert popup.body.answer.loadResource(2, "file:///etc/passwd") is None
    assert "<b>bold</b>" in popup.body.answer.toPlainText()


def test_screen_readers_get_the_state_of_each_step(popup: Popup) -> None:
    """The accessible names have the state of run and steps, the question, and each button."""
    show(popup, states()["choice"])
    names = {one.accessibleName() for one in popup.findChildren(QWidget)} | {popup.accessibleName()}
    assert f"aeon, Needs your answer, {TEXT}" in names
    assert "Step 1 of 5: Read calendar for this week, done" in names
    assert "Question: Which airport do you want to leave from?" in names
    assert popup.body.card is not None
    interface = QAccessible.queryAccessibleInterface(popup.body.card)
    assert interface.text(QAccessible.Text.Name).startswith("Question: Which airport")


def test_assistive_programs_press_deny(popup: Popup, chosen: NotedCalls) -> None:
    """A program for accessibility finds the button Deny by its name and can press it."""
    show(popup, states()["approval"])
    card = popup.body.card
    assert isinstance(card, ApprovalCard)
    interface = QAccessible.queryAccessibleInterface(card.deny_button)
    assert interface.text(QAccessible.Text.Name) == "Deny"
    assert interface.role() is QAccessible.Role.Button
    interface.actionInterface().doAction("Press")
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not chosen.of("decide") and time.monotonic() < deadline:
        QApplication.processEvents()
    assert [call[1] for call in chosen.of("decide")] == [("approved", False)]


@pytest.mark.parametrize("name", ["question", "approval", "decision"])
def test_the_window_grows_for_a_card_at_once(popup: Popup, name: str) -> None:
    """A card that appears while the window is visible is shown whole, without a further change of the state."""
    show(popup, states()["planning"])
    popup.show_view(states()[name])
    QApplication.processEvents()
    height = popup.height()
    assert popup.body.wanted_height() <= popup.body.height()
    show(popup, states()[name])
    assert popup.height() == height


def test_an_approval_is_allowed_for_the_run_by_its_key(popup: Popup, chosen: NotedCalls) -> None:
    """Ctrl+Shift+Enter allows for the rest of the run, where the approval offers that."""
    show(popup, states()["approval"])
    press(popup, Qt.Key.Key_Return, CTRL | Qt.KeyboardModifier.ShiftModifier)
    card = popup.body.card
    assert isinstance(card, ApprovalCard)
    assert chosen.of("decide") == [(card.approval, ("approved", True), ("scope", "run"))]
    once = replace(card.approval, request=replace(card.approval.request, digest="other", scopes=("once",)))
    view = states()["approval"]
    popup.show_view(replace(view, runs=(replace(view.runs[0], approvals=(once,)),)))
    press(popup, Qt.Key.Key_Return, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert len(chosen.of("decide")) == 1


def test_without_motion_only_the_clock_goes_on(popup: Popup) -> None:
    """While a run is shown the window is drawn thirty times a second; without animations twice a second, for the clock."""
    popup.show_motion(wanted=True)
    show(popup, states()["running"])
    assert [timer.interval() for timer in popup.findChildren(QTimer) if timer.isActive()] == [33]
    popup.show_motion(wanted=False)
    assert [timer.interval() for timer in popup.findChildren(QTimer) if timer.isActive()] == [500]


def test_a_hidden_window_draws_nothing(popup: Popup) -> None:
    """A change of the state while the window is hidden is drawn when the window is shown."""
    show(popup, states()["prompt"])
    popup.hide()
    popup.show_view(states()["done"])
    assert popup.badge.text() == ""
    popup.appear()
    assert popup.badge.text() == "Done"
