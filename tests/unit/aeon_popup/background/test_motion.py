"""Settings of desktops that switch animations off."""

import pytest

from aeon_popup.background.motion import Settings, is_wanted

ALL, GNOME, KDE = "org.freedesktop.appearance", "org.gnome.desktop.interface", "org.kde.kdeglobals.KDE"


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, True),
        ({ALL: {"reduced-motion": 0, "color-scheme": 1}, GNOME: {"enable-animations": True}}, True),
        ({ALL: {"reduced-motion": 1}, GNOME: {"enable-animations": True}}, False),
        ({ALL: {}, GNOME: {"enable-animations": False}}, False),
        ({KDE: {"AnimationDurationFactor": "0"}}, False),
        ({KDE: {"AnimationDurationFactor": 0.0}}, False),
        ({KDE: {"AnimationDurationFactor": "0.25"}}, True),
        ({KDE: {"AnimationDurationFactor": "fast"}}, True),
    ],
)
def test_one_setting_against_animations_is_enough(settings: Settings, *, wanted: bool) -> None:
    """Animations are wanted unless a setting says otherwise; values that mean nothing do not count."""
    assert is_wanted(settings) is wanted
