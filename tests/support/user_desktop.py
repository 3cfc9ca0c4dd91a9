"""A user's graphical session under that user's own systemd: an X server, the session's target, and the installed window.

Only for a systemd of the tests' own, whose namespaces have no other display.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import pytest

from tests.support.installed_service import MEMBER, AsUser, until

UNIT = "app-dev.aeon.Popup.service"
BUS_NAME = "dev.aeon.Popup"
_DISPLAY = ":77"
# As the desktops have one of their own: graphical-session.target itself cannot be started.
_TARGET = "[Unit]\nBindsTo=graphical-session.target\nBefore=graphical-session.target\n"


class UserDesktop:
    """The session, and the window of aeon in it."""

    def __init__(self, as_user: AsUser) -> None:
        self._as_user = as_user

    def run(self, *words: str) -> str:
        """The output of a command of the user that must succeed. It knows no display."""
        done = self._as_user(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}{self._said()}"
        return str(done.stdout).strip()

    def unit(self, name: str) -> str:
        """A property of the window's unit."""
        return self.run("systemctl", "--user", "show", "--value", f"--property={name}", UNIT)

    def owner(self) -> str:
        """The process that has the window's name on the bus."""
        bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        said = self.run("busctl", "--user", "call", *bus, "GetConnectionUnixProcessID", "s", BUS_NAME)
        return said.removeprefix("u ")

    @property
    def visible(self) -> bool:
        """Whether the X server shows the window."""
        return self.xdotool("search", "--onlyvisible", "--name", "^aeon$")

    def xdotool(self, *words: str) -> bool:
        """Whether a command of xdotool succeeds."""
        done = self._as_user("env", f"DISPLAY={_DISPLAY}", "xdotool", *words)
        return bool(done.returncode == 0)

    def until(self, name: str, value: str) -> None:
        """Returns once a property of the window's unit has this value."""
        until(lambda: self.unit(name) == value, f"{name} of the window is {value}")

    def _said(self) -> str:
        return str(self._as_user("journalctl", "--user-unit", UNIT, "--no-pager", "--lines", "50").stdout)


@contextmanager
def user_desktop(as_user: AsUser) -> Iterator[UserDesktop]:
    """A session that has begun, in which the window is installed and has not been started."""
    if lacking := [program for program in ("Xvfb", "xdotool") if which(program) is None]:
        pytest.skip(f"needs {', '.join(lacking)}: .ci/run lists the packages")
    desktop = UserDesktop(as_user)
    units = Path("/home") / MEMBER / ".config" / "systemd" / "user"
    desktop.run("mkdir", "--parents", str(units))
    (units / "session.target").write_text(_TARGET, encoding="utf-8")
    desktop.run("systemd-run", "--user", "--unit=display", "Xvfb", _DISPLAY, "-nolisten", "tcp")
    until(lambda: desktop.xdotool("getmouselocation"), "the display")
    desktop.run("systemctl", "--user", "set-environment", f"DISPLAY={_DISPLAY}")
    desktop.run("systemctl", "--user", "start", "session.target")
    yield desktop
