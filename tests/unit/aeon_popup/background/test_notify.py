"""Notifications, with a double of the bus connection."""

import asyncio
import os
from typing import Any

import pytest
from dbus_fast import Message

from aeon_popup.background.notify import Notifier
from aeon_popup.state.notices import Notice

SERVICE = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"


class Connection:
    """Numbers each notification 7, and passes signals on."""

    def __init__(self) -> None:
        self.handlers: list[Any] = []

    def add_message_handler(self, handler: Any) -> None:
        self.handlers.append(handler)

    async def call(self, message: Message) -> Message:
        message.serial = 1
        if message.member == "GetCapabilities":
            return Message.new_method_return(message, "as", [["actions"]])
        return Message.new_method_return(message, "u", [7])

    def signal(self, member: str, signature: str, *body: Any) -> None:
        for handler in self.handlers:
            handler(Message.new_signal(PATH, SERVICE, member, signature, list(body)))


async def test_an_action_brings_the_permission_to_take_the_focus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token that comes before an action reaches Qt before the action opens the window; that of another program's
    notification does not.
    """
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
    seen: asyncio.Queue[tuple[str, str, str]] = asyncio.Queue()
    connection: Any = Connection()
    notifier = Notifier(
        connection, lambda key, name: seen.put_nowait((key, name, os.environ["XDG_ACTIVATION_TOKEN"]))
    )
    await notifier.start()
    await notifier.show(Notice("run", "Done"))
    connection.signal("ActivationToken", "us", 7, "ours")
    connection.signal("ActivationToken", "us", 8, "another's")
    connection.signal("ActionInvoked", "us", 7, "default")
    assert await seen.get() == ("run", "default", "ours")


async def test_a_bus_that_ends_does_not_end_the_popup() -> None:
    """A session bus that ends while a notification is sent costs the notification only."""

    class EndedBus:
        async def call(self, _message: Message) -> Message:
            raise EOFError

    ended: Any = EndedBus()
    await Notifier(ended, lambda _key, _action: None).show(Notice("run", "Done"))
