"""Whether the desktop wants animations, by the portal for settings."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from dbus_fast import Message, MessageType, unpack_variants
from dbus_fast.aio import MessageBus
from dbus_fast.errors import DBusFastError

from aeon_popup.hotkey.portal import PORTAL, PORTAL_PATH, PORTAL_RESTARTED, listen

_SETTINGS = "org.freedesktop.portal.Settings"
_REPLY_SECONDS = 10.0
# The settings that are about motion: of all desktops, of GNOME and of those that share its settings, and of KDE.
_ALL, _GNOME, _KDE = "org.freedesktop.appearance", "org.gnome.desktop.interface", "org.kde.kdeglobals.KDE"
_REDUCED = 1

Settings = Mapping[str, Mapping[str, Any]]


def is_wanted(settings: Settings) -> bool:
    """Whether no setting is against animations."""
    factor = settings.get(_KDE, {}).get("AnimationDurationFactor", 1.0)
    try:
        slowed = float(factor)
    except (TypeError, ValueError):
        slowed = 1.0
    return (
        settings.get(_ALL, {}).get("reduced-motion") != _REDUCED
        and settings.get(_GNOME, {}).get("enable-animations") is not False
        and slowed > 0
    )


class Motion:
    """Calls `changed` with what the desktop wants, once it has said so, and whenever that changes. Without a portal it is not
    called.
    """

    def __init__(self, connection: MessageBus, changed: Callable[[bool], None]) -> None:
        self._connection = connection
        self._changed = changed
        self._due = asyncio.Event()

    async def run(self) -> None:
        """Reads the settings, and reads them again when some have changed or the portal was started, until it is cancelled."""
        changed = f"type='signal',sender='{PORTAL}',interface='{_SETTINGS}'"
        await listen(self._connection, self._received, changed, PORTAL_RESTARTED)
        last: bool | None = None
        while True:
            self._due.clear()
            with suppress(TimeoutError, DBusFastError, EOFError, OSError):  # EOFError: the bus has ended
                settings = await self._read()
                if settings is not None and (wanted := is_wanted(settings)) is not last:
                    last = wanted
                    self._changed(wanted)
            await self._due.wait()

    async def _read(self) -> Settings | None:
        """The settings about motion; None if the portal does not reply with any."""
        message = Message(
            destination=PORTAL,
            path=PORTAL_PATH,
            interface=_SETTINGS,
            member="ReadAll",
            signature="as",
            body=[[_ALL, _GNOME, _KDE]],
        )
        async with asyncio.timeout(_REPLY_SECONDS):
            reply = await self._connection.call(message)
        if reply.message_type is not MessageType.METHOD_RETURN or reply.signature != "a{sa{sv}}":
            return None
        return dict(unpack_variants(reply.body[0]))

    def _received(self, message: Message) -> None:
        if message.message_type is not MessageType.SIGNAL:
            return
        match message.member:
            case "SettingChanged" if message.interface == _SETTINGS:
                self._due.set()
            case "NameOwnerChanged" if message.body[0] == PORTAL and message.body[2]:
                self._due.set()
            case _:
                pass
