"""A Wayland desktop for tests: sway without a screen, a session bus, and a keyboard that programs press."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.desktop_session import DEADLINE_SECONDS, Session, session_folder, spawned, start_bus
from tests.support.newcomer import ordinary_user

_PROGRAMS = ("sway", "swaymsg", "wtype", "grim", "dbus-daemon")
_MISSING = ", ".join(name for name in _PROGRAMS if shutil.which(name) is None)
needs_sway = pytest.mark.skipif(bool(_MISSING), reason=f"missing here: {_MISSING}")

# The key is bound as docs/popup.md says.
_CONFIG = """output HEADLESS-1 resolution 1280x800
bindsym --no-repeat Ctrl+Alt+space exec {toggle}
exec sh -c 'echo $SWAYSOCK $WAYLAND_DISPLAY > {ready}'
"""
# An hour in milliseconds, which no test takes; wtype counts microseconds with 32 bits.
_LONG = "3600000"
_MODIFIERS = ("ctrl", "alt", "shift")

Node = dict[str, Any]


class SwaySession(Session):
    """sway with one screen. It refuses root, so that root's programs are here those of an ordinary user."""

    prefix = ordinary_user()

    def __init__(self, bus: str, folder: Path, sway: str = "", display: str = "") -> None:
        super().__init__(bus, folder)
        self._sway = sway
        self._display = display

    @property
    def environment(self) -> dict[str, str]:
        return {
            **super().environment,
            "SWAYSOCK": self._sway,
            "WAYLAND_DISPLAY": self._display,
            "XDG_CURRENT_DESKTOP": "sway",
            "XDG_SESSION_TYPE": "wayland",
        }

    def press(self, *keys: str) -> None:
        for key in keys:
            *modifiers, name = key.split("+")
            assert set(modifiers) <= set(_MODIFIERS)
            down = [word for modifier in modifiers for word in ("-M", modifier)]
            up = [word for modifier in modifiers for word in ("-m", modifier)]
            self.run("wtype", *down, "-k", name, *up)

    def hold(self, key: str, milliseconds: int) -> None:
        """Presses a key of the hotkey's modifiers and keeps it down for so long."""
        held = ("-M", "ctrl", "-M", "alt", "-P", key, "-s", str(milliseconds), "-p", key)
        self.run("wtype", *held, "-m", "alt", "-m", "ctrl")

    def type(self, text: str) -> None:
        self.run("wtype", text)

    def windows(self) -> list[Node]:
        """The windows on the screen, each as sway describes it."""
        return [node for node in _below(self._ask("get_tree")) if node.get("pid")]

    def window(self) -> Node:
        """The only window."""
        (one,) = self.windows()
        return one

    def picture(self, path: Path) -> Path:
        """Writes what the screen shows to a PNG file."""
        self.run("grim", str(path))
        return path

    def tell(self, *words: str) -> None:
        """Gives sway a command."""
        self.run("swaymsg", *words)

    def wait_for_keyboard(self, keyboard: Path) -> None:
        """Returns once programs can see a keyboard."""
        while not any(device["type"] == "keyboard" for device in self._ask("get_inputs")):
            assert keyboard.read_bytes() == b"", keyboard.read_text()

    def _ask(self, what: str) -> Any:
        return json.loads(self.run("swaymsg", "-t", what))


def _below(node: Node) -> Iterator[Node]:
    yield node
    for child in (*node["nodes"], *node["floating_nodes"]):
        yield from _below(child)


@contextmanager
def sway_session() -> Iterator[SwaySession]:
    """A session of its own, gone at the end."""
    with ExitStack() as stack:
        folder = session_folder(stack)
        bus = start_bus(stack, folder, prefix=SwaySession.prefix)
        ready, config = folder / "ready", folder / "sway.conf"
        os.mkfifo(ready)
        toggle = f"{sys.executable} -m aeon_popup --toggle"
        config.write_text(_CONFIG.format(toggle=toggle, ready=ready), encoding="utf-8")
        headless = {
            "WLR_BACKENDS": "headless",
            "WLR_RENDERER": "pixman",
            "WLR_LIBINPUT_NO_DEVICES": "1",
        }
        environment = {**SwaySession(bus, folder).environment, **headless}
        for name in ("SWAYSOCK", "WAYLAND_DISPLAY"):
            del environment[name]
        command = [*SwaySession.prefix, "sway", "--config", str(config)]
        spawned(stack, command, environment, log=folder / "sway.log")
        with ready.open(encoding="utf-8") as fifo:
            socket, display = fifo.read().split()
        session = SwaySession(bus, folder, socket, display)
        # Each call of wtype brings a keyboard of its own. Were it the only one, the desktop would have a keyboard for as long
        # as the call takes, which is less than a program needs to notice it.
        keyboard = folder / "keyboard.log"
        words = [*session.prefix, "wtype", "-s", _LONG]
        spawned(stack, words, session.environment, log=keyboard)
        session.wait_for_keyboard(keyboard)
        yield session


@contextmanager
def key_window(session: SwaySession) -> Iterator["subprocess.Popen[str]"]:
    """A window of another program; it says when it gets the focus, and prints the text of each key that it gets."""
    command = [*session.prefix, sys.executable, "-m", "tests.support.qt_key_window"]
    with subprocess.Popen(command, env=session.environment, stdout=subprocess.PIPE, text=True) as program:
        watchdog = threading.Timer(DEADLINE_SECONDS, program.kill)
        watchdog.start()
        try:
            yield program
        finally:
            watchdog.cancel()
            program.terminate()
