"""Draws the popup's states into docs/pictures: `python -m tests.support.popup_pictures [FOLDER]`."""

import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from aeon_popup.state.happenings import HotkeySet

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from aeon_popup.state import happenings
from aeon_popup.state.session import SessionView, after
from aeon_popup.trace import Trace
from aeon_popup.ui import commands
from aeon_popup.ui.popup import Popup, application
from aeon_popup.ui.theme import DARK, LIGHT, SHADOW, WIDTH, Palette
from tests.support.compared_pictures import channels
from tests.support.popup_rare_states import UNMATCHED, rare_states
from tests.support.popup_states import NOW, TAKEN, history, states
from tests.support.repository import ROOT

FOLDER = ROOT / "docs" / "pictures"
_EDGE = 12
# Of a colour channel, of 255: how far a colour is from the nearest of the 256 that a kept picture has. The most is 17 now.
_ROUNDED = 24


class NoActions:
    """Ignores every choice of the user."""

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_args, **_more: None


def picture(popup: Popup, scale: int = 1) -> QImage:
    """The window over a plain desktop, on a screen with `scale` times the usual density."""
    width, height = WIDTH + 2 * SHADOW + 2 * _EDGE, popup.height() + 2 * _EDGE
    image = QImage(width * scale, height * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    painter = QPainter(image)
    painter.fillRect(0, 0, width, height, QColor("#34506a"))
    popup.render(painter, QPoint(_EDGE, _EDGE))
    painter.end()
    return image


def fewer_colours(image: QImage) -> QImage:
    """The picture with 256 colours, which makes its file a third as large: one of each hue, then the most frequent."""
    frequent = [colour for colour, _ in Counter(memoryview(image.constBits()).cast("I")).most_common()]
    hues = {colour & 0xF0F0F0: colour for colour in reversed(frequent)}.values()
    chosen = dict.fromkeys([*reversed(hues), *frequent])
    return image.convertToFormat(QImage.Format.Format_Indexed8, list(chosen)[:256])


def other_pixels(kept: QImage, drawn: QImage) -> int:
    """How many pixels of a kept picture, which has 256 colours, are not as they are drawn: all of them if the sizes differ."""
    if kept.size() != drawn.size():
        return drawn.width() * drawn.height()
    one, other = (channels(image.convertToFormat(QImage.Format.Format_RGB32)) for image in (kept, drawn))
    return int((np.abs(one - other).max(axis=2) > _ROUNDED).sum())


def draw(
    name: str, view: SessionView, palette: Palette, app: Any, scale: int = 1, now: float = NOW
) -> QImage:
    """One state at a time. The window is made for it, so that no picture depends on the one before. Text cursors do not blink."""
    app.setCursorFlashTime(0)
    actions: Any = NoActions()
    popup = Popup(actions, palette, Trace(), composited=True, motion=False, now=lambda: now)
    popup.show_view(view)
    popup.appear()
    if name.startswith("history"):
        popup.perform(commands.Command.HISTORY)
    if name == "history-unmatched":
        popup.prompt.insertPlainText(UNMATCHED)
    if name.startswith("keys"):
        popup.perform(commands.Command.KEYS)
    if name == "details":
        popup.perform(commands.Command.DETAILS)
    app.processEvents()
    popup.show_view(view)
    app.processEvents()
    image = picture(popup, scale)
    popup.hide()
    popup.deleteLater()
    return image


def picture_of(name: str, view: SessionView, palette: Palette, now: float = NOW, scale: int = 1) -> QImage:
    """The window over a plain desktop, in a program that may have a Qt application already."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else application(["popup-pictures"])
    return draw(name, view, palette, app, scale, now)


def panel_of(name: str, view: SessionView, palette: Palette, now: float = NOW) -> QImage:
    """The panel alone."""
    edge = SHADOW + _EDGE
    whole = picture_of(name, view, palette, now)
    return whole.copy(edge, edge, whole.width() - 2 * edge, whole.height() - 2 * edge)


def every_state() -> dict[str, SessionView]:
    """The states, and the lists that the user opens."""
    made = dict(states())
    made["history"] = after(made["prompt"], happenings.HistoryListed(history()))
    made["history-failed"] = after(made["prompt"], happenings.HistoryFailed("The daemon is overloaded."))
    made |= rare_states()
    made["keys"] = replace(made["prompt"], hotkey=HotkeySet("Ctrl+Alt+Space"))
    made["hotkey-taken"] = made["keys-taken"] = replace(made["prompt"], hotkey=HotkeySet(problem=TAKEN))
    made["details"] = made["done"]
    return made


def main(folder: Path = FOLDER) -> None:
    """Writes one PNG for each state, palette and density."""
    app = application(["popup-pictures"])
    folder.mkdir(parents=True, exist_ok=True)
    for palette in (DARK, LIGHT):
        for name, view in every_state().items():
            for scale, suffix in ((1, ""), (2, "@2x")):
                image = draw(name, view, palette, app, scale)
                fewer_colours(image).save(str(folder / f"popup-{name}-{palette.name}{suffix}.png"))


if __name__ == "__main__":
    main(*(Path(word) for word in sys.argv[1:]))
