"""The global hotkey and the focus, on a real X server with a window manager."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import xcffib.xproto

from aeon_popup.hotkey.seat import Seat
from aeon_popup.hotkey.x11 import connect
from aeon_popup.state.happenings import HotkeySet, LinkDown
from aeon_popup.state.session import SessionView, after
from aeon_popup.toggle import send_action
from tests.support.desktop_bus import Notifications
from tests.support.desktop_session import HOTKEY, Popup, XSession, armed_popup, key_window, start_bus
from tests.support.popup_screens import Screen, x11_screen
from tests.support.popup_states import TAKEN

ESCAPE = hex(0xFF1B)


@pytest.fixture(scope="module")
def one_popup(session: XSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Popup]:
    with armed_popup(session, tmp_path_factory.mktemp("nowhere") / "none.sock") as made:
        yield made


@pytest.fixture
def lonely(one_popup: Popup) -> Iterator[Popup]:
    """A popup without a daemon: one for all tests here, with an empty prompt for each."""
    yield one_popup
    one_popup.renew()


def test_a_held_hotkey_toggles_once(session: XSession, lonely: Popup) -> None:
    """However long the hotkey is held, the window is shown once and not hidden again."""
    since = lonely.seen()
    session.hold("ctrl", "alt", "space")
    lonely.wait_for("painted", since)
    lonely.wait_for_repeats(5, since)
    session.release("space", "alt", "ctrl")
    lonely.press(HOTKEY)
    lonely.wait_for("hidden", since)
    assert [len(lonely.all(what, since)) for what in ("pressed", "shown", "hidden")] == [2, 1, 1]


@pytest.mark.parametrize("lock", ["Caps_Lock", "Num_Lock"])
def test_lock_keys_do_not_matter(session: XSession, lonely: Popup, lock: str) -> None:
    """The hotkey works while Caps Lock or Num Lock is on."""
    session.xdotool("key", lock)
    try:
        since = lonely.seen()
        session.xdotool("key", HOTKEY)
        lonely.wait_for("painted", since)
    finally:
        session.xdotool("key", lock)


def test_escape_leaks_no_key_and_returns_the_focus(session: XSession, lonely: Popup) -> None:
    """A held Escape closes the window when it is released: none of its repeats reaches the window below, which has
    the focus again afterwards.
    """
    with key_window(session) as other:
        assert other.stdout is not None
        window = other.stdout.readline().strip()
        session.wait_for_focus(window)
        lonely.open()
        since = lonely.seen()
        session.hold("Escape")
        lonely.wait_for_repeats(5, since)
        session.release("Escape")
        lonely.wait_for("hidden", since)
        session.wait_for_focus(window)
        lonely.press("x")
        reached: list[str] = []
        while reached[-1:] != [hex(ord("x"))]:
            reached.append(other.stdout.readline().strip())
        assert ESCAPE not in reached


def test_a_window_that_is_not_visible_gets_no_focus(session: XSession) -> None:
    """The X server refuses the focus for a window that it does not show, or does not know; asking for it is no error."""
    connection = connect(session.display)
    hidden, unknown = connection.generate_id(), connection.generate_id()
    root = connection.get_setup().roots[connection.pref_screen]
    shape: tuple[object, ...] = (
        0,
        0,
        10,
        10,
        0,
        xcffib.xproto.WindowClass.InputOutput,
        root.root_visual,
        0,
        [],
    )
    connection.core.CreateWindow(0, hidden, root.root, *shape)
    connection.core.GetInputFocus().reply()  # the server has made the window
    seat = Seat(session.display)
    for window in (hidden, unknown):
        seat.activate(window)
        assert not seat.escape_is_held()  # the reply comes after the error of the call before
        seat.activate(window)
    connection.disconnect()


def test_the_hotkey_raises_a_covered_window(session: XSession, lonely: Popup) -> None:
    """The hotkey brings a window to the front that another one covers, instead of hiding it; the next press hides it."""
    lonely.open()
    with key_window(session, "fullscreen") as other:
        assert other.stdout is not None
        session.wait_for_focus(other.stdout.readline().strip())
        since = lonely.seen()
        lonely.press(HOTKEY)
        lonely.wait_for("withdrawn", since)
        lonely.wait_for("focused", since)
        session.wait_for_output("getactivewindow", session.popup_window())
        lonely.press(HOTKEY)
        lonely.wait_for("hidden", since)
    assert [len(lonely.all(what)) for what in ("shown", "hidden")] == [1, 1]


def test_the_hotkey_restores_a_minimised_window(session: XSession, lonely: Popup) -> None:
    """The hotkey shows a window again, with the focus, that the window manager has minimised; the next press hides it."""
    lonely.open()
    window = session.popup_window()
    session.xdotool("windowminimize", "--sync", window)
    since = lonely.seen()
    lonely.press(HOTKEY)
    lonely.wait_for("focused", since)
    session.wait_for_output("getactivewindow", session.popup_window())
    lonely.press(HOTKEY)
    lonely.wait_for("hidden", since)


def test_the_hotkey_brings_the_window_to_this_workspace(session: XSession, lonely: Popup) -> None:
    """The hotkey brings a window from another workspace to the one that the user sees."""
    lonely.open()
    try:
        session.xdotool("set_desktop", "1")
        session.wait_for_output("get_desktop", "1")
        since = lonely.seen()
        lonely.press(HOTKEY)
        lonely.wait_for("focused", since)
        window = session.popup_window()
        session.wait_for_output("getactivewindow", window)
        assert session.xdotool("get_desktop") == session.xdotool("get_desktop_for_window", window) == "1"
        lonely.press(HOTKEY)
        lonely.wait_for("hidden", since)
    finally:
        session.xdotool("set_desktop", "0")
        session.wait_for_output("get_desktop", "0")


def test_the_hotkey_hides_a_window_that_is_seen_without_the_focus(session: XSession, lonely: Popup) -> None:
    """A window that is not covered is seen: the hotkey hides it, although another one has the focus."""
    lonely.open()
    with key_window(session) as other:
        assert other.stdout is not None
        session.wait_for_focus(other.stdout.readline().strip())
        since = lonely.seen()
        lonely.press(HOTKEY)
        lonely.wait_for("hidden", since)
    assert lonely.all("withdrawn") == []


def test_a_taken_hotkey_is_reported(session: XSession, lonely: Popup, tmp_path: Path) -> None:
    """A second program that asks for the same key says in one notification that it is taken; that opens its window, which has the
    same words below the prompt.
    """
    with ExitStack() as stack:
        other = XSession(session.display, start_bus(stack, tmp_path), session.folder)
        notifications = stack.enter_context(Notifications(other))
        second = stack.enter_context(Popup(other, tmp_path / "none.sock", "--theme", "dark"))
        armed = second.wait_for("armed")
        assert (armed["shortcut"], armed["problem"]) == ("", TAKEN)
        shown = notifications.next()
        assert (shown.summary, shown.body) == ("The hotkey does not work", TAKEN)
        notifications.invoke(shown, "default")
        second.wait_for("focused")
        view = after(SessionView(), LinkDown(str(tmp_path / "none.sock")))
        screen = Screen("x11-taken", lambda: x11_screen(session.display))
        screen.compare("unavailable", replace(view, hotkey=HotkeySet(problem=TAKEN)))
        assert len(second.all("notified")) == 1


def test_a_popup_without_a_hotkey_takes_and_tells_none(
    session: XSession, lonely: Popup, tmp_path: Path
) -> None:
    """With `--hotkey none` the popup grabs no key, is silent about one that another program has, and says by F1 that none is wanted."""
    with ExitStack() as stack:
        other = XSession(session.display, start_bus(stack, tmp_path), session.folder)
        stack.enter_context(Notifications(other))
        second = stack.enter_context(
            Popup(other, tmp_path / "none.sock", "--theme", "dark", "--hotkey", "none")
        )
        armed = second.wait_for("armed")
        unwanted = HotkeySet(problem=armed["problem"], absent=True)
        assert (armed["shortcut"], armed["absent"]) == ("", True)
        assert "None is wanted" in unwanted.problem
        lonely.open()
        lonely.press(HOTKEY)
        lonely.wait_for("hidden")
        send_action("show", other.environment)
        second.wait_for("focused")
        down = after(SessionView(), LinkDown(str(tmp_path / "none.sock")))
        view = replace(down, hotkey=unwanted)
        screen = Screen("x11-no-hotkey", lambda: x11_screen(session.display))
        screen.compare("unavailable", view)
        second.press("F1")
        screen.compare("keys", view)
        assert second.all("pressed") == second.all("notified") == []
