"""The hotkey on Wayland: the GlobalShortcuts portal, which asks the user for the key."""

import asyncio
import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dbus_fast import Message, MessageType, Variant, unpack_variants
from dbus_fast.aio import MessageBus

from aeon_popup.hotkey.chord import Chord
from aeon_popup.state.happenings import HotkeySet

APP_ID = "dev.aeon.Popup"
BUS = "org.freedesktop.DBus"
PORTAL = "org.freedesktop.portal.Desktop"
PORTAL_PATH = "/org/freedesktop/portal/desktop"
PORTAL_RESTARTED = f"type='signal',sender='{BUS}',member='NameOwnerChanged',arg0='{PORTAL}'"
_SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
_REQUEST = "org.freedesktop.portal.Request"
_SESSION = "org.freedesktop.portal.Session"
# Portals that cannot tell the application's id from the systemd unit file the shortcut, and the key that the user has
# chosen for it, under this name: it is the same at each start.
_SESSION_TOKEN = "dev_aeon_Popup"
_SHORTCUT_ID = "toggle"
_DESCRIPTION = "Open or close aeon"
_REPLY_SECONDS = 10.0
# Binding may show a dialog of the desktop.
_DIALOG_SECONDS = 300.0
# The bus knows no program of the portal's name, neither a running one nor one that it could start.
_ABSENT = "org.freedesktop.DBus.Error.ServiceUnknown"
# The response of a request that the user has declined; others are failures.
_DECLINED = 1
# For so long after an activation, another one is a repeat of a held key unless the key was released. It is longer than the usual
# delay of a keyboard before the first repeat, 0.6 s on KDE.
_REPEAT_SECONDS = 1.0
# Pauses between attempts after a failure, and how many there are until the portal's name changes its owner.
_PAUSE_SECONDS = 0.5
_ATTEMPTS = 3
# How the user is no longer asked for a hotkey, and gets no notice without one.
_NONE = "; after `aeon-popup --install --hotkey none` the next start asks for no hotkey."


class PortalError(Exception):
    """The portal did not bind the shortcut. With `absent` it has no shortcuts. With `final` another attempt would have the
    same result: the user declined, or no portal is installed.
    """

    def __init__(self, problem: str, *, absent: bool = False, final: bool = False) -> None:
        super().__init__(problem)
        self.absent = absent
        self.final = final


class Key:
    """Tells the presses of a key from the repeats while it is held, which portals report as activations as well. A portal that
    does not say that the key was released ignores a second press that follows at once.
    """

    def __init__(self) -> None:
        self._repeats_until = -1.0

    def pressed(self, now: float) -> bool:
        """Whether an activation at this time, in seconds, is a press."""
        is_repeat = now < self._repeats_until
        self._repeats_until = now + _REPEAT_SECONDS
        return not is_repeat

    def release(self) -> None:
        """The next activation is a press."""
        self._repeats_until = -1.0


class PortalShortcut:
    """A shortcut of the portal. `pressed` is called once for each press, however long the key is held, and `repeated` for each
    repeat of a held key; `armed` with the key in words or the problem. After a restart of the portal the
    shortcut is bound again.
    """

    def __init__(
        self,
        connection: MessageBus,
        chord: Chord,
        pressed: Callable[[], None],
        armed: Callable[[HotkeySet], None],
        repeated: Callable[[], None] = lambda: None,
    ) -> None:
        self._connection = connection
        self._chord = chord
        self._pressed = pressed
        self._armed = armed
        self._repeated = repeated
        self._key = Key()
        self._session = ""
        self._responses: dict[str, asyncio.Future[tuple[int, dict[str, Any]]]] = {}
        self._owner_changed = asyncio.Event()
        self._owner = self._replied = ""

    async def run(self) -> None:
        """Binds the shortcut, and binds it again whenever the portal has ended or was restarted, until it is cancelled.
        A call to a portal that has ended starts it.
        """
        await listen(
            self._connection,
            self._received,
            f"type='signal',interface='{_REQUEST}'",
            f"type='signal',interface='{_SHORTCUTS}'",
            PORTAL_RESTARTED,
        )
        while True:
            self._owner_changed.clear()
            await self._bind_patiently()
            if self._owner == self._replied:  # the portal that was started by the call
                self._owner_changed.clear()
            await self._owner_changed.wait()

    async def _bind_patiently(self) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                shown = await self._bind()
            except (PortalError, TimeoutError) as error:
                problem = str(error) or "The portal did not respond."
                await self._close()
                failed = error if isinstance(error, PortalError) else PortalError(problem)
                if attempt == _ATTEMPTS or failed.final:
                    words = f"{problem} Bind a key of your desktop to `aeon-popup --toggle`{'.' if failed.absent else _NONE}"
                    self._armed(HotkeySet(problem=words, absent=failed.absent))
                    return
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                self._armed(HotkeySet(shown))
                return

    async def _bind(self) -> str:
        """Creates a session and binds the shortcut once; returns the key in the portal's words."""
        await self._register()
        version = await self._version()
        shortcut = [_SHORTCUT_ID, {
            "description": Variant("s", _DESCRIPTION),
            "preferred_trigger": Variant("s", self._chord.trigger),
        }]  # fmt: skip
        options = {"session_handle_token": Variant("s", _SESSION_TOKEN)}
        if version == 1:  # backends of version 1 read the shortcuts here
            options["shortcuts"] = Variant("a(sa{sv})", [shortcut])
        created = await self._request("CreateSession", "a{sv}", [], options)
        self._session = str(created["session_handle"])
        bound = await self._request(
            "BindShortcuts", "oa(sa{sv})sa{sv}", [self._session, [shortcut], ""], {}, _DIALOG_SECONDS
        )
        for name, details in bound.get("shortcuts", []):
            if name == _SHORTCUT_ID:
                return str(details.get("trigger_description", "") or self._chord.text)
        raise PortalError("The desktop did not bind the shortcut.")

    async def _close(self) -> None:
        """Ends the portal's session, if there is one: another one of the same name cannot exist beside it."""
        session, self._session = self._session, ""
        if session:
            with suppress(TimeoutError):
                await self._call(_SESSION, "Close", "", [], path=session)

    async def _register(self) -> None:
        """Names the program; portals before 1.21 do not have the method and need no name."""
        registry = "org.freedesktop.host.portal.Registry"
        await self._call(registry, "Register", "sa{sv}", [APP_ID, {}])

    async def _version(self) -> int:
        reply = await self._call("org.freedesktop.DBus.Properties", "Get", "ss", [_SHORTCUTS, "version"])
        if reply is None or reply.message_type is not MessageType.METHOD_RETURN:
            final = reply is not None and reply.error_name == _ABSENT
            raise PortalError("This desktop has no portal for global shortcuts.", absent=True, final=final)
        return int(unpack_variants(reply.body[0]))

    async def _request(
        self,
        member: str,
        signature: str,
        body: list[Any],
        options: dict[str, Variant],
        seconds: float = _REPLY_SECONDS,
    ) -> dict[str, Any]:
        """Calls a method that replies by a Request object, and waits for its response."""
        token = f"aeon{uuid.uuid4().hex}"
        sender = str(self._connection.unique_name).removeprefix(":").replace(".", "_")
        path = f"{PORTAL_PATH}/request/{sender}/{token}"
        response: asyncio.Future[tuple[int, dict[str, Any]]] = asyncio.get_running_loop().create_future()
        self._responses[path] = response
        try:
            options = {**options, "handle_token": Variant("s", token)}
            reply = await self._call(_SHORTCUTS, member, signature, [*body, options])
            if reply is None or reply.message_type is not MessageType.METHOD_RETURN:
                why = reply.body[0] if reply is not None and reply.body else "no reply"
                raise PortalError(f"The portal refused {member}: {why}.")
            async with asyncio.timeout(seconds):
                code, results = await response
        finally:
            del self._responses[path]
        if code == _DECLINED:
            raise PortalError("The shortcut was declined.", final=True)
        if code:
            raise PortalError("The desktop could not bind the shortcut.")
        return dict(unpack_variants(results))

    async def _call(
        self, interface: str, member: str, signature: str, body: list[Any], path: str = PORTAL_PATH
    ) -> Message | None:
        message = Message(
            destination=PORTAL,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=body,
        )
        async with asyncio.timeout(_REPLY_SECONDS):
            reply = await self._connection.call(message)
        self._replied = str(reply.sender)
        return reply

    def _received(self, message: Message) -> None:
        if message.message_type is not MessageType.SIGNAL:
            return
        match message.member:
            case "Response" if (waiting := self._responses.get(message.path or "")) is not None:
                if not waiting.done():
                    waiting.set_result((message.body[0], message.body[1]))
            case "Activated" if message.body[:2] == [self._session, _SHORTCUT_ID]:
                self._activated(message.body[3] if len(message.body) > 3 else {})
            case "Deactivated" if message.body[:2] == [self._session, _SHORTCUT_ID]:
                self._key.release()
            case "NameOwnerChanged" if message.body[0] == PORTAL:
                self._owner = message.body[2]
                # The session has ended with its portal. To close it would be a call to the next portal, whose start would pass
                # for one that has been bound.
                self._session = ""
                self._owner_changed.set()
                self._end_requests(PortalError("The portal has ended."))
            case _:
                pass

    def _activated(self, options: dict[str, Any]) -> None:
        if self._key.pressed(time.monotonic()):
            hand_on_token(str(unpack_variants(options.get("activation_token", ""))))
            self._pressed()
        else:
            self._repeated()

    def _end_requests(self, error: PortalError) -> None:
        """Requests of a portal that has ended get no response."""
        for waiting in self._responses.values():
            if not waiting.done():
                waiting.set_exception(error)


def hand_on_token(token: str) -> None:
    """Gives Qt the permission of the compositor to take the focus; Qt reads it when it activates a window."""
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token


async def listen(connection: MessageBus, received: Callable[[Message], None], *rules: str) -> None:
    """Calls `received` with the messages of the bus from now on, those that match the rules among them."""
    connection.add_message_handler(received)
    path = "/org/freedesktop/DBus"
    for rule in rules:
        await connection.call(
            Message(destination=BUS, path=path, interface=BUS, member="AddMatch", signature="s", body=[rule])
        )
