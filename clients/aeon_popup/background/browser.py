"""Opens links of answers in the user's programs, which should not become part of the popup's restricted unit."""

import asyncio
import os
import shutil
from asyncio.subprocess import DEVNULL
from collections.abc import Mapping

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus
from dbus_fast.errors import DBusFastError

from aeon_popup.hotkey.portal import PORTAL, PORTAL_PATH

_SECONDS = 10.0
_OPENER = "xdg-open"
# The manager of the user's services starts the program: in a scope it would inherit from the popup what its unit forbids, and the
# umask. The service lasts until the browser that xdg-open has started ends.
_SERVICE = (
    "systemd-run",
    "--user",
    "--quiet",
    "--collect",
    "--service-type=exec",
    "--property=ExitType=cgroup",
)
# What a program needs to find the desktop, and xdg-open to find the program: the manager may not know it.
_PASSED = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP")


async def open_link(connection: MessageBus | None, address: str) -> str:
    """Hands the address to the desktop's portal, else to xdg-open in a service of its own, else to xdg-open as a program of the
    popup's unit. Returns which one took it, "" if none did; whether a browser then shows the page is not known.
    """
    if connection is not None and await _has_portal_taken(connection, address):
        return "portal"
    if shutil.which(_OPENER) is None:
        return ""
    if await _has_run(*service_command(address, os.environ)):
        return "service"
    # xdg-open may become the browser, and last as long: nothing waits for it.
    return "xdg-open" if await _has_run("setsid", "--fork", _OPENER, address) else ""


def service_command(address: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The command that starts xdg-open in a service. In the arguments of a service `$` begins a variable, and `$$` is a `$`."""
    passed = [f"--setenv={name}={environment[name]}" for name in _PASSED if environment.get(name)]
    return (*_SERVICE, *passed, "--", _OPENER, address.replace("$", "$$"))


async def _has_portal_taken(connection: MessageBus, address: str) -> bool:
    """Whether the portal accepted the request; what the user then chooses in its dialog is not waited for."""
    message = Message(
        destination=PORTAL,
        path=PORTAL_PATH,
        interface="org.freedesktop.portal.OpenURI",
        member="OpenURI",
        signature="ssa{sv}",
        body=["", address, {}],  # of no parent window, and without options
    )
    try:
        async with asyncio.timeout(_SECONDS):
            reply = await connection.call(message)
    except (DBusFastError, EOFError, OSError, TimeoutError):  # EOFError: the bus has ended
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
