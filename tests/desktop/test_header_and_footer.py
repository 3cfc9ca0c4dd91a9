"""The header and the footer of the window: the request, and the keys that are offered for it or listed."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest

from aeon_popup.state.happenings import HotkeySet
from aeon_popup.ui import commands
from aeon_popup.ui.commands import Command, offered
from aeon_popup.ui.popup import Popup
from tests.support.popup_pictures import NoActions
from tests.support.popup_states import TAKEN, history, states
from tests.support.popup_windows import open_window
from tests.support.repository import ROOT

# The keys of the list by their names in the documentation.
NAMES = {"⏎": "Enter", "⌫": "Backspace", "↑": "Up", "PgUp": "PageUp", "PgDn": "PageDown", "…": " to Alt+"}


@pytest.fixture
def popup() -> Iterator[Popup]:
    with open_window(NoActions()) as made:
        yield made


@pytest.mark.parametrize("state", ["prompt", "done", "running"])
def test_up_shows_the_history_where_it_moves_no_cursor(popup: Popup, state: str) -> None:
    """The key Up shows recent runs in the empty prompt and below an answer; the footer offers it only where it does."""
    popup.show_view(replace(states()[state], history=history()))
    QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Up)
    assert popup.body.history.isVisible()


@pytest.mark.parametrize(("draft", "offered_there"), [("", True), ("text", False)])
def test_the_footer_offers_up_only_where_it_shows_the_history(draft: str, *, offered_there: bool) -> None:
    """While a text is being written, in which Up moves the cursor, the footer does not offer it for the history."""
    for name in ("prompt", "done"):
        view = states()[name].follow_up_started(draft).drafted(draft)
        assert (Command.HISTORY in dict(offered(view))) is offered_there


def test_the_footer_offers_to_open_a_run_only_where_there_is_one(popup: Popup) -> None:
    """In an empty list of recent runs, and in one without a run that has the typed words, Enter opens nothing, so the footer does
    not offer it.
    """
    view = states()["prompt"]
    popup.show_view(view)
    popup.perform(Command.HISTORY)
    opens = "Open (⏎)"
    assert opens not in offers(popup)
    popup.show_view(replace(view, history=history()))
    assert opens in offers(popup)
    QTest.keyClicks(popup.focusWidget(), "no such run")
    assert opens not in offers(popup)
    popup.prompt.clear()
    assert opens in offers(popup)


def offers(popup: Popup) -> list[str]:
    """The commands in the footer."""
    layout = popup.footer._hints
    items = [layout.itemAt(place) for place in range(layout.count())]
    hints = [item.widget() for item in items if item is not None]
    return [one.accessibleName() for one in hints if one is not None]


def test_drawing_the_history_again_leaves_nothing_behind(popup: Popup) -> None:
    """Each drawing of the recent runs uses the objects of the first one."""
    view = replace(states()["prompt"], history=history())
    popup.show_view(view)
    popup.perform(Command.HISTORY)
    before = len(popup.body.history.findChildren(QObject))
    for _ in range(20):
        popup.show_view(view)
    assert len(popup.body.history.findChildren(QObject)) == before


def test_a_long_request_is_whole_in_its_tooltip(popup: Popup) -> None:
    """A request that is cut to one line after it was sent has all of its text in a tooltip; a short one has none."""
    view = states()["running"]
    text = "Compare <b>all</b> flights\nand hotels " * 20
    popup.show_view(replace(view, runs=(replace(view.runs[0], text=text),)))
    assert popup.prompt.toPlainText().endswith("…")
    assert popup.prompt.toolTip().count("&lt;b&gt;all&lt;/b&gt;") == 20
    popup.show_view(replace(view, runs=(replace(view.runs[0], text="Short"),)))
    assert popup.prompt.toolTip() == ""


def test_help_and_documentation_list_the_same_keys(popup: Popup) -> None:
    """F1 shows the keys that docs/popup.md lists, and no others; each key of a command is among them."""
    popup.perform(Command.KEYS)
    shown = re.findall(r">([^<>]+)</td>", popup.body.keys.text())[2::2]
    listed = {key for cell in shown for key in cell.split(", ")}
    for symbol, name in NAMES.items():
        listed = {key.replace(symbol, name) for key in listed}
    table = (ROOT / "docs" / "popup.md").read_text(encoding="utf-8").split("## Keys")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][2:]
    documented = {
        key for row in rows if not row.startswith("any ") for key in re.split(r", (?:then )?| or ", row)
    }
    assert listed == documented
    bound = {"+".join(words(key, modifiers)) for modifiers, key in commands._KEYS}
    assert bound <= listed


def words(key: Qt.Key, modifiers: Qt.KeyboardModifier) -> list[str]:
    """A key as the documentation names it."""
    names = {"Return": "Enter", "Period": "."}
    held = [name for name in ("Control", "Shift") if modifiers & Qt.KeyboardModifier[f"{name}Modifier"]]
    name = key.name.removeprefix("Key_")
    return [*(one.replace("Control", "Ctrl") for one in held), names.get(name, name)]


@pytest.mark.parametrize(("draft", "offered_there"), [("", True), ("text", False)])
def test_the_footer_of_the_empty_prompt_offers_the_keys(draft: str, *, offered_there: bool) -> None:
    """Where nothing has been typed the footer offers the list of keys; a text and a run leave no room for it."""
    view = states()["prompt"].drafted(draft)
    assert (Command.KEYS in dict(offered(view))) is offered_there
    assert Command.KEYS not in dict(offered(states()["done"].follow_up_started(draft)))


def test_the_prompt_says_that_the_hotkey_is_taken(popup: Popup) -> None:
    """Below the empty prompt there is why the hotkey does not work, until it was bound; the list of keys has it instead."""
    taken = replace(states()["prompt"], hotkey=HotkeySet(problem=TAKEN))
    popup.show_view(taken)
    assert popup.body.note.isVisible()
    assert TAKEN in popup.body.note.text()
    popup.perform(Command.KEYS)
    assert not popup.body.note.isVisible()
    assert TAKEN in popup.body.keys.text()
    popup.perform(Command.KEYS)
    for hotkey in (HotkeySet("Super+A"), HotkeySet(problem="There is no portal.", absent=True)):
        popup.show_view(taken)
        assert popup.body.note.isVisible()
        popup.show_view(replace(taken, hotkey=hotkey))
        assert not popup.body.note.isVisible()


def test_the_open_list_of_keys_follows_the_hotkey(popup: Popup) -> None:
    """A hotkey that is bound or lost while the list of keys is open changes its line there."""
    popup.show_view(states()["prompt"])
    popup.perform(Command.KEYS)
    for hotkey, shown in ((HotkeySet("Super+A"), "Super+A"), (HotkeySet(problem=TAKEN), TAKEN)):
        assert shown not in popup.body.keys.text()
        popup.show_view(replace(states()["prompt"], hotkey=hotkey))
        assert shown in popup.body.keys.text()


def described(popup: Popup) -> tuple[str, str, str]:
    """What a screen reader gets of the field with the focus, and its placeholder."""
    field = QAccessible.queryAccessibleInterface(popup.focusWidget())
    name, description = (field.text(one) for one in (QAccessible.Text.Name, QAccessible.Text.Description))
    return name, description, popup.prompt.placeholderText()


def test_the_chosen_run_of_the_history_is_spoken(popup: Popup) -> None:
    """While recent runs are shown the field is named after its purpose, and described by the text and the state of the chosen
    run; before and afterwards it is the field for the request.
    """
    request = ("Request", "", "Ask Aeon to do something…")
    names = ("Filter recent runs", "Filter recent runs…")
    popup.show_view(replace(states()["prompt"], history=history()))
    assert described(popup) == request
    for _ in range(2):
        popup.perform(Command.HISTORY)
        assert described(popup) == (names[0], f"{history()[0].text}, running", names[1])
        QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Down)
        assert described(popup) == (names[0], f"{history()[1].text}, awaiting input", names[1])
        QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Up)
        popup.perform(Command.HISTORY)
        assert described(popup) == request
    popup.perform(Command.HISTORY)
    QTest.keyClicks(popup.focusWidget(), "HEIC")
    assert described(popup)[1] == f"{history()[4].text}, cancelled"
    QTest.keyClicks(popup.focusWidget(), "no such run")
    assert described(popup)[1] == ""
