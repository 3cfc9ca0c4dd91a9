"""A Wayland desktop for tests: KWin in a window of an X server, with the real portals on a session bus of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import xcffib.xproto

from aeon_popup.hotkey.x11 import connect
from tests.support.desktop_session import (
    Session,
    XSession,
    session_folder,
    spawned,
    start_bus,
    start_display,
)
from tests.support.newcomer import ordinary_user

WIDTH, HEIGHT = 1280, 800
_SERVICES = Path("/usr/share/dbus-1/services")
_PORTAL = "org.freedesktop.portal.Desktop"
_WANTED = (_PORTAL, "org.freedesktop.impl.portal.desktop.kde", "org.freedesktop.impl.portal.PermissionStore")
_PROGRAMS = ("Xvfb", "dbus-daemon", "dbus-send", "kwin_wayland", "xdotool")
_MISSING = ", ".join(
    [name for name in _PROGRAMS if shutil.which(name) is None]
    + [name for name in _WANTED if not (_SERVICES / f"{name}.service").exists()]
)
needs_kwin = pytest.mark.skipif(bool(_MISSING), reason=f"missing here: {_MISSING}")


class KwinSession(Session):
    """KWin with one screen, on which the keys of the X server are typed."""

    def __init__(self, outer: XSession, bus: str, folder: Path, prefix: tuple[str, ...]) -> None:
        super().__init__(bus, folder)
        self.prefix = prefix
        self._outer = outer

    @property
    def environment(self) -> dict[str, str]:
        return {
            **super().environment,
            "HOME": str(self.folder),
            "KDE_FULL_SESSION": "true",
            "WAYLAND_DISPLAY": "wayland-kwin",
            "XDG_CURRENT_DESKTOP": "KDE",
            "XDG_SESSION_TYPE": "wayland",
        }

    @property
    def display(self) -> str:
        """The X server that shows the screen of KWin."""
        return self._outer.display

    def press(self, *keys: str) -> None:
        self._outer.press(*keys)

    def type(self, text: str) -> None:
        self._outer.type(text)

    def hold(self, *keys: str) -> None:
        """Presses keys and keeps them down; KWin repeats the last one."""
        self._outer.hold(*keys)

    def release(self, *keys: str) -> None:
        self._outer.release(*keys)

    def call(self, name: str, path: str, method: str, *arguments: str) -> str:
        """Calls a method on the bus; its reply as text."""
        words = ("--session", "--print-reply=literal", f"--dest={name}", path, method, *arguments)
        return self.run("dbus-send", *words)

    def shortcuts(self) -> list[str]:
        """The programs for which the desktop has shortcuts."""
        name = "org.kde.kglobalaccel"
        paths = self.call(name, "/kglobalaccel", "org.kde.KGlobalAccel.allComponents").split()
        return [word.rpartition("/")[2] for word in paths if word.startswith("/component/")]

    def animate(self, *, wanted: bool) -> None:
        """Sets the speed of animations, as the settings of the desktop do, and says that settings have changed."""
        settings = self.folder / ".config" / "kdeglobals"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(f"[KDE]\nAnimationDurationFactor={int(wanted)}\n", encoding="utf-8")
        signal = ("/KGlobalSettings", "org.kde.KGlobalSettings.notifyChange", "int32:0", "int32:0")
        self.run("dbus-send", "--session", "--type=signal", *signal)

    def end_portal(self) -> None:
        """Kills the portal; the next call starts another one."""
        bus = "org.freedesktop.DBus"
        reply = self.call(bus, "/", f"{bus}.GetConnectionUnixProcessID", f"string:{_PORTAL}")
        self.run("kill", "-KILL", reply.split()[-1])

    def colour(self, x: int, y: int) -> str:
        """The colour of the screen at this place, as #rrggbb."""
        connection = connect(self._outer.display)
        try:
            root = connection.get_setup().roots[0].root
            pixmap = xcffib.xproto.ImageFormat.ZPixmap
            data = connection.core.GetImage(pixmap, root, x, y, 1, 1, 0xFFFFFFFF).reply().data
            blue, green, red = (data[place] for place in range(3))
            return f"#{red:02x}{green:02x}{blue:02x}"
        finally:
            connection.disconnect()


@contextmanager
def kwin_session() -> Iterator[KwinSession]:
    """A session of its own, gone at the end."""
    with ExitStack() as stack:
        folder = session_folder(stack)
        prefix = _user(stack)
        services = folder / "services"
        services.mkdir()
        for name in _WANTED:
            shutil.copy(_SERVICES / f"{name}.service", services)
        display = start_display(stack, f"{WIDTH}x{HEIGHT}")
        _repeat_nothing(stack, display)
        environment = KwinSession(XSession(display, "", folder), "", folder, prefix).environment
        del environment["DBUS_SESSION_BUS_ADDRESS"]
        bus = start_bus(stack, folder, services, prefix, environment)
        session = KwinSession(XSession(display, bus, folder), bus, folder, prefix)
        _start_kwin(stack, session, display)
        yield session


def _repeat_nothing(stack: ExitStack, display: str) -> None:
    """Leaves the repeats of held keys to KWin, as keyboards do: those of the X server reach it as releases and presses. The
    setting lasts as long as a client is connected.
    """
    connection = connect(display)
    stack.callback(connection.disconnect)
    off = [xcffib.xproto.AutoRepeatMode.Off]
    connection.core.ChangeKeyboardControl(xcffib.xproto.KB.AutoRepeatMode, off)
    connection.core.GetInputFocus().reply()  # the server has made the change


def _user(stack: ExitStack) -> tuple[str, ...]:
    """KWin refuses root. The start of a command that runs as an ordinary user, in the same namespace for all commands:
    the portal looks at its callers' processes.
    """
    if not ordinary_user():
        return ()
    words = [*ordinary_user(), "sh", "-c", "echo $$; exec cat"]
    leader = stack.enter_context(
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    )
    assert leader.stdin is not None
    assert leader.stdout is not None
    stack.callback(leader.stdin.close)
    return ("nsenter", "--user", "--preserve-credentials", f"--target={leader.stdout.readline().strip()}")


def _start_kwin(stack: ExitStack, session: KwinSession, display: str) -> None:
    """Starts KWin and returns when programs can connect. The program has a capability, with which the system would not
    start it for this user; a copy has none.
    """
    program = session.folder / "kwin_wayland"
    found = shutil.which("kwin_wayland")
    assert found is not None
    shutil.copy(found, program)
    ready = session.folder / "kwin-ready"
    os.mkfifo(ready)
    starts = session.folder / "ready.sh"
    starts.write_text(f"#!/bin/sh\necho > {ready}\n", encoding="utf-8")
    starts.chmod(0o700)
    environment = {**session.environment, "DISPLAY": display, "KWIN_COMPOSE": "Q"}
    socket = environment.pop("WAYLAND_DISPLAY")
    size = ("--width", str(WIDTH), "--height", str(HEIGHT))
    words = [
        str(program),
        "--x11-display",
        display,
        *size,
        "--no-lockscreen",
        "--socket",
        socket,
        str(starts),
    ]
    spawned(stack, [*session.prefix, *words], environment, log=session.folder / "kwin.log")
    with ready.open("rb") as fifo:
        fifo.read()
