"""The desktop window under a user's own systemd, which starts it when its name on the bus is called."""

from collections.abc import Iterator

import pytest

from tests.support.installed_service import AsUser, until
from tests.support.user_desktop import UNIT, UserDesktop, user_desktop

pytestmark = pytest.mark.systemd


@pytest.fixture
def desktop(as_user: AsUser) -> Iterator[UserDesktop]:
    """The session of a user who has not opened the window yet."""
    with user_desktop(as_user) as desktop:
        assert (desktop.unit("ActiveState"), desktop.visible) == ("inactive", False)
        yield desktop


def test_a_call_of_its_name_starts_the_window_as_a_unit(desktop: UserDesktop) -> None:
    """The bus leaves the start to systemd: the unit runs the window, and the next call meets the same process."""
    desktop.run("aeon-popup", "--toggle")
    until(lambda: desktop.visible, "the window")
    process = desktop.unit("MainPID")
    assert (desktop.unit("ActiveState"), desktop.owner()) == ("active", process)
    desktop.run("aeon-popup", "--toggle")
    until(lambda: not desktop.visible, "no window")
    assert (desktop.unit("MainPID"), desktop.owner()) == (process, process)


def test_a_killed_window_comes_back_and_one_that_was_quit_does_not(desktop: UserDesktop) -> None:
    """systemd starts a window again that was killed, not one that was quit, which the next call starts."""
    desktop.run("aeon-popup", "--toggle")
    killed = desktop.unit("MainPID")
    desktop.run("systemctl", "--user", "kill", "--signal=SIGKILL", UNIT)
    desktop.until("NRestarts", "1")
    desktop.until("ActiveState", "active")
    process = desktop.unit("MainPID")
    assert (desktop.owner(), process != killed) == (process, True)
    desktop.run("aeon-popup", "--quit")
    desktop.until("ActiveState", "inactive")
    assert (desktop.unit("SubState"), desktop.unit("Result")) == ("dead", "success")
    desktop.run("aeon-popup", "--show")
    until(lambda: desktop.visible, "the window")
    assert desktop.unit("MainPID") == desktop.owner()


def test_the_window_ends_with_the_session(desktop: UserDesktop) -> None:
    """The end of the graphical session stops the window in an orderly way."""
    desktop.run("aeon-popup", "--toggle")
    desktop.until("ActiveState", "active")
    desktop.run("systemctl", "--user", "stop", "graphical-session.target")
    desktop.until("ActiveState", "inactive")
    assert (desktop.unit("Result"), desktop.visible) == ("success", False)
