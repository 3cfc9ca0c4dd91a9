"""The cards of the window in a program of their own: their buttons can be reached at once, and only by keys that mean them."""

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from aeon_popup.state.happenings import CallFailed, HistoryFailed, HistoryListed
from aeon_popup.state.session import after
from aeon_popup.ui.cards import ApprovalCard, DecisionCard, EnterButton, QuestionCard
from aeon_popup.ui.commands import Command
from aeon_popup.ui.popup import Popup, application
from aeond_client.events import (
    ApprovalRequested,
    InputAnswered,
    InputRequested,
    RunEnded,
    StepEnded,
    StepStarted,
)
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import RunState, StepState
from tests.support.popup_pictures import NoActions
from tests.support.popup_states import EFFECTS, KEY, STEPS, folded, history, planned, received, sent, states
from tests.support.popup_windows import open_window


class Windows(QObject):
    """The windows that were shown while it watched the application."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[QWidget] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - the name is that of Qt
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(watched)
        return False


# In place of the label of a button: the card has the focus.
IT_ITSELF = DecisionCard.__name__


@pytest.fixture
def app() -> QApplication:
    existing = QApplication.instance()
    return existing if isinstance(existing, QApplication) else application(["cards"])


@pytest.fixture
def popup(app: QApplication) -> Iterator[Popup]:
    """A window that shows a run without a card."""
    with open_window(NoActions(), states()["running"]) as made:
        yield made


@pytest.mark.parametrize(
    ("state", "labels"),
    [
        ("decision", [IT_ITSELF, "Stop here", "It is done", "Run it again"]),
        ("choice", ["1  London City", "2  Heathrow"]),
        ("approval", ["Deny", "For this run", "For this host", "Allow once"]),
    ],
)
def test_tab_reaches_each_button_of_a_new_card(popup: Popup, state: str, labels: list[str]) -> None:
    """The first button of a card that has just appeared has the focus, or the card if none is harmless, and the key Tab reaches
    the others at once, in order.
    """
    popup.show_view(states()[state])
    reached = []
    for _ in labels:
        focused = popup.focusWidget()
        reached.append(focused.text() if isinstance(focused, QPushButton) else type(focused).__name__)
        popup.focusNextChild()
    assert reached == labels


def test_a_card_opens_no_window(app: QApplication, popup: Popup) -> None:
    """No part of a card is shown as a window of its own, which would take the keyboard from the popup."""
    windows = Windows()
    app.installEventFilter(windows)
    for state in ("decision", "question", "choice", "approval"):
        popup.show_view(states()[state])
    app.removeEventFilter(windows)
    assert windows.shown == []


@pytest.mark.parametrize("repeated", [False, True])
def test_enter_presses_a_button_once(app: QApplication, repeated: bool) -> None:
    """Enter presses a button, and the repeats of a held Enter do not, so that the Enter that opened a run decides nothing."""
    made = EnterButton("Stop here")
    pressed: list[bool] = []
    made.clicked.connect(lambda: pressed.append(True))
    key, modifiers = Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier
    app.sendEvent(made, QKeyEvent(QEvent.Type.KeyPress, key, modifiers, "", repeated))
    assert len(pressed) == (0 if repeated else 1)


@pytest.mark.parametrize("ids", [("s1.1", "s1.1"), ("s1.1", "s2.1")])
def test_a_card_makes_room_for_the_next_question(popup: Popup, ids: tuple[str, str]) -> None:
    """Once the question of one run below is answered, the card shows that of another one, also if both have the same id."""
    asked = [
        received(InputRequested(Question(name, "s1", run_id)), run_id=run_id)
        for name, run_id in zip(ids, ("first", "second"), strict=True)
    ]
    view = folded(asked[0] + asked[1], states()["running"])
    popup.show_view(view)
    assert isinstance(popup.body.card, QuestionCard)
    assert popup.body.card.asked.run_id == "first"
    popup.show_view(folded(received(InputAnswered(ids[0], "red"), first=2, run_id="first"), view))
    assert isinstance(popup.body.card, QuestionCard)
    assert (popup.body.card.asked.run_id, popup.body.card.heading.text()) == ("second", "second")


def test_a_rejected_decision_says_why_on_its_card(popup: Popup) -> None:
    """Why the decision about an interrupted step was rejected is a text on the card, which can be decided again."""
    popup.show_view(after(states()["decision"], CallFailed(KEY, "The step is not interrupted.")))
    card = popup.body.card
    assert isinstance(card, DecisionCard)
    assert (card.note.isVisible(), card.note.text()) == (True, "The step is not interrupted.")
    assert all(button.isEnabled() for button in card.findChildren(QPushButton))


def test_a_history_without_runs_says_why(popup: Popup) -> None:
    """Instead of an empty box the history has the reason why its runs cannot be listed; with runs it has no such words."""
    view = states()["prompt"]
    popup.show_view(view)
    popup.perform(Command.HISTORY)
    for happening, words in (
        (HistoryFailed("The daemon is overloaded."), "The daemon is overloaded."),
        (HistoryListed(()), "There are no runs yet."),
    ):
        popup.show_view(after(view, happening))
        assert not popup.body.history.isVisible()
        assert popup.body.note.isVisible()
        assert words in popup.body.note.text()
    popup.show_view(after(view, HistoryListed(history())))
    assert popup.body.history.isVisible()
    assert not popup.body.note.isVisible()


@pytest.mark.parametrize("end", [RunState.FAILED, RunState.CANCELLED, RunState.EXPIRED])
def test_an_ended_run_lists_its_changes_and_offers_undo(popup: Popup, end: RunState) -> None:
    """A run that ended without an answer has the list of what it changed, and Undo in the footer."""
    deed = StepEnded("s4", StepState.SUCCEEDED, effects=EFFECTS)
    kinds = [*planned(3), StepStarted(STEPS[3]), deed, RunEnded(end)]
    popup.show_view(folded([*sent(), *received(*kinds)]))
    assert popup.body.changes.isVisible()
    assert "created: ~/Documents/lisbon.md" in popup.body.changes.accessibleName()
    assert "Undo (Ctrl+Z)" in [one.accessibleName() for one in popup.findChildren(QPushButton)]


def test_the_time_that_is_left_passes_on_the_card(popup: Popup, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a question or an approval is shown, the time that is left for it goes down without a new event."""
    now = 1_000.0
    monkeypatch.setattr("aeon_popup.ui.cards.time.time", lambda: now)
    question = InputRequested(Question("q", "s1", "Which?", deadline_time=1_100.0))
    approval = ApprovalRequested(ApprovalRequest("a", ("s1",), (), "d", expire_time=1_100.0), "s1")
    for kind, words in ((question, "{} left"), (approval, "Denied if not allowed within {}")):
        now = 1_000.0
        popup.show_view(folded(received(kind, first=40), states()["running"]))
        card = popup.body.card
        assert isinstance(card, QuestionCard | ApprovalCard)
        shown = card.hint if isinstance(card, QuestionCard) else card.note
        assert shown.text() == words.format("1m40s")
        now = 1_041.0
        (timer,) = (one for one in popup.findChildren(QTimer) if one.isActive())
        timer.timeout.emit()
        assert shown.text() == words.format("59s")
