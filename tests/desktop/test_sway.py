"""The popup in a real Wayland session: sway, with the key bound as the documentation says."""

import os
import time
from collections.abc import Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtGui import QColor, QImage

from aeon_popup.ui.theme import DARK, SHADOW, TOP, WIDTH
from aeond_client import Client, RunOptions
from tests.support.daemon_process import DaemonProcess
from tests.support.desktop_session import DEADLINE_SECONDS, HOTKEY, Popup
from tests.support.ledgers import Gate
from tests.support.popup_screens import Screen, check_screens
from tests.support.popup_script import FOLLOW_UP, GATE, QUESTION, asking
from tests.support.sway_session import SwaySession, key_window, needs_sway, sway_session

pytestmark = needs_sway


@pytest.fixture(scope="module")
def sway() -> Iterator[SwaySession]:
    with sway_session() as made:
        yield made


@pytest.fixture
def popup(sway: SwaySession, daemon: DaemonProcess) -> Iterator[Popup]:
    """A popup that waits for `--toggle`."""
    with Popup(sway, daemon.socket, "--theme", "dark") as made:
        made.wait_for("armed")
        yield made


def picture_of(sway: SwaySession) -> QImage:
    """The picture of the screen now."""
    return QImage(str(sway.picture(sway.folder / "screen.png")))


def ask(popup: Popup, text: str) -> str:
    """Types a request into the open window; the id of its run."""
    since = popup.seen()
    popup.type(text)
    popup.press("Return")
    return str(popup.wait_until(lambda entry: bool(entry.get("run")), since)["run"])


def test_a_key_bound_to_toggle_opens_and_closes(popup: Popup) -> None:
    """Without a portal the popup names the command to bind; a key of sway bound to it shows and hides the window."""
    (armed,) = popup.all("armed")
    assert "aeon-popup --toggle" in armed["problem"]
    popup.open()
    since = popup.seen()
    popup.press(HOTKEY)
    popup.wait_for("hidden", since)
    popup.open()


def test_a_held_key_acts_once(sway: SwaySession, popup: Popup) -> None:
    """A key that is bound as documented shows the window once, also if it is held for longer than sway waits for its repeats."""
    since = popup.seen()
    sway.hold("space", 1_000)
    popup.wait_for("focused", since)
    popup.press(HOTKEY)
    popup.wait_for("hidden", since)
    assert [len(popup.all(what, since)) for what in ("shown", "hidden")] == [1, 1]


def test_the_window_floats_in_its_place_and_has_the_focus(sway: SwaySession, popup: Popup) -> None:
    """Without a rule for it the window floats on a tiling desktop, has the focus and the application's id, and its panel
    has the same place as on X11; the space below the panel shows what is behind the window.
    """
    popup.open()
    window = sway.window()
    assert (window["app_id"], window["type"], window["focused"]) == ("dev.aeon.Popup", "floating_con", True)
    place = window["rect"]
    top = place["y"] + SHADOW
    assert abs(top - 800 * TOP) <= 1
    assert place["x"] + place["width"] // 2 == 640
    picture = picture_of(sway)
    left = 640 - WIDTH // 2
    assert picture.pixelColor(left + 8, top + 20) == QColor(DARK.bg)
    assert picture.pixelColor(640, place["y"] + place["height"] - SHADOW - 4) == picture.pixelColor(4, 4)


def test_the_screen_shows_what_the_window_draws(
    sway: SwaySession, popup: Popup, daemon: DaemonProcess
) -> None:
    """On sway the screen has the prompt, the answer of a run and a question as the window draws them by itself."""
    popup.open()
    top = sway.window()["rect"]["y"] + SHADOW
    since = popup.seen()
    popup.press(HOTKEY)
    popup.wait_for("hidden", since)
    check_screens(popup, str(daemon.socket), Screen("sway", lambda: picture_of(sway), top))


def test_the_whole_panel_stays_on_the_screen(sway: SwaySession, popup: Popup) -> None:
    """A panel that grows, as for the list of keys, keeps its place and the size of its window."""
    popup.open()
    before = sway.window()["rect"]
    popup.press("F1")
    deadline = time.monotonic() + DEADLINE_SECONDS
    place = (640 - WIDTH // 2 + 8, int(800 * TOP) + 200)
    while picture_of(sway).pixelColor(*place) != QColor(DARK.bg):
        assert time.monotonic() < deadline, "the panel does not grow"
    assert sway.window()["rect"] == before
    assert before["y"] >= 0
    assert before["y"] + before["height"] <= 800


def test_escape_leaks_no_key_and_returns_the_focus(sway: SwaySession, popup: Popup) -> None:
    """Escape hides the window and does not reach the window below, which has the focus again afterwards."""
    with key_window(sway) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "focused\n"
        popup.open()
        since = popup.seen()
        popup.press("Escape")
        popup.wait_for("hidden", since)
        assert other.stdout.readline() == "focused\n"
        popup.press("x")
        assert other.stdout.readline() == "x\n"


def test_the_hotkey_raises_a_window_without_the_focus(sway: SwaySession, popup: Popup) -> None:
    """The key brings a window to the front that another one may cover, because it has the focus, instead of hiding it."""
    popup.open()
    with key_window(sway) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "focused\n"
        since = popup.seen()
        popup.press(HOTKEY)
        popup.wait_for("withdrawn", since)
        popup.wait_for("focused", since)
        assert [one["app_id"] for one in sway.windows() if one["focused"]] == ["dev.aeon.Popup"]
        popup.press(HOTKEY)
        popup.wait_for("hidden", since)


def test_a_request_runs_to_its_answer(popup: Popup, gate: Gate) -> None:
    """A typed request shows its step while it runs, ticks it off when it has ended, and then shows the answer; text typed
    below it is the next request.
    """
    popup.open()
    since = popup.seen()
    first = ask(popup, GATE)
    gate.held()
    popup.wait_for("rows", since, rows=["spinner"])
    gate.open()
    popup.wait_for("rows", since, rows=["tick"])
    popup.wait_for("stage", since, stage="done", run=first)
    since = popup.seen()
    second = ask(popup, FOLLOW_UP)
    assert second != first
    popup.wait_for("stage", since, stage="done", run=second)


def test_a_question_is_answered_by_a_key(popup: Popup, gate: Gate, daemon: DaemonProcess) -> None:
    """A question shows its options; Alt+2 answers with the second one and the run continues to its end."""
    with Client(str(daemon.socket)) as client:
        run_id = client.create_run(QUESTION, RunOptions(plan=asking(gate))).run_id
        gate.open()
        popup.open()
        since = popup.seen()
        popup.press("Up")
        popup.wait_for("history", since)
        popup.press("Return")
        popup.wait_for("stage", since, stage="question")
        popup.choose("alt+2")
        popup.wait_for("stage", since, stage="done")
        assert client.get_run(run_id).steps[1].output == "blue"
