"""The hotkey by the portal for global shortcuts, against a strict double of the portal."""

from pathlib import Path

import pytest

from tests.support.desktop_bus import Notifications, Portal
from tests.support.desktop_session import DEADLINE_SECONDS, Popup, Session

WAYLAND = {"WAYLAND_DISPLAY": "wayland-of-the-portal"}


@pytest.mark.parametrize(("version", "registry"), [(1, True), (2, True), (2, False)])
def test_the_shortcut_is_bound_and_activates(
    session: Session, tmp_path: Path, version: int, *, registry: bool
) -> None:
    """With portals of both versions, with and without the registry of programs, the key is bound and opens the window."""
    with Portal(session, version, registry=registry) as portal:
        with Popup(session, tmp_path / "none.sock", **WAYLAND) as popup:
            assert popup.wait_for("armed")["shortcut"] == "Ctrl+Alt+Space"
            assert portal.bindings.get(timeout=DEADLINE_SECONDS)[1] == "CTRL+ALT+space"
            portal.activate()
            popup.wait_for("painted")
        assert portal.errors == []


def test_a_held_shortcut_acts_once(session: Session, tmp_path: Path) -> None:
    """A portal that activates the shortcut again and again while the key is held opens the window once; the next press hides it."""
    with Portal(session) as portal, Popup(session, tmp_path / "none.sock", **WAYLAND) as popup:
        popup.wait_for("armed", shortcut="Ctrl+Alt+Space")
        portal.activate(times=5)
        popup.wait_for("focused")
        popup.wait_for_repeats(4, 0)
        portal.activate()
        popup.wait_for("hidden")
        assert [len(popup.all(what)) for what in ("pressed", "shown", "hidden")] == [2, 1, 1]


def test_the_shortcut_is_bound_again_after_a_restart_of_the_portal(session: Session, tmp_path: Path) -> None:
    """A portal that was restarted has forgotten the shortcut; it is bound again and works."""
    with Popup(session, tmp_path / "none.sock", **WAYLAND) as popup:
        with Portal(session) as first:
            first.bindings.get(timeout=DEADLINE_SECONDS)
            popup.wait_for("armed", shortcut="Ctrl+Alt+Space")
        since = popup.seen()
        with Portal(session) as second:
            second.bindings.get(timeout=DEADLINE_SECONDS)
            popup.wait_for("armed", since, shortcut="Ctrl+Alt+Space")
            second.activate()
            popup.wait_for("painted", since)


def test_the_session_has_one_name(session: Session, tmp_path: Path) -> None:
    """Each start asks under the same name, by which a portal without an application id files the user's key."""
    names = set()
    with Portal(session) as portal:
        for _ in range(2):
            with Popup(session, tmp_path / "none.sock", **WAYLAND) as popup:
                popup.wait_for("armed", shortcut="Ctrl+Alt+Space")
            names.add(portal.bindings.get(timeout=DEADLINE_SECONDS)[0].rpartition("/")[2])
    assert len(names) == 1


def test_a_declined_shortcut_is_explained(session: Session, tmp_path: Path) -> None:
    """When the user declines the shortcut, a notification names the command to bind to a key, and how to be asked for none, and the
    popup does not ask again.
    """
    with (
        Notifications(session) as notifications,
        Portal(session, declines=True) as portal,
        Popup(session, tmp_path / "none.sock", **WAYLAND) as popup,
    ):
        armed = popup.wait_for("armed")
        assert notifications.next().body == armed["problem"]
        assert portal.bindings.get(timeout=DEADLINE_SECONDS)
        assert portal.bindings.empty()
        assert portal.errors == []
    assert (armed["shortcut"], armed["absent"]) == ("", False)
    assert "declined" in armed["problem"]
    assert "--hotkey none" in armed["problem"]
    assert "aeon-popup --toggle" in armed["problem"]


def test_a_desktop_without_a_portal_is_no_conflict(session: Session, tmp_path: Path) -> None:
    """Where no portal is installed, the popup names the command to bind to a key, and knows that it can bind none."""
    with Popup(session, tmp_path / "none.sock", **WAYLAND) as popup:
        armed = popup.wait_for("armed")
    assert (armed["shortcut"], armed["absent"]) == ("", True)
    assert "aeon-popup --toggle" in armed["problem"]
