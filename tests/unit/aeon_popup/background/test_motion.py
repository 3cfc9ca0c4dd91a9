"""Settings of desktops that switch animations off."""

import asyncio
from typing import Any

import anyio
import pytest
from dbus_fast import Message, Variant

from aeon_popup.background.motion import Motion, Settings, is_wanted

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


SETTINGS = "org.freedesktop.portal.Settings"


class Connection:
    """A bus that ends when it is first asked for settings, and that announces a change then."""

    def __init__(self) -> None:
        self.handlers: list[Any] = []
        self.asked = 0

    def add_message_handler(self, handler: Any) -> None:
        self.handlers.append(handler)

    async def call(self, message: Message) -> Message:
        message.serial = 1
        if message.member != "ReadAll":
            return Message.new_method_return(message)
        self.asked += 1
        if self.asked == 1:
            changed = Message.new_signal("/", SETTINGS, "SettingChanged", "ssv", ["", "", Variant("u", 0)])
            for handler in self.handlers:
                handler(changed)
            raise EOFError
        return Message.new_method_return(message, "a{sa{sv}}", [{ALL: {"reduced-motion": Variant("u", 1)}}])


async def test_a_bus_that_ends_does_not_end_the_popup() -> None:
    """A session bus that ends during the call to the portal does not end the task, which reads the settings at the next change."""
    wanted: asyncio.Queue[bool] = asyncio.Queue()
    connection: Any = Connection()
    async with asyncio.timeout(10), anyio.create_task_group() as group:
        group.start_soon(Motion(connection, wanted.put_nowait).run)
        assert await wanted.get() is False
        group.cancel_scope.cancel()
