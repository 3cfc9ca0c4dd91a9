"""Opens links of answers in the user's programs, which must not become part of the popup's hardened unit."""

import asyncio
from asyncio.subprocess import DEVNULL

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus
from dbus_fast.errors import DBusFastError

_PORTAL = "org.freedesktop.portal.Desktop"
_SECONDS = 10.0
# What it starts is in a unit of its own: it is not counted for the popup's limit of tasks, and does not end with the popup.
_SCOPE = ("systemd-run", "--user", "--scope", "--quiet", "--")


async def open_link(connection: MessageBus | None, address: str) -> str:
    """Opens the address by the desktop's portal, else by xdg-open in a unit of its own, else by xdg-open; returns the means,
    "" if none works.
    """
    if connection is not None and await _has_portal_opened(connection, address):
        return "portal"
    scope = _SCOPE if await _has_run(*_SCOPE, "true") else ()
    # xdg-open may become the browser, and last as long: nothing waits for it.
    started = await _has_run("setsid", "--fork", *scope, "xdg-open", address)
    return ("scope" if scope else "xdg-open") if started else ""


async def _has_portal_opened(connection: MessageBus, address: str) -> bool:
    message = Message(
        destination=_PORTAL,
        path="/org/freedesktop/portal/desktop",
        interface="org.freedesktop.portal.OpenURI",
        member="OpenURI",
        signature="ssa{sv}",
        body=["", address, {}],  # of no parent window, and without options
    )
    try:
        async with asyncio.timeout(_SECONDS):
            reply = await connection.call(message)
    except (DBusFastError, OSError, TimeoutError):
        return False
    return reply.message_type is MessageType.METHOD_RETURN


async def _has_run(*words: str) -> bool:
    """Runs a program that ends at once; whether it succeeded."""
    try:
        async with asyncio.timeout(_SECONDS):
            process = await asyncio.create_subprocess_exec(
                *words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
            )
            return await process.wait() == 0
    except (OSError, TimeoutError):
        return False
