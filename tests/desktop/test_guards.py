"""What a card says before it is decided, and what does not count as a decision: keys and clicks while the card is new."""

import os
from collections.abc import Callable, Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from aeon_popup.state.session import SessionView
from aeon_popup.ui import cards
from aeon_popup.ui.cards import ApprovalCard, DecisionCard, QuestionCard
from aeon_popup.ui.popup import Popup
from aeond_client.events import ApprovalRequested, InputAnswered, InputRequested, StepEnded
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import Resolution, StepState
from aeond_client.records.tools import ToolCall
from tests.support.noted_calls import NotedCalls
from tests.support.popup_states import folded, received, states
from tests.support.popup_windows import open_window
from tests.support.repository import ROOT

ALT, NONE = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.NoModifier
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
CHILDREN = ("first", "second")
Guard = Callable[[bool], None]


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> Guard:
    """Makes every card new from now on, or none."""

    def set_to(new: bool) -> None:
        monkeypatch.setattr(cards, "GUARD_SECONDS", 3_600.0 if new else 0.0)

    set_to(False)
    return set_to


@pytest.fixture
def chosen() -> NotedCalls:
    return NotedCalls()


@pytest.fixture
def popup(chosen: NotedCalls, guard: Guard) -> Iterator[Popup]:
    with open_window(chosen, states()["running"]) as made:
        yield made


def press(popup: Popup, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    QTest.keyClick(popup.focusWidget(), key, modifiers)


def asking(options: tuple[str, ...]) -> SessionView:
    """Two runs below the shown one ask the same under the same id."""
    return folded(
        [
            one
            for child in CHILDREN
            for one in received(
                InputRequested(Question("s1.1", "s1", f"Which of the {child}?", options=options)),
                run_id=child,
            )
        ],
        states()["running"],
    )


def answered(view: SessionView) -> SessionView:
    """The first of the two questions is answered."""
    return folded(received(InputAnswered("s1.1", "red"), first=2, run_id="first"), view)


@pytest.mark.parametrize(("key", "modifiers"), [(Qt.Key.Key_1, ALT), (Qt.Key.Key_Return, NONE)])
def test_a_key_pressed_twice_does_not_answer_the_next_question(
    popup: Popup, chosen: NotedCalls, guard: Guard, key: Qt.Key, modifiers: Qt.KeyboardModifier
) -> None:
    """The second press of Alt+1, or of Enter on the first option, comes too early for the question of the next child run."""
    view = asking(("red", "blue"))
    popup.show_view(view)
    press(popup, key, modifiers)
    guard(True)
    popup.show_view(answered(view))
    press(popup, key, modifiers)
    assert [asked.run_id for asked, _ in chosen.of("answer")] == ["first"]
    guard(False)
    press(popup, key, modifiers)
    assert [asked.run_id for asked, _ in chosen.of("answer")] == ["first", "second"]


def test_text_typed_for_a_new_question_is_kept(popup: Popup, chosen: NotedCalls, guard: Guard) -> None:
    """What is typed into the field of a question that has just appeared stays there; Enter sends it only later."""
    guard(True)
    popup.show_view(asking(()))
    QTest.keyClicks(popup.focusWidget(), "Lisbon")
    press(popup, Qt.Key.Key_Return)
    card = popup.body.card
    assert isinstance(card, QuestionCard)
    assert (card.entry.text(), chosen.of("answer")) == ("Lisbon", [])
    guard(False)
    press(popup, Qt.Key.Key_Return)
    assert [value for _, value in chosen.of("answer")] == ["Lisbon"]


def test_an_interrupted_step_is_not_decided_by_accident(
    popup: Popup, chosen: NotedCalls, guard: Guard
) -> None:
    """The card of an interrupted step has the focus and none of its buttons; while it is new, they do nothing."""
    popup.show_view(states()["decision"])
    card = popup.body.card
    assert isinstance(card, DecisionCard)
    assert popup.focusWidget() is card
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
        press(popup, key)
    guard(True)
    press(popup, Qt.Key.Key_Tab)
    press(popup, Qt.Key.Key_Return)
    for made in card.findChildren(QPushButton):
        made.click()
    assert chosen.of("resolve") == []
    guard(False)
    press(popup, Qt.Key.Key_Tab)
    press(popup, Qt.Key.Key_Tab)
    press(popup, Qt.Key.Key_Return)
    assert chosen.of("resolve") == [(Resolution.DONE,)]


@pytest.mark.parametrize(
    ("state", "key", "modifiers", "effect"),
    [
        ("approval", Qt.Key.Key_Return, CTRL, "decide"),
        ("approval", Qt.Key.Key_Enter, CTRL, "decide"),
        ("approval", Qt.Key.Key_Return, CTRL | SHIFT, "decide"),
        ("approval", Qt.Key.Key_Backspace, CTRL, "decide"),
        ("approval", Qt.Key.Key_Space, NONE, "decide"),
        ("choice", Qt.Key.Key_1, ALT, "answer"),
        ("choice", Qt.Key.Key_Return, NONE, "answer"),
    ],
)
def test_a_key_counts_half_a_second_after_its_card_has_appeared(
    chosen: NotedCalls,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    key: Qt.Key,
    modifiers: Qt.KeyboardModifier,
    effect: str,
) -> None:
    """A key that decides about a card does nothing in the first half second, which docs/popup.md promises, and acts after that."""
    now = 1_000.0
    monkeypatch.setattr("aeon_popup.ui.cards.time.monotonic", lambda: now)
    with open_window(chosen, states()[state]) as popup:
        for seconds, count in ((0.0, 0), (0.499, 0), (0.5, 1)):
            now = 1_000.0 + seconds
            press(popup, key, modifiers)
            assert len(chosen.of(effect)) == count
    documented = " ".join((ROOT / "docs" / "popup.md").read_text(encoding="utf-8").split())
    assert "keys are ignored for the first half second after the card appears" in documented
    assert cards.GUARD_SECONDS == 0.5


def shown_approval(popup: Popup, *calls: ToolCall, previews: tuple[CallPreview, ...]) -> ApprovalCard:
    """The card of an approval that a rule of the policy asks for."""
    request = ApprovalRequest("a1", ("s3",) * len(calls), calls, "digest", "no rule", previews=previews)
    view = folded(received(ApprovalRequested(request, "s3"), first=40), states()["running"])
    popup.show_view(view)
    card = popup.body.card
    assert isinstance(card, ApprovalCard)
    return card


def test_an_approval_says_what_would_happen_and_why_it_is_asked(popup: Popup) -> None:
    """The heading and the accessible name are the effect of the call; the policy's reason is below and in the description."""
    card = shown_approval(popup, ToolCall("rm", {"path": "x"}), previews=(CallPreview(source="/home/x"),))
    assert card.heading.text() == "Delete /home/x?"
    assert card.accessibleName() == "Approval: Delete /home/x?"
    assert card.reason.text() == card.accessibleDescription() == "Why this is asked: no rule"
    assert card.reason.isVisible()


def test_an_approval_says_which_untrusted_data_the_run_has_read(popup: Popup) -> None:
    """The card names the untrusted sources, each on one line and of limited length, also one that is read while the card is shown;
    without any, the card has no such line."""
    card = shown_approval(popup, ToolCall("rm", {"path": "x"}), previews=(CallPreview(source="/home/x"),))
    assert not card.untrusted.isVisible()
    request = ApprovalRequest("a1", ("s3",), (ToolCall("rm", {"path": "x"}),), "digest", "no rule")
    read = StepEnded("s2", StepState.SUCCEEDED, taint=("host:a.example:443", "x\n\x1b" + "y" * 200))
    popup.show_view(folded(received(ApprovalRequested(request, "s3"), read, first=40), states()["running"]))
    (card,) = [one for one in [popup.body.card] if isinstance(one, ApprovalCard)]
    assert card.untrusted.isVisible()
    words = card.untrusted.text().replace("\u200b", "")
    assert words.startswith("Untrusted sources of this run: host:a.example:443, x \\x1byyy")
    assert len(words) < 200
    assert "host:a.example:443" in card.accessibleDescription()


def test_an_approval_of_several_calls_says_what_each_would_do(popup: Popup) -> None:
    """Each call of an approval has its own sentence above its tool and its arguments."""
    card = shown_approval(
        popup,
        ToolCall("rm", {"path": "x"}),
        ToolCall("send", {}),
        previews=(CallPreview(source="/home/x"), CallPreview()),
    )
    assert card.heading.text() == "Allow 2 calls?"
    assert card.findChildren(QPlainTextEdit)[0].toPlainText().splitlines() == [
        "Delete /home/x",
        "rm",
        '     | path: "x"',
        "     deletes: /home/x",
        "Use the tool send",
        "send",
    ]
