"""The popup in a real Plasma session: KWin and the portal of KDE for global shortcuts."""

import os
import sys
import time
from collections.abc import Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)
pytest.importorskip("xcffib", reason="xcffib is not installed here", exc_type=ImportError)

from aeon_popup.ui import theme
from tests.support.daemon_process import DaemonProcess
from tests.support.desktop_session import DEADLINE_SECONDS, HOTKEY, Popup
from tests.support.kwin_session import KwinSession, kwin_session, needs_kwin
from tests.support.ledgers import Gate
from tests.support.popup_motion import check_motion
from tests.support.popup_screens import Screen, check_screens, x11_screen
from tests.support.popup_script import GATE

pytestmark = needs_kwin
TOGGLE = (sys.executable, "-m", "aeon_popup", "--toggle")


@pytest.fixture(scope="module")
def kwin() -> Iterator[KwinSession]:
    with kwin_session() as made:
        yield made


@pytest.fixture
def scheme() -> str:
    return theme.DARK.name


@pytest.fixture
def popup(kwin: KwinSession, daemon: DaemonProcess, scheme: str) -> Iterator[Popup]:
    """A popup whose hotkey the portal has bound."""
    with Popup(kwin, daemon.socket, "--theme", scheme) as made:
        made.wait_for("armed", shortcut="Ctrl+Alt+Space")
        yield made


def test_the_portal_binds_the_hotkey(popup: Popup) -> None:
    """The hotkey, bound by the real portal, opens the window with the focus and closes it; it is bound once."""
    popup.open()
    since = popup.seen()
    popup.press(HOTKEY)
    popup.wait_for("hidden", since)
    assert [len(popup.all(what)) for what in ("armed", "pressed", "shown")] == [1, 2, 1]


def test_a_held_hotkey_acts_once(kwin: KwinSession, popup: Popup) -> None:
    """However long the hotkey is held, the window is shown once and not hidden again; the next press hides it."""
    since = popup.seen()
    kwin.hold("ctrl", "alt", "space")
    popup.wait_for("painted", since)
    popup.wait_for_repeats(5, since)
    kwin.release("space", "alt", "ctrl")
    popup.wait_for("focused", since)
    popup.press(HOTKEY)
    popup.wait_for("hidden", since)
    assert [len(popup.all(what, since)) for what in ("pressed", "shown", "hidden")] == [2, 1, 1]


def test_another_program_toggles_the_window(kwin: KwinSession, popup: Popup) -> None:
    """`aeon-popup --toggle`, as a key of the user's own runs it, shows the window with the focus, and hides it again."""
    since = popup.seen()
    kwin.run(*TOGGLE)
    popup.wait_for("painted", since)
    popup.wait_for("focused", since)
    kwin.run(*TOGGLE)
    popup.wait_for("hidden", since)


def test_each_start_uses_the_same_shortcut(kwin: KwinSession, popup: Popup, daemon: DaemonProcess) -> None:
    """A later start finds the shortcut of the earlier one, with the key that the user may have given it, and adds none."""
    before = kwin.shortcuts()
    assert "dev_aeon_Popup" in before
    popup.process.terminate()
    popup.process.wait(DEADLINE_SECONDS)
    with Popup(kwin, daemon.socket) as again:
        again.wait_for("armed", shortcut="Ctrl+Alt+Space")
        assert kwin.shortcuts() == before
        again.open()


def test_the_shortcut_survives_the_death_of_the_portal(kwin: KwinSession, popup: Popup) -> None:
    """When the portal has died, the popup starts it again, binds the shortcut again, and the hotkey works."""
    since = popup.seen()
    kwin.end_portal()
    popup.wait_for("armed", since, shortcut="Ctrl+Alt+Space")
    popup.open()


def test_the_panel_has_its_place(kwin: KwinSession, popup: Popup) -> None:
    """The panel is where it is on X11: in the middle, its top at a fixed share of the screen's height."""
    popup.open()
    x, top = 640 - theme.WIDTH // 2 + 8, int(800 * theme.TOP)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while kwin.colour(x, top + 20) != theme.DARK.bg:
        assert time.monotonic() < deadline, f"{kwin.colour(x, top + 20)} is not the colour of the panel"
    assert kwin.colour(x, top - theme.SHADOW - 4) == kwin.colour(4, 4)


@pytest.mark.parametrize("scheme", [theme.DARK.name, theme.LIGHT.name])
def test_the_screen_shows_what_the_window_draws(
    kwin: KwinSession, popup: Popup, daemon: DaemonProcess, scheme: str
) -> None:
    """On KWin the screen has, in dark and in light, the prompt, the answer of a run and a question as the window draws them by itself."""
    palette = {one.name: one for one in (theme.DARK, theme.LIGHT)}[scheme]
    check_screens(
        popup, str(daemon.socket), Screen("kwin", lambda: x11_screen(kwin.display), palette=palette)
    )


def test_the_window_follows_the_speed_of_animations(kwin: KwinSession, popup: Popup) -> None:
    """With the real portal of KDE: animations stop when the desktop has them switched off, and are back with them."""
    check_motion(popup, kwin.animate)


def test_a_request_runs_to_its_answer(popup: Popup, gate: Gate) -> None:
    """A typed request shows its step while it runs, ticks it off when it has ended, and then shows the answer; Escape
    hides the window.
    """
    popup.open()
    since = popup.seen()
    popup.type(GATE)
    popup.press("Return")
    gate.held()
    popup.wait_for("rows", since, rows=["spinner"])
    gate.open()
    popup.wait_for("rows", since, rows=["tick"])
    popup.wait_for("stage", since, stage="done")
    popup.press("Escape")
    popup.wait_for("hidden", since)
