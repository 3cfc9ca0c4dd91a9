"""Records hotkey, question and answer in a real X session: `python -m tests.support.popup_recording [FILE]`.

Every frame is what the screen showed, with openbox, the popup and the daemon as programs of their own; keys are pressed by
xdotool. The model is scripted. Below the window the frame has the key that was pressed. How long frames stay is chosen for
readers.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import xcffib.xproto
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from aeon_popup.hotkey.x11 import connect
from aeon_popup.state.happenings import Accepted, LinkUp, Received
from aeon_popup.state.session import SessionView, after
from aeon_popup.ui.popup import application
from aeon_popup.ui.theme import DARK, FAMILIES, RADIUS, TOP, WIDTH
from aeond_client import Client, RunOptions
from aeond_client.events import InputRequested
from tests.support.animated_png import Frame, animated_png, frames_of
from tests.support.daemon_process import daemon_folder
from tests.support.desktop_session import DEADLINE_SECONDS, Popup, XSession, desktop_session
from tests.support.popup_screens import x11_screen
from tests.support.repository import ROOT
from tests.support.stages import staged

FILE = ROOT / "docs" / "pictures" / "recording-popup.png"
REQUEST = "Remember where I parked the car"
_CHOICE = "Level 3"
ANSWER = "Noted: your car is on **level 3**."
SCRIPT = {
    "rules": [
        {
            "contains": "You plan how",
            "pattern": REQUEST,
            "json": {
                "steps": [
                    {
                        "description": "Ask for the place",
                        "tool": "request_user_input",
                        "arguments": {"prompt": "Where is it parked?", "options": ["Level 2", _CHOICE]},
                    },
                    {
                        "description": "Remember the place",
                        "tool": "remember",
                        "arguments": {"key": "car", "value": "$s1"},
                        "depends_on": ["s1"],
                    },
                ]
            },
        },
        {"pattern": rf"{REQUEST}\Z", "json": {"plan": True}},
        {"text": ANSWER},
    ]
}
_DESKTOP = QColor("#34506a")
# The frame: the panel with a margin around it, and below that a strip with the key.
_MARGIN, _HEIGHT, _STRIP = 40, 380, 52
_FRAME = QRect((1280 - WIDTH) // 2 - _MARGIN, int(800 * TOP) - _MARGIN, WIDTH + 2 * _MARGIN, _HEIGHT)
_FOLLOWED_SECONDS = 1.0
_TYPED, _MOVING, _SHORT, _LONG = 70, 150, 900, 2_600
# The run and its times in the footer, which differ in each recording: their place in the panel, from its lower left corner.
_META = QRect(20, -32, 200, 31)


class Film:
    """The frames so far. `key` is what was pressed before the frame."""

    def __init__(self, session: XSession) -> None:
        self._session = session
        self._last = QImage()
        self.frames: list[Frame] = []

    def take(self, milliseconds: int, key: str = "") -> None:
        """Adds the screen, once it differs from the frame before."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (seen := self._seen()) == self._last:
            assert time.monotonic() < deadline, f"nothing has changed after {key}"
        self._last = seen
        self.frames.append(Frame(_with_key(seen, key), milliseconds))

    def follow(self, milliseconds: int, key: str) -> None:
        """Adds what the screen shows within the next second."""
        end = time.monotonic() + _FOLLOWED_SECONDS
        while time.monotonic() < end:
            if self._seen() != self._last:
                self.take(milliseconds, key)

    def _seen(self) -> QImage:
        return x11_screen(self._session.display).copy(_FRAME)


def record(session: XSession, popup: Popup) -> list[Frame]:
    """Opens the window, types the request, answers the question, reads the answer and closes the window."""
    film = Film(session)
    film.take(_SHORT)
    popup.open()
    film.take(_SHORT, "Ctrl + Alt + Space")
    for end in range(1, len(REQUEST) + 1):
        session.type(REQUEST[end - 1])
        film.take(_TYPED if end < len(REQUEST) else _SHORT)
    _after(film, popup, lambda: popup.press("Return"), "question", "Enter")
    _after(film, popup, lambda: popup.choose("alt+2"), "done", "Alt + 2")
    since = popup.seen()
    popup.press("Escape")
    popup.wait_for("hidden", since)
    film.take(_SHORT, "Esc")
    return film.frames


def _after(film: Film, popup: Popup, press: Callable[[], None], stage: str, key: str) -> None:
    """The frames from a key until the window shows this stage; the last one stays."""
    since = popup.seen()
    press()
    film.take(_SHORT, key)
    popup.wait_for("stage", since, stage=stage)
    film.follow(_MOVING, key)
    film.frames[-1] = Frame(film.frames[-1].image, _LONG)


def recorded_views(socket: str) -> Mapping[str, SessionView]:
    """The typed request, the question and the answer, from the events of a new run."""
    typed = after(SessionView(), LinkUp(socket)).drafted(REQUEST)
    sent = typed.submitted("k", REQUEST)
    views = {"prompt": typed}
    with Client(socket) as client:
        session = client.create_session().session_id
        run_id = client.create_run(REQUEST, RunOptions(session_id=session)).run_id
        view = after(sent, Accepted("k", run_id, session))
        with client.watch(run_id) as events:
            for event in events:
                view = after(view, Received("k", event, event.time))
                if isinstance(event.kind, InputRequested):
                    views["question"] = view
                    client.answer_run(run_id, _CHOICE)
    return {**views, "done": view}


def recorded_frames(film: bytes) -> Mapping[str, QImage]:
    """The frames of a film that show these."""
    frames = list(frames_of(film))
    question, answer = (frame.image for frame in frames if frame.milliseconds == _LONG)
    return {"prompt": frames[1 + len(REQUEST)].image, "question": question, "done": answer}


def panel_in(frame: QImage, height: int) -> QImage:
    """The panel of this height in a frame."""
    return frame.copy(_MARGIN, _MARGIN, WIDTH, height)


def comparable(panel: QImage) -> QImage:
    """The panel without what differs in each recording, the run and its times, and without the corners, which are smooth only
    where the screen is composited.
    """
    made = panel.convertToFormat(QImage.Format.Format_RGB32)
    painter = QPainter(made)
    corner = QRect(0, 0, RADIUS, RADIUS)
    right, lower = WIDTH - RADIUS, panel.height() - RADIUS
    for place in (
        _META.translated(0, panel.height()),
        *(corner.translated(x, y) for x in (0, right) for y in (0, lower)),
    ):
        painter.fillRect(place, QColor(DARK.bg))
    painter.end()
    return made


def _with_key(seen: QImage, key: str) -> QImage:
    """The frame on the desktop, with the key below it."""
    whole = QImage(seen.width(), seen.height() + _STRIP, QImage.Format.Format_RGB888)
    whole.fill(_DESKTOP)
    painter = QPainter(whole)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.drawImage(0, 0, seen)
    if key:
        font = QFont(list(FAMILIES))
        font.setPixelSize(15)
        painter.setFont(font)
        width = painter.fontMetrics().horizontalAdvance(key) + 36
        place = QRect((whole.width() - width) // 2, seen.height() + 6, width, 34)
        painter.setPen(QColor(DARK.line))
        painter.setBrush(QColor(DARK.panel))
        painter.drawRoundedRect(place, 8, 8)
        painter.setPen(QColor(DARK.text))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, key)
    painter.end()
    return whole


def _colour_desktop(session: XSession) -> None:
    connection = connect(session.display)
    root = connection.get_setup().roots[connection.pref_screen].root
    connection.core.ChangeWindowAttributes(root, xcffib.xproto.CW.BackPixel, [_DESKTOP.rgb() & 0xFFFFFF])
    connection.core.ClearArea(False, root, 0, 0, 0, 0)
    connection.core.GetInputFocus().reply()
    connection.disconnect()


def main(file: Path = FILE) -> None:
    application(["popup-recording"])
    with daemon_folder() as folder, staged(folder, script=SCRIPT) as stage, desktop_session() as session:
        _colour_desktop(session)
        with Popup(session, stage.socket, "--theme", "dark", AEON_POPUP_MOTION="reduced") as popup:
            popup.wait_for("armed", shortcut="Ctrl+Alt+Space")
            frames = record(session, popup)
    file.write_bytes(animated_png(frames))
    seconds = sum(frame.milliseconds for frame in frames) / 1e3
    size = file.stat().st_size / 1e3
    sys.stdout.write(f"Wrote {file.name}: {len(frames)} frames, {seconds:.0f} s, {size:.0f} kB\n")


if __name__ == "__main__":
    main(*(Path(word) for word in sys.argv[1:]))
