"""Doubles of services of the session bus: notifications, a portal for settings, and a strict one for global shortcuts.

Each runs in a thread of its own with its own connection, so that a test can wait for what it received.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from dbus_fast import Message, MessageType, NameFlag, RequestNameReply, Variant
from dbus_fast.aio import MessageBus

from tests.support.desktop_session import DEADLINE_SECONDS, Session


class BusService:
    """A name on the bus, and a function that answers each method call with the reply's signature and body."""

    name = ""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._bus: MessageBus | None = None

    def answer(self, message: Message) -> Message:
        return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "unknown method")

    def emit(self, path: str, interface: str, member: str, signature: str, body: list[Any]) -> None:
        """Sends a signal; callable from any thread."""
        signal = Message.new_signal(path, interface, member, signature, body)
        self.call(lambda: self._bus.send(signal) if self._bus else None)

    def call(self, do: Callable[[], object]) -> None:
        """Calls a function in the service's thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(do)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(DEADLINE_SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._ended is not None
        self.call(self._ended.set)
        self._thread.join(DEADLINE_SECONDS)

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._bus = await MessageBus(self._session.bus).connect()
        self._bus.add_message_handler(self._received)
        reply = await self._bus.request_name(self.name, NameFlag.DO_NOT_QUEUE)
        assert reply is RequestNameReply.PRIMARY_OWNER
        self._ready.set()
        await self._ended.wait()
        self._bus.disconnect()

    def _received(self, message: Message) -> Message | None:
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        return self.answer(message)


@dataclass(frozen=True)
class Shown:
    """A notification as the desktop got it."""

    number: int
    replaces: int
    summary: str
    body: str
    actions: dict[str, str]


class Notifications(BusService):
    """org.freedesktop.Notifications: keeps what is shown, and lets a test choose an action. With `markup` it takes the text of a
    notification for markup, as most services do.
    """

    name = "org.freedesktop.Notifications"
    _path = "/org/freedesktop/Notifications"

    def __init__(self, session: Session, *, markup: bool = True) -> None:
        super().__init__(session)
        self._markup = markup
        self._shown: queue.SimpleQueue[Shown] = queue.SimpleQueue()
        self._last = 0

    def answer(self, message: Message) -> Message:
        if message.member == "GetCapabilities":
            more = ["body-markup"] if self._markup else []
            return Message.new_method_return(message, "as", [["actions", "body", *more]])
        if message.member != "Notify":
            return Message.new_method_return(message)
        _, replaces, _, summary, body, actions, _, _ = message.body
        self._last += 0 if replaces else 1
        number = replaces or self._last
        pairs = dict(zip(actions[::2], actions[1::2], strict=True))
        self._shown.put(Shown(number, replaces, summary, body, pairs))
        return Message.new_method_return(message, "u", [number])

    def next(self) -> Shown:
        """The next notification that was shown."""
        return self._shown.get(timeout=DEADLINE_SECONDS)

    def choose(self, label: str) -> None:
        """Waits for a notification and chooses the action with this label."""
        shown = self.next()
        self.invoke(shown, next(action for action, its in shown.actions.items() if its == label))

    def invoke(self, shown: Shown, action: str) -> None:
        """The user chooses an action."""
        self.emit(self._path, self.name, "ActionInvoked", "us", [shown.number, action])


class SettingsPortal(BusService):
    """A portal that knows settings by namespace and key. As xdg-desktop-portal does, it replies with the namespaces that were
    asked for and that it knows.
    """

    name = "org.freedesktop.portal.Desktop"
    _interface = "org.freedesktop.portal.Settings"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._settings: dict[str, dict[str, Variant]] = {}

    def answer(self, message: Message) -> Message:
        match message.member:
            case "ReadAll" if message.interface == self._interface and message.signature == "as":
                known = {name: self._settings[name] for name in message.body[0] if name in self._settings}
                return Message.new_method_return(message, "a{sa{sv}}", [known])
            case _:
                return super().answer(message)

    def change(self, namespace: str, key: str, value: Variant) -> None:
        """The user changes a setting."""
        self._settings.setdefault(namespace, {})[key] = value
        path = "/org/freedesktop/portal/desktop"
        self.emit(path, self._interface, "SettingChanged", "ssv", [namespace, key, value])


class LinkPortal(BusService):
    """A portal that opens links: keeps their addresses."""

    name = "org.freedesktop.portal.Desktop"
    _path = "/org/freedesktop/portal/desktop"
    _interface = "org.freedesktop.portal.OpenURI"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.opened: queue.SimpleQueue[str] = queue.SimpleQueue()

    def answer(self, message: Message) -> Message:
        if (message.path, message.interface, message.member) != (self._path, self._interface, "OpenURI"):
            return super().answer(message)
        if message.signature != "ssa{sv}":
            name = "org.freedesktop.DBus.Error.InvalidArgs"
            return Message.new_error(message, name, f"wrong signature {message.signature}")
        self.opened.put(message.body[1])
        return Message.new_method_return(message, "o", [f"{self._path}/request/1"])


class Portal(BusService):
    """A strict portal for global shortcuts.

    It refuses a call of an unregistered program, options of the wrong type, a second session of the same name, a second
    binding in a session and a session that it did not create, as xdg-desktop-portal does. Version 1 has the shortcuts in CreateSession.
    """

    name = "org.freedesktop.portal.Desktop"
    _path = "/org/freedesktop/portal/desktop"
    _interface = "org.freedesktop.portal.GlobalShortcuts"

    def __init__(
        self, session: Session, version: int = 2, *, registry: bool = True, declines: bool = False
    ) -> None:
        super().__init__(session)
        self._version = version
        self._registry = registry
        self._declines = declines
        self._registered: set[str] = set()
        self._bound: dict[str, bool] = {}
        self.bindings: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self.errors: list[str] = []

    def answer(self, message: Message) -> Message:
        match message.member:
            case "Register" if self._registry:
                if message.body[0] != "dev.aeon.Popup" or message.sender in self._registered:
                    return self._refused(message, f"cannot register {message.body[0]}")
                self._registered.add(str(message.sender))
                return Message.new_method_return(message)
            case "Get" if message.body == [self._interface, "version"]:
                return Message.new_method_return(message, "v", [Variant("u", self._version)])
            case "CreateSession" | "BindShortcuts" if (
                self._registry and message.sender not in self._registered
            ):
                return self._refused(message, "an application id is required")
            case "CreateSession" if message.signature == "a{sv}":
                return self._create(message, message.body[0])
            case "BindShortcuts" if message.signature == "oa(sa{sv})sa{sv}":
                return self._bind(message)
            case "Close" if self._bound.pop(message.path or "", None) is not None:
                return Message.new_method_return(message)
            case _:
                return Message.new_error(
                    message, "org.freedesktop.DBus.Error.UnknownMethod", "unknown method"
                )

    def activate(self, token: str = "token", *, times: int = 1) -> None:
        """The user presses the key, holds it for so many activations and releases it."""
        session = next(path for path, bound in self._bound.items() if bound)
        options = {"activation_token": Variant("s", token)}
        for member in (*["Activated"] * times, "Deactivated"):
            self.emit(self._path, self._interface, member, "osta{sv}", [session, "toggle", 0, options])

    def _create(self, message: Message, options: dict[str, Variant]) -> Message:
        wanted = {"handle_token": "s", "session_handle_token": "s"}
        if self._version == 1:
            wanted["shortcuts"] = "a(sa{sv})"
        if {name: value.signature for name, value in options.items()} != wanted:
            return self._refused(message, f"wrong options {sorted(options)}")
        session = f"{self._path}/session/{self._sender(message)}/{options['session_handle_token'].value}"
        if session in self._bound:
            return self._refused(message, f"{session} exists")
        self._bound[session] = False
        return self._request(message, options, {"session_handle": Variant("s", session)})

    def _bind(self, message: Message) -> Message:
        session, shortcuts, _, options = message.body
        if self._bound.get(session) is not False:
            return self._refused(message, "unknown session, or bound already")
        (name, details), *more = shortcuts
        if more or name != "toggle" or {one.signature for one in details.values()} != {"s"}:
            return self._refused(message, "wrong shortcuts")
        self._bound[session] = not self._declines
        self.bindings.put((session, details["preferred_trigger"].value))
        shown = {"description": details["description"], "trigger_description": Variant("s", "Ctrl+Alt+Space")}
        results = {"shortcuts": Variant("a(sa{sv})", [[name, shown]])}
        return self._request(message, options, results, 1 if self._declines else 0)

    def _request(
        self, message: Message, options: dict[str, Variant], results: dict[str, Variant], code: int = 0
    ) -> Message:
        """Replies with the handle of a request, whose response follows."""
        handle = f"{self._path}/request/{self._sender(message)}/{options['handle_token'].value}"
        interface = "org.freedesktop.portal.Request"
        answered = {} if code else results
        self.call(lambda: self.emit(handle, interface, "Response", "ua{sv}", [code, answered]))
        return Message.new_method_return(message, "o", [handle])

    def _refused(self, message: Message, why: str) -> Message:
        self.errors.append(why)
        return Message.new_error(message, "org.freedesktop.portal.Error.InvalidArgument", why)

    def _sender(self, message: Message) -> str:
        return str(message.sender).removeprefix(":").replace(".", "_")
