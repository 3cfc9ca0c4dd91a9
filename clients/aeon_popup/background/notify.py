"""Desktop notifications for runs that end or need a person while the window is hidden."""

import asyncio
from collections.abc import Callable
from html import escape

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.errors import DBusFastError

from aeon_popup.hotkey.portal import hand_on_token, listen
from aeon_popup.state.notices import Notice

_NAME = "org.freedesktop.Notifications"
_PATH = "/org/freedesktop/Notifications"
# Notifications whose actions are remembered.
_MOST_OPEN = 64


class Notifier:
    """Shows notices. A new notice of a run replaces the earlier one; `act` is called with key and action."""

    def __init__(self, connection: MessageBus, act: Callable[[str, str], None]) -> None:
        self._connection = connection
        self._act = act
        self._ids: dict[str, int] = {}

    async def start(self) -> None:
        """Listens to the actions that the user chooses."""
        rule = f"type='signal',interface='{_NAME}',path='{_PATH}'"
        await listen(self._connection, self._received, rule)

    async def show(self, notice: Notice) -> None:
        """Shows a notice; does nothing where the desktop has no notifications."""
        actions = [word for pair in (("default", "Open"), *notice.actions) for word in pair]
        hints = {
            "urgency": Variant("y", 2 if notice.urgent else 1),
            "desktop-entry": Variant("s", "dev.aeon.Popup"),
        }
        replaced = self._ids.get(notice.key, 0)
        text = escape(notice.body, quote=False) if await self._reads_markup() else notice.body
        body = ["aeon", replaced, "dev.aeon.Popup", notice.summary, text, actions, hints, -1]
        reply = await self._send("Notify", "susssasa{sv}i", body)
        if reply is not None and reply.body:
            while len(self._ids) >= _MOST_OPEN:
                del self._ids[next(iter(self._ids))]
            self._ids[notice.key] = reply.body[0]

    async def close(self, key: str) -> None:
        """Closes the notice of a run, if there is one."""
        if (number := self._ids.pop(key, 0)) != 0:
            await self._send("CloseNotification", "u", [number])

    async def _reads_markup(self) -> bool:
        """Whether the service takes the text for markup: it would hide what looks like a tag. Another service may have taken its
        place since the last notice.
        """
        reply = await self._send("GetCapabilities", "", [])
        return reply is not None and "body-markup" in reply.body[0]

    async def _send(self, member: str, signature: str, body: list[object]) -> Message | None:
        message = Message(
            destination=_NAME, path=_PATH, interface=_NAME, member=member, signature=signature, body=body
        )
        try:
            reply = await self._connection.call(message)
        except (DBusFastError, EOFError, OSError):  # EOFError: the bus has ended
            return None
        return reply if reply.message_type is MessageType.METHOD_RETURN else None

    def _received(self, message: Message) -> None:
        """Signals are looked at one iteration later: the reply that has the number of a notice may have arrived together
        with the signal, before `show` continues.
        """
        if message.message_type is MessageType.SIGNAL and message.interface == _NAME:
            asyncio.get_running_loop().call_soon(self._signalled, message)

    def _signalled(self, message: Message) -> None:
        key = next((key for key, number in self._ids.items() if message.body[:1] == [number]), "")
        if key and message.member == "ActivationToken":  # comes before the action, which may open the window
            hand_on_token(message.body[1])
        elif key and message.member == "ActionInvoked":
            self._act(key, message.body[1])
        elif key and message.member == "NotificationClosed":
            del self._ids[key]
