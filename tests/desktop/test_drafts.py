"""Texts that were typed and not sent, in the window without a display."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QInputMethodQueryEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from aeon_popup.controller import Controller
from aeon_popup.state import happenings
from aeon_popup.ui.cards import QuestionCard
from aeon_popup.ui.popup import Popup
from tests.support.popup_states import SOCKET, history, states
from tests.support.popup_windows import open_controlled_window

DOWN, UP = happenings.LinkDown(SOCKET, "No daemon is listening."), happenings.LinkUp(SOCKET)


class NoDaemon:
    """Takes each call and replies to none."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_given, **_more: None


class Desk:
    """The window and its controller, and the keys that a user presses."""

    def __init__(self, controller: Controller, popup: Popup) -> None:
        self.controller, self.popup = controller, popup

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.popup.focusWidget(), key, modifiers)

    def type(self, text: str) -> None:
        QTest.keyClicks(self.popup.focusWidget(), text)

    @property
    def prompt(self) -> str:
        return self.popup.prompt.toPlainText()

    def answer(self) -> str | None:
        """The text in the field of the question; None without a question."""
        card = self.popup.body.card
        return card.entry.text() if isinstance(card, QuestionCard) else None


@pytest.fixture
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with open_controlled_window(NoDaemon(), states()[request.param]) as made:
        yield Desk(*made)


@pytest.mark.parametrize("desk", ["prompt"], indirect=True)
def test_a_draft_survives_the_list_of_keys_and_hiding(desk: Desk) -> None:
    """Text that was typed is still there after a look at the keys, and when the window was hidden meanwhile."""
    desk.type("half a request")
    desk.press(Qt.Key.Key_F1)
    assert desk.prompt == "half a request"
    desk.popup.hide()
    desk.popup.appear()
    assert desk.prompt == "half a request"


@pytest.mark.parametrize("desk", ["done"], indirect=True)
def test_a_follow_up_survives_each_way_to_leave_it(desk: Desk) -> None:
    """A follow-up that was begun is there again by Enter or a further character, after Escape, a new session, another
    run of the history, and a daemon that ended.
    """
    control = Qt.KeyboardModifier.ControlModifier
    run = desk.controller.view.shown
    assert run is not None
    desk.type("half")
    desk.press(Qt.Key.Key_Escape)
    assert desk.prompt == run.text
    desk.press(Qt.Key.Key_Return)
    assert desk.prompt == "half"
    desk.press(Qt.Key.Key_N, control)
    assert desk.prompt == ""
    desk.type("something new")
    desk.press(Qt.Key.Key_H, control)
    desk.controller.apply([happenings.HistoryListed(history()), DOWN, UP])
    desk.type("large")
    desk.press(Qt.Key.Key_Return)
    assert desk.prompt == "How large is the folder Downloads?"
    desk.press(Qt.Key.Key_N, control)
    assert desk.prompt == "something new"
    desk.controller.open_run(run.run_id)
    desk.type("!")
    assert desk.prompt == "half!"


@pytest.mark.parametrize("desk", ["question"], indirect=True)
def test_an_answer_that_was_begun_survives_a_restart_of_the_daemon(desk: Desk) -> None:
    """Text typed for a question is in the field again when the daemon is back, and after a look at another session."""
    desk.type("London")
    desk.controller.apply([DOWN])
    assert desk.answer() is None
    desk.controller.apply([UP])
    assert desk.answer() == "London"
    shown = desk.controller.view.shown
    assert shown is not None
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    desk.controller.open_run(shown.run_id)
    assert desk.answer() == "London"


def compose(desk: Desk, text: str, *, finished: bool) -> None:
    """An input method shows text that is being composed, or enters it."""
    event = QInputMethodEvent("" if finished else text, [])
    if finished:
        event.setCommitString(text)
    QApplication.sendEvent(desk.popup.prompt, event)


@pytest.mark.parametrize("desk", ["done"], indirect=True)
def test_a_paste_below_an_answer_begins_a_follow_up(desk: Desk) -> None:
    """Text that is pasted below an answer is the start of a follow-up, or goes on with its draft; an empty clipboard begins none."""
    for shortcut in QKeySequence.keyBindings(QKeySequence.StandardKey.Paste):
        pressed: QKeyCombination = shortcut[0]  # type: ignore[index]
        QGuiApplication.clipboard().clear()
        desk.press(pressed.key(), pressed.keyboardModifiers())
        assert not desk.controller.view.writing
        QGuiApplication.clipboard().setText("two\nlines")
        desk.press(pressed.key(), pressed.keyboardModifiers())
        assert desk.prompt == desk.controller.view.draft == "two\nlines"
        desk.controller.draft("")
        desk.press(Qt.Key.Key_Escape)


@pytest.mark.parametrize("desk", ["done"], indirect=True)
def test_an_input_method_begins_a_follow_up(desk: Desk) -> None:
    """Input methods are enabled below an answer; what one composes begins a follow-up, and what it enters is its text."""
    enabled = QInputMethodQueryEvent(Qt.InputMethodQuery.ImEnabled)
    QApplication.sendEvent(desk.popup.prompt, enabled)
    assert enabled.value(Qt.InputMethodQuery.ImEnabled) is True
    compose(desk, "e", finished=False)
    assert desk.controller.view.writing
    compose(desk, "é", finished=True)
    assert desk.prompt == desk.controller.view.draft == "é"


@pytest.mark.parametrize("desk", ["running"], indirect=True)
def test_nothing_is_entered_below_a_run_in_progress(desk: Desk) -> None:
    """While a run is in progress, paste and input methods do not change its request."""
    before = desk.prompt
    QGuiApplication.clipboard().setText("pasted")
    desk.press(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    compose(desk, "é", finished=True)
    assert desk.prompt == before
    assert desk.controller.view.drafts == ()


@pytest.mark.parametrize("desk", ["done"], indirect=True)
def test_a_key_with_alt_begins_nothing(desk: Desk) -> None:
    """Alt with a letter, which is a command in other programs, begins no follow-up."""
    QTest.keyClicks(desk.popup.prompt, "x", Qt.KeyboardModifier.AltModifier)
    assert not desk.controller.view.writing


@pytest.mark.parametrize("desk", ["done"], indirect=True)
def test_text_typed_on_the_answer_begins_a_follow_up(desk: Desk) -> None:
    """After a click into the answer, which has the focus then, characters and a paste begin a follow-up; Ctrl+C copies the selection."""
    answer = desk.popup.body.answer
    answer.setFocus()
    answer.selectAll()
    desk.press(Qt.Key.Key_Control, Qt.KeyboardModifier.ControlModifier)
    desk.press(Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert desk.popup.focusWidget() is answer
    assert "TP 1361" in QGuiApplication.clipboard().text()
    QGuiApplication.clipboard().setText("pasted")
    desk.type("a")
    assert desk.prompt == "a"
    answer.setFocus()
    desk.press(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert desk.prompt == "apasted"
