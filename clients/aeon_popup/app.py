"""Wires window, controller, link and desktop together, and runs the application."""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import xcffib
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from aeon_popup.background.desktop import Desktop
from aeon_popup.background.link import Link
from aeon_popup.background.worker import Worker
from aeon_popup.controller import Controller, wants_motion
from aeon_popup.footprint import give_back
from aeon_popup.hotkey.chord import Chord
from aeon_popup.hotkey.seat import Seat, is_composited
from aeon_popup.toggle import NoBusError, send_action
from aeon_popup.trace import Trace, from_environment
from aeon_popup.ui.popup import Popup, application
from aeon_popup.ui.theme import DARK, LIGHT, Palette
from aeon_popup.ui.window import NoSeat

# Python's collector stops all threads: it runs by a timer, and soon after the window was hidden.
_COLLECT_MS, _REST_MS = 20_000, 2_000
_TICK_MS, _TICKS = 10, 50


@dataclass(frozen=True, slots=True)
class Options:
    """The command line: `show` opens the window at the start, `theme` is auto, dark or light. Without a chord there is no hotkey."""

    chord: Chord | None
    socket: str = ""
    theme: str = "auto"
    show: bool = True


class Calls(QObject):
    """Passes calls from the worker's thread to that of the window."""

    posted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.posted.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], None]) -> None:
        """Calls the function in the thread of the window; callable from any thread."""
        self.posted.emit(call)

    def _run(self, call: Callable[[], None]) -> None:
        call()


def run(options: Options) -> int:
    """Runs the popup until it is asked to quit; returns the exit code."""
    gc.disable()
    trace = from_environment()
    app = application(sys.argv[:1])
    calls = Calls()
    ended: list[BaseException] = []

    def failed(error: BaseException) -> None:
        ended.append(error)
        calls.post(lambda: app.exit(1))

    worker = Worker(failed)
    link = Link(worker, lambda batch: calls.post(lambda: apply(batch)), options.socket)
    desktop = Desktop(
        worker,
        options.chord,
        trace,
        act=lambda action: calls.post(lambda: act(action)),
        reply=lambda key, action: calls.post(lambda: controller.reply(key, action)),
        armed=lambda hotkey: calls.post(lambda: controller.set_hotkey(hotkey)),
        animate=lambda wanted: calls.post(lambda: popup.show_motion(wanted=wanted and wants_motion())),
        unopened=lambda address: calls.post(lambda: controller.note_unopened(address)),
    )
    controller = Controller(link, trace, notify=desktop.notify, close_notice=desktop.close_notice)
    popup = Popup(
        controller,
        _palette(options.theme),
        trace,
        composited=_composited(),
        centred=QGuiApplication.platformName() == "wayland",
        motion=wants_motion(),
        seat=_seat(),
    )
    controller.screen = popup
    popup.body.answer.followed.connect(desktop.open_link)

    def apply(batch: list) -> None:  # type: ignore[type-arg]
        controller.apply(batch)
        link.taken()

    def act(action: str) -> None:
        match action:
            case "ready":
                if options.show:
                    popup.appear()
            case "quit":
                app.quit()
            case "yield":
                if options.show:
                    _show_the_other()
                app.quit()
            case _:
                controller.act(action)

    hints = QGuiApplication.styleHints()
    hints.colorSchemeChanged.connect(lambda _scheme: popup.show_theme(_palette(options.theme)))
    collector = _collect(popup, trace)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if trace.active:
        _trace_ticks(trace, collector)
    worker.start()
    link.start()
    desktop.start()
    code = app.exec()
    worker.stop()
    if ended:
        raise ended[0]
    return code


def _collect(popup: Popup, trace: Trace) -> QTimer:
    """Collects garbage now and then. While the window is hidden, memory without use goes back to the system."""

    def collect() -> None:
        gc.collect()
        if gc.get_freeze_count() == 0:  # what the start made stays, and need not be looked at each time
            gc.freeze()
        timer.start(_COLLECT_MS)
        if not popup.isVisible():
            give_back()
            trace("rested")

    timer = QTimer(popup)
    timer.timeout.connect(collect)
    popup.hid.connect(lambda: timer.start(_REST_MS))
    timer.start(_REST_MS)
    return timer


def _trace_ticks(trace: Trace, owner: QObject) -> None:
    """Records by how many milliseconds the thread of the window is late for a timer of 10 ms: the worst of each 50."""
    before, worst, count = time.monotonic(), 0.0, 0

    def tick() -> None:
        nonlocal before, worst, count
        now = time.monotonic()
        worst, before, count = max(worst, now - before - _TICK_MS / 1e3), now, count + 1
        if count == _TICKS:
            trace("late", milliseconds=worst * 1e3)
            worst, count = 0.0, 0

    timer = QTimer(owner)
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start(_TICK_MS)


def _palette(theme: str) -> Palette:
    """The palette of the theme; `auto` follows the desktop and is dark where the desktop does not say."""
    if theme == "auto":
        light = QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Light
        return LIGHT if light else DARK
    return LIGHT if theme == "light" else DARK


def _composited() -> bool:
    """Whether windows can be translucent: always on Wayland, and on X11 with a compositing manager."""
    if QGuiApplication.platformName() != "xcb":
        return True
    try:
        return is_composited(os.environ.get("DISPLAY", ""))
    except xcffib.ConnectionException:
        return False


def _seat() -> Seat | NoSeat:
    """Focus and keys of X11; on Wayland the compositor decides about both."""
    return Seat(os.environ.get("DISPLAY", "")) if QGuiApplication.platformName() == "xcb" else NoSeat()


def _show_the_other() -> None:
    """Another instance has the name: its window is shown instead."""
    try:
        send_action("show")
    except NoBusError as error:
        print(f"aeon-popup: {error}", file=sys.stderr)
