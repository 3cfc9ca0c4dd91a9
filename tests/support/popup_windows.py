"""Windows of the popup in the test's own process, without a display."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtWidgets", reason="Qt is not installed here", exc_type=ImportError)

from PySide6.QtWidgets import QApplication

from aeon_popup.controller import Controller
from aeon_popup.state.session import SessionView
from aeon_popup.trace import Trace
from aeon_popup.ui.popup import Popup, application
from aeon_popup.ui.theme import DARK


@contextmanager
def open_window(actions: Any, view: SessionView | None = None) -> Iterator[Popup]:
    """A window over these actions that has appeared, with this view if one is given; gone at the end."""
    app = QApplication.instance() or application(["tests"])
    made = Popup(actions, DARK, Trace(), composited=True, motion=False)
    if view is not None:
        made.show_view(view)
    made.appear()
    app.processEvents()
    yield made
    made.hide()
    made.deleteLater()
    app.processEvents()


@contextmanager
def open_controlled_window(
    daemon: Any, view: SessionView | None = None
) -> Iterator[tuple[Controller, Popup]]:
    """The same with the controller that the program has, which calls this daemon."""
    controller = Controller(daemon, Trace(), notify=lambda notice: None, close_notice=lambda key: None)
    with open_window(controller, view) as popup:
        controller.screen = popup
        if view is not None:
            controller.view = view
        yield controller, popup
