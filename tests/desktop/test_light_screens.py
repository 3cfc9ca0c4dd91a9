"""The window in light colours on a screen of X11; the other files of this folder show it in dark ones."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)
pytest.importorskip("xcffib", reason="xcffib is not installed here", exc_type=ImportError)

from aeon_popup.ui.theme import LIGHT
from tests.support.daemon_process import daemon_folder
from tests.support.desktop_session import Popup, XSession
from tests.support.popup_screens import Screen, check_approval, check_screens, x11_screen
from tests.support.stages import Stage, staged


@contextmanager
def light_popup(session: XSession, socket: str) -> Iterator[tuple[Popup, Screen]]:
    """A popup in light colours that waits for its hotkey, and the screen."""
    with Popup(session, socket, "--theme", "light") as popup:
        popup.wait_for("armed", shortcut="Ctrl+Alt+Space")
        yield popup, Screen("x11", lambda: x11_screen(session.display), palette=LIGHT)


@pytest.fixture
def asking_stage() -> Iterator[Stage]:
    """A daemon with the profile that asks."""
    with daemon_folder() as folder, staged(folder, {"policy": {"profile": "ask"}}) as made:
        yield made


def test_the_screen_shows_light_what_the_window_draws(session: XSession, stage: Stage) -> None:
    """On X11 the screen has, in light colours, the prompt, the answer of a run and a question as the window draws them by itself."""
    with light_popup(session, stage.socket) as (popup, screen):
        check_screens(popup, stage.socket, screen)


def test_the_screen_shows_a_light_approval_as_the_window_draws_it(
    session: XSession, asking_stage: Stage
) -> None:
    """On X11 the screen has, in light colours, the card of an approval as the window draws it by itself."""
    with light_popup(session, asking_stage.socket) as (popup, screen):
        check_approval(popup, asking_stage.socket, screen)
