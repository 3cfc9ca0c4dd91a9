"""Screens of real sessions, compared with the window as it draws itself without one."""

from collections.abc import Callable

import xcffib.xproto
from PySide6.QtGui import QImage

from aeon_popup.hotkey.x11 import connect
from aeon_popup.state import happenings
from aeon_popup.state.session import SessionView, after
from aeon_popup.ui.theme import DARK, TOP, WIDTH
from aeond_client import Client
from tests.support.compared_pictures import check_picture
from tests.support.desktop_session import DEADLINE_SECONDS, Popup
from tests.support.popup_pictures import panel_of
from tests.support.popup_script import NOTE

_SCREEN_WIDTH, _SCREEN_HEIGHT = 1280, 800


def x11_screen(display: str) -> QImage:
    """The picture on the screen of an X server."""
    connection = connect(display)
    try:
        setup = connection.get_setup()
        root = setup.roots[connection.pref_screen]
        size = (root.width_in_pixels, root.height_in_pixels)
        pixmap = xcffib.xproto.ImageFormat.ZPixmap
        data = connection.core.GetImage(pixmap, root.root, 0, 0, *size, 0xFFFFFFFF).reply().data
        return QImage(bytes(data.buf()), *size, QImage.Format.Format_RGB32).copy()
    finally:
        connection.disconnect()


def check_screens(popup: Popup, socket: str, screen: Callable[[], QImage], name: str, top: int = 0) -> None:
    """Compares the empty prompt, and the answer of a run, on a screen of 1280 x 800 whose popup has the dark theme.

    The change of the run is undone: later tests with the same daemon need a memory without it.
    """
    left, upper = (_SCREEN_WIDTH - WIDTH) // 2, top or int(_SCREEN_HEIGHT * TOP)

    def compare(state: str, view: SessionView) -> None:
        expected = panel_of(state, view, DARK)
        check_picture(
            f"{name}-{state}",
            lambda: screen().copy(left, upper, expected.width(), expected.height()),
            expected,
            DEADLINE_SECONDS,
        )

    popup.open()
    view = after(SessionView(), happenings.LinkUp(socket))
    compare("prompt", view)
    since = popup.seen()
    popup.type(NOTE)
    popup.press("Return")
    run_id = popup.wait_for("stage", since, stage="done")["run"]
    view = after(after(view, happenings.Submitted("k", NOTE)), happenings.Accepted("k", run_id, "s"))
    with Client(socket) as client, client.watch(run_id) as events:
        for event in events:
            view = after(view, happenings.Received("k", event, event.time))
        assert client.undo_run(run_id).undone
    compare("done", view)
