"""The options of a question in the window: whole, and reached by keys; and texts that are longer than a line."""

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QWidget

from aeon_popup.state.session import SessionView
from aeon_popup.ui.cards import QuestionCard
from aeon_popup.ui.popup import Popup
from aeon_popup.ui.theme import font_of, wrapped
from aeond_client.events import InputRequested, StepStarted
from aeond_client.records.judgements import Question
from tests.support.popup_pictures import NoActions
from tests.support.popup_states import STEPS, folded, planned, received, sent
from tests.support.popup_windows import open_window

LONG_OPTIONS = tuple(f"Option {number}: a choice that is described in some words" for number in range(1, 6))
LONGEST = " ".join(["a choice that is described at length"] * 12)


@pytest.fixture
def popup() -> Iterator[Popup]:
    with open_window(NoActions()) as made:
        yield made


def asked(options: tuple[str, ...], prompt: str = "Which one?") -> SessionView:
    """A run that asks for one of the options."""
    question = Question("s3.1", "s3", prompt, options=options)
    return folded([*sent(), *received(*planned(2), StepStarted(STEPS[2]), InputRequested(question))])


def inside(popup: Popup, part: QWidget) -> bool:
    """Whether the part is between the left and the right edge of the window's content, with all that it shows."""
    left = part.mapTo(popup.body.viewport(), QPoint(0, 0)).x()
    enough = part.width() >= part.sizeHint().width() and part.height() >= part.sizeHint().height()
    return enough and 0 <= left <= left + part.width() <= popup.body.viewport().width()


@pytest.mark.parametrize("options", [LONG_OPTIONS, (*LONG_OPTIONS, LONGEST), tuple("ABCDEFGHI")], ids=len)
def test_each_option_is_visible_and_reached_by_tab(popup: Popup, options: tuple[str, ...]) -> None:
    """Options that do not fit beside each other are below each other: whole, in order, and reached by Tab."""
    popup.show_view(asked(options))
    QApplication.processEvents()
    card = popup.body.card
    assert isinstance(card, QuestionCard)
    assert all(inside(popup, made) for made in card.options)
    for number, option in enumerate(options, start=1):
        focused = popup.focusWidget()
        assert focused is card.options[number - 1]
        assert focused.accessibleName() == f"{number}  {option}"
        popup.focusNextChild()


def test_a_long_option_is_cut_after_some_lines_and_whole_in_its_tooltip(popup: Popup) -> None:
    """An option that needs too many lines ends with an ellipsis; its tooltip has the whole text, without markup."""
    option = f"<b>{LONGEST}</b>"
    popup.show_view(asked((option, "Fish & chips")))
    card = popup.body.card
    assert isinstance(card, QuestionCard)
    long, short = card.options
    assert len(long.text().splitlines()) == 3
    assert long.text().endswith("…")
    assert "&lt;b&gt;" in long.toolTip()
    assert (short.text(), short.toolTip()) == ("2  Fish && chips", "")


def test_a_long_word_pushes_nothing_out_of_the_window(popup: Popup) -> None:
    """A question with a path of 300 characters is broken into lines, and its options stay in the window."""
    popup.show_view(asked(("Keep", "Delete"), f"Delete /{'folder' * 50}?"))
    QApplication.processEvents()
    card = popup.body.card
    assert isinstance(card, QuestionCard)
    assert card.width() < popup.body.viewport().width()
    assert all(inside(popup, made) for made in card.options)
    assert card.heading.height() >= 4 * card.heading.fontMetrics().height()


def test_lines_are_cut_between_characters_outside_of_the_basic_plane() -> None:
    """Text with emoji, which Qt counts as two characters each, is wrapped without loss."""
    lines = wrapped("🙂🙃 " * 40, font_of(14), 200, 99).splitlines()
    assert "".join(lines).replace(" ", "") == "🙂🙃" * 40
    assert len(lines) > 3
