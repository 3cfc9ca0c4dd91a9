"""Animations as the desktop wants them, against a double of the portal for settings; test_kwin.py has a real one."""

from pathlib import Path

from dbus_fast import Variant

from tests.support.desktop_bus import SettingsPortal
from tests.support.desktop_session import Popup, Session
from tests.support.popup_motion import Animate, check_motion


def switches(portal: SettingsPortal) -> dict[str, Animate]:
    """The settings of desktops that switch animations off."""

    def switch(namespace: str, key: str, kind: str, on: object, off: object) -> Animate:
        return lambda *, wanted: portal.change(namespace, key, Variant(kind, on if wanted else off))

    return {
        "any desktop": switch("org.freedesktop.appearance", "reduced-motion", "u", 0, 1),
        "GNOME": switch("org.gnome.desktop.interface", "enable-animations", "b", True, False),
        "KDE": switch("org.kde.kdeglobals.KDE", "AnimationDurationFactor", "s", "0.5", "0"),
    }


def test_the_window_follows_the_settings_of_each_desktop(session: Session, lonely: Popup) -> None:
    """A setting of a desktop, also of one whose portal starts after the popup, switches animations off and on."""
    assert lonely.all("motion") == []
    with SettingsPortal(session) as portal:
        for animate in switches(portal).values():
            check_motion(lonely, animate)


def test_a_start_takes_the_setting_that_is_there(session: Session, tmp_path: Path) -> None:
    """A popup that starts while animations are off has none, without a change of the setting."""
    with SettingsPortal(session) as portal:
        switches(portal)["GNOME"](wanted=False)
        with Popup(session, tmp_path / "none.sock") as popup:
            popup.wait_for("motion", wanted=False)
