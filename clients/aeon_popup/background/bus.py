"""The popup on D-Bus: one instance per session, and the actions that other programs can send."""

from collections.abc import Callable

from dbus_fast import BusType, Message, MessageType, NameFlag, RequestNameReply
from dbus_fast.aio import MessageBus

from aeon_popup.hotkey.portal import hand_on_token
from aeon_popup.toggle import ACTIONS, BUS_NAME, INTERFACE, OBJECT_PATH


class Bus:
    """A connection to the session bus. `act` is called in the worker's thread with each action; "show" is also the
    action of a plain activation.
    """

    def __init__(self, act: Callable[[str], None]) -> None:
        self._act = act
        self.connection: MessageBus | None = None

    async def connect(self) -> bool:
        """Takes the popup's name; False if another instance has it. That instance is shown then.

        Raises OSError or dbus_fast's errors if there is no session bus.
        """
        connection = await MessageBus(bus_type=BusType.SESSION).connect()
        connection.add_message_handler(self._received)
        reply = await connection.request_name(BUS_NAME, NameFlag.DO_NOT_QUEUE)
        if reply is not RequestNameReply.PRIMARY_OWNER:
            connection.disconnect()
            return False
        self.connection = connection
        return True

    def _received(self, message: Message) -> Message | None:
        """Replies to calls of org.freedesktop.Application; other messages are left to the library."""
        if message.message_type is not MessageType.METHOD_CALL or message.interface != INTERFACE:
            return None
        if message.path != OBJECT_PATH:
            return None
        data = message.body[-1] if message.body and isinstance(message.body[-1], dict) else {}
        if (token := data.get("activation-token")) is not None:
            hand_on_token(str(token.value))
        match message.member:
            case "Activate" | "Open":
                self._act("show")
            case "ActivateAction" if message.body and message.body[0] in ACTIONS:
                self._act(message.body[0])
            case _:
                name = "org.freedesktop.DBus.Error.UnknownMethod"
                return Message.new_error(message, name, f"unknown action; known are {', '.join(ACTIONS)}")
        return Message.new_method_return(message)
