"""What the window scrolls to by itself, and keys for a card that is out of view."""

import os
from collections.abc import Iterator

import pytest

from tests.support.popup_states import Change, happen

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from aeon_popup.controller import Controller
from aeon_popup.ui import cards
from aeon_popup.ui.cards import ApprovalCard, QuestionCard
from aeon_popup.ui.commands import Command
from aeon_popup.ui.popup import Popup
from aeond_client.events import (
    AnswerComposed,
    AnswerStarted,
    ApprovalDecided,
    ApprovalRequested,
    EventKind,
    InputAnswered,
    InputRequested,
    RunEnded,
    StepEnded,
    StepStarted,
    TextDelta,
)
from aeond_client.records.judgements import Question
from aeond_client.records.runs import Answer, PlanStep, RunState, StepState
from tests.support.noted_calls import NotedCalls
from tests.support.popup_states import LONG_ANSWER, long_plan, received, sent, states
from tests.support.popup_windows import open_controlled_window

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
DONE = 27
CHOICE = Question("q1", f"s{DONE + 1}", "Which airport?", options=("London City", "Heathrow"))
OPEN = Question("q1", f"s{DONE + 1}", "Which airport?", {"type": "string"})


class Desk:
    """A window over a run of thirty steps, of which it cannot show all."""

    def __init__(self, daemon: NotedCalls, controller: Controller, popup: Popup) -> None:
        self.daemon, self.controller, self.popup = daemon, controller, popup
        self._seq = 1
        self.apply(*sent())
        self.receive(*long_plan(DONE))

    def apply(self, *made: Change) -> None:
        happen(self.controller, made)
        QApplication.processEvents()

    def receive(self, *kinds: EventKind) -> None:
        """Events that follow the ones before."""
        self.apply(*received(*kinds, first=self._seq))
        self._seq += len(kinds)

    def ask_approval(self) -> None:
        (approval,) = states()["approval"].runs[0].approvals
        self.receive(ApprovalRequested(approval.request, "s5"))

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.popup.focusWidget(), key, modifiers)
        QApplication.processEvents()

    def turn_wheel(self, notches: int) -> None:
        """Scrolls with the wheel of the mouse, upwards if positive."""
        viewport = self.popup.body.viewport()
        centre = QPointF(viewport.rect().center())
        angle = QPoint(0, 120 if notches > 0 else -120)
        none = Qt.KeyboardModifier.NoModifier
        phase, buttons, inverted = Qt.ScrollPhase.NoScrollPhase, Qt.MouseButton.NoButton, False
        for _ in range(abs(notches)):
            event = QWheelEvent(centre, centre, QPoint(), angle, buttons, none, phase, inverted)
            QApplication.sendEvent(viewport, event)

    def sees(self, part: QWidget | None) -> bool:
        """Whether the whole part is inside of the visible part of the window."""
        assert part is not None
        viewport = self.popup.body.viewport()
        return viewport.rect().contains(part.rect().translated(part.mapTo(viewport, QPoint(0, 0))))

    @property
    def at(self) -> int:
        return self.popup.body.verticalScrollBar().value()

    @property
    def end(self) -> int:
        return self.popup.body.verticalScrollBar().maximum()


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr(cards, "GUARD_SECONDS", 0.0)
    daemon = NotedCalls()
    with open_controlled_window(daemon) as made:
        yield Desk(daemon, *made)


def away(desk: Desk) -> None:
    """The user scrolls to the start by hand, so that the card is out of view."""
    desk.turn_wheel(100)
    assert desk.at == 0
    assert not desk.sees(desk.popup.body.card)


def test_a_new_card_is_scrolled_into_view(desk: Desk) -> None:
    """A question and an approval below a long plan are in view as soon as they appear, also after the user has scrolled."""
    desk.receive(InputRequested(CHOICE))
    assert desk.sees(desk.popup.body.card)
    away(desk)
    desk.receive(InputAnswered("q1", "Heathrow"))
    desk.ask_approval()
    assert isinstance(desk.popup.body.card, ApprovalCard)
    assert desk.sees(desk.popup.body.card)


def test_a_card_that_appeared_in_a_hidden_window_is_in_view(desk: Desk) -> None:
    """The window is shown with the card in view, whether the card appeared meanwhile or was scrolled away before."""
    desk.popup.hide()
    desk.ask_approval()
    desk.popup.appear()
    QApplication.processEvents()
    assert desk.sees(desk.popup.body.card)
    away(desk)
    desk.popup.hide()
    desk.popup.appear()
    QApplication.processEvents()
    assert desk.sees(desk.popup.body.card)


def test_a_card_that_is_higher_than_the_window_is_shown_from_its_top(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a low screen the top of the card is in view, and keys act on it, because nothing else is."""
    monkeypatch.setattr(Popup, "highest", 300)
    desk.ask_approval()
    card = desk.popup.body.card
    assert card is not None
    assert card.height() > desk.popup.body.viewport().height()
    assert card.mapTo(desk.popup.body.viewport(), QPoint(0, 0)).y() == 0
    desk.press(Qt.Key.Key_Return, CTRL)
    assert len(desk.daemon.of("decide")) == 1


@pytest.mark.parametrize(
    ("key", "modifiers"),
    [
        (Qt.Key.Key_Return, CTRL),
        (Qt.Key.Key_Backspace, CTRL),
        (Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier),
    ],
)
def test_a_key_does_not_decide_about_calls_that_are_out_of_view(
    desk: Desk, key: Qt.Key, modifiers: Qt.KeyboardModifier
) -> None:
    """A key that allows or denies first shows an approval that the user has scrolled away; the next one decides."""
    desk.ask_approval()
    away(desk)
    desk.press(key, modifiers)
    assert desk.daemon.of("decide") == []
    assert desk.sees(desk.popup.body.card)
    desk.press(key, modifiers)
    assert len(desk.daemon.of("decide")) == 1


def test_the_repeats_of_a_held_key_do_not_decide(desk: Desk) -> None:
    """A key that was pressed before an approval or a question appeared, and is still held, decides nothing and chooses nothing."""
    for ask, key, modifiers, call in (
        (desk.ask_approval, Qt.Key.Key_Return, CTRL, "decide"),
        (
            lambda: desk.receive(ApprovalDecided("a1", approved=False), InputRequested(CHOICE)),
            Qt.Key.Key_2,
            ALT,
            "answer",
        ),
    ):
        ask()
        event = QKeyEvent(QEvent.Type.KeyPress, key, modifiers, "", autorep=True)
        QApplication.sendEvent(desk.popup.focusWidget(), event)
        assert desk.daemon.of(call) == []
        desk.press(key, modifiers)
        assert len(desk.daemon.of(call)) == 1


def test_a_card_that_a_key_has_shown_is_guarded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a key has scrolled to an approval, further keys are ignored as when it has just appeared."""
    desk.ask_approval()
    away(desk)
    monkeypatch.setattr(cards, "GUARD_SECONDS", 3_600.0)
    desk.popup.perform(Command.ALLOW)
    desk.press(Qt.Key.Key_Return, CTRL)
    assert desk.daemon.of("decide") == []


def test_the_footer_does_not_decide_about_calls_that_are_out_of_view(desk: Desk) -> None:
    """A click on Allow once in the footer first shows an approval that is out of view."""
    desk.ask_approval()
    away(desk)
    desk.popup.perform(Command.ALLOW)
    assert desk.daemon.of("decide") == []
    assert desk.sees(desk.popup.body.card)


def test_a_number_first_shows_the_options(desk: Desk) -> None:
    """Alt and a digit choose an option only while the options are in view."""
    desk.receive(InputRequested(CHOICE))
    away(desk)
    desk.press(Qt.Key.Key_2, ALT)
    assert desk.daemon.of("answer") == []
    desk.press(Qt.Key.Key_2, ALT)
    assert desk.daemon.of("answer")[0][-1] == "Heathrow"


def test_text_for_a_field_that_is_out_of_view_is_entered(desk: Desk) -> None:
    """A character typed for a question that is out of view shows the field and is its first character; Enter only shows it."""
    desk.receive(InputRequested(OPEN))
    away(desk)
    QTest.keyClicks(desk.popup.focusWidget(), "L")
    card = desk.popup.body.card
    assert isinstance(card, QuestionCard)
    assert card.entry.text() == "L"
    assert desk.sees(card)
    away(desk)
    desk.press(Qt.Key.Key_Return)
    assert desk.daemon.of("answer") == []
    assert desk.sees(card)


def test_the_list_of_keys_is_shown_beside_a_card(desk: Desk) -> None:
    """F1 scrolls to the keys below a card, and a card that appears while they are shown is scrolled to."""
    desk.ask_approval()
    desk.press(Qt.Key.Key_F1)
    assert desk.sees(desk.popup.body.keys)
    desk.receive(ApprovalDecided("a1", approved=True))
    desk.receive(InputRequested(CHOICE))
    assert desk.sees(desk.popup.body.card)


def test_the_running_step_is_followed_until_the_user_scrolls(desk: Desk) -> None:
    """The running step of a long plan is in view; after the user has scrolled, the window stays where it is."""
    running = desk.popup.body.plan.active_row
    assert desk.sees(running)
    desk.turn_wheel(100)
    for number in (DONE + 1, DONE + 2):
        step = PlanStep(f"s{number + 1}", "Rename", "photos.rename")
        desk.receive(StepEnded(f"s{number}", StepState.SUCCEEDED), StepStarted(step))
    assert desk.popup.body.plan.active_row is not running
    assert desk.at == 0


def test_the_end_of_a_growing_answer_is_followed_until_the_user_scrolls_up(desk: Desk) -> None:
    """While an answer streams in its end is in view; not after the user has scrolled up, and again at the end."""
    desk.receive(AnswerStarted())

    def grow() -> None:
        text = desk.controller.view.runs[0].steps.answer_text
        desk.apply(*received(TextDelta("Another line.\n\n" * 20, offset=len(text))))

    for _ in range(3):
        grow()
    assert desk.at == desk.end > 0
    desk.turn_wheel(2)
    place = desk.at
    grow()
    assert desk.at == place < desk.end
    desk.turn_wheel(-100)
    grow()
    assert desk.at == desk.end
    text = desk.controller.view.runs[0].steps.answer_text
    desk.receive(AnswerComposed(Answer(text)), RunEnded(RunState.SUCCEEDED))
    assert desk.at == desk.end


def test_an_answer_that_came_at_once_is_shown_from_its_start(desk: Desk) -> None:
    """An answer that did not grow in the window is shown from its first line, also below a plan that was scrolled."""
    assert desk.at > 0
    desk.receive(AnswerStarted(), AnswerComposed(Answer(LONG_ANSWER)), RunEnded(RunState.SUCCEEDED))
    assert desk.end > desk.at == 0


def test_the_steps_of_an_answered_run_are_scrolled_to(desk: Desk) -> None:
    """Ctrl+D below a long answer shows the steps from the first one."""
    desk.receive(AnswerStarted(), AnswerComposed(Answer(LONG_ANSWER)), RunEnded(RunState.SUCCEEDED))
    desk.press(Qt.Key.Key_PageDown)
    assert desk.at > 0
    desk.press(Qt.Key.Key_D, CTRL)
    assert desk.at == 0
