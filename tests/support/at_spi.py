"""The accessibility bus of a session, and a reader that finds what programs show there and presses it."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from tests.support.desktop_session import DEADLINE_SECONDS, Session, spawned

LAUNCHER = Path("/usr/libexec/at-spi-bus-launcher")
_PROPERTIES = "org.freedesktop.DBus.Properties"
_ACCESSIBLE, _ACTION = "org.a11y.atspi.Accessible", "org.a11y.atspi.Action"

needs_at_spi = pytest.mark.skipif(not LAUNCHER.exists(), reason=f"missing here: {LAUNCHER}")

# The bit of this state, as all programs number them.
_FOCUSED = 12

# A thing that a program shows: the name of the program on the bus, and the path of the thing.
Shown = tuple[str, str]


class Reader:
    """A program for accessibility with a connection of its own."""

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus

    async def find(self, name: str, role: str) -> Shown:
        """The first thing with this accessible name and role, once there is one."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        seen: list[str] = []
        while time.monotonic() < deadline:
            seen.clear()
            found = await self._below(
                ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"), name, role, seen
            )
            if found is not None:
                return found
        raise AssertionError(f"no {role} {name!r} among {seen}")

    async def press(self, shown: Shown) -> None:
        """Carries out the action "Press" of a thing."""
        actions = await self.call(shown, _ACTION, "GetActions")
        place = next(place for place, (name, *_) in enumerate(actions) if name == "Press")
        assert await self.call(shown, _ACTION, "DoAction", "i", place)

    async def has_focus(self, shown: Shown) -> bool:
        """Whether the keyboard's focus is at a thing."""
        low, _ = await self.call(shown, _ACCESSIBLE, "GetState")
        return bool(low >> _FOCUSED & 1)

    async def call(self, shown: Shown, interface: str, member: str, signature: str = "", *body: Any) -> Any:
        """The first value of the reply; None after an error, as for a thing that has gone."""
        reply = await self._bus.call(
            Message(
                destination=shown[0],
                path=shown[1],
                interface=interface,
                member=member,
                signature=signature,
                body=list(body),
            )
        )
        if reply.message_type is not MessageType.METHOD_RETURN or not reply.body:
            return None
        value = reply.body[0]
        return value.value if isinstance(value, Variant) else value

    async def _below(self, shown: Shown, name: str, role: str, seen: list[str]) -> Shown | None:
        for destination, path in await self.call(shown, _ACCESSIBLE, "GetChildren") or []:
            child = (destination, path)
            called = await self.call(child, _PROPERTIES, "Get", "ss", _ACCESSIBLE, "Name")
            its_role = await self.call(child, _ACCESSIBLE, "GetRoleName")
            seen.append(f"{its_role} {called!r}")
            if (called, its_role) == (name, role):
                return child
            if (found := await self._below(child, name, role, seen)) is not None:
                return found
        return None


@contextmanager
def accessibility(session: Session) -> Iterator[str]:
    """An accessibility bus that a screen reader has switched on; its address."""
    with ExitStack() as stack:
        spawned(stack, [str(LAUNCHER), "--launch-immediately"], session.environment)
        yield asyncio.run(_switched_on(session.bus))


async def _switched_on(address: str) -> str:
    bus = await MessageBus(address).connect()
    reader, place = Reader(bus), ("org.a11y.Bus", "/org/a11y/bus")
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (found := await reader.call(place, "org.a11y.Bus", "GetAddress")):
        assert time.monotonic() < deadline, "there is no accessibility bus"
    await reader.call(place, _PROPERTIES, "Set", "ssv", "org.a11y.Status", "IsEnabled", Variant("b", True))
    bus.disconnect()
    return str(found)


def found(address: str, name: str, role: str) -> None:
    """Returns once a thing with this accessible name and role is there."""

    async def find() -> None:
        bus = await MessageBus(address).connect()
        try:
            await Reader(bus).find(name, role)
        finally:
            bus.disconnect()

    asyncio.run(find())


def press(address: str, name: str) -> bool:
    """Finds a button by its accessible name and presses it, as a program for accessibility does; whether it had the focus."""

    async def find_and_press() -> bool:
        bus = await MessageBus(address).connect()
        reader = Reader(bus)
        button = await reader.find(name, "push button")
        focused = await reader.has_focus(button)
        await reader.press(button)
        bus.disconnect()
        return focused

    return asyncio.run(find_and_press())
