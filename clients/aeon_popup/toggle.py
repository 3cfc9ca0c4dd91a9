"""Sends an action to the running popup over D-Bus, without Qt or asyncio, whose imports take longer than the call.

If no popup is running, the bus starts it by its activation file and delivers the action then.
"""

import os
import socket
import struct

BUS_NAME = "dev.aeon.Popup"
OBJECT_PATH = "/dev/aeon/Popup"
INTERFACE = "org.freedesktop.Application"
ACTIONS = ("toggle", "show", "hide", "new", "quit")
# Starting the popup on a slow machine takes seconds.
_REPLY_SECONDS = 25.0
_MOST_BYTES = 1 << 20

_CALL, _REPLY, _ERROR = 1, 2, 3


class NoBusError(Exception):
    """The action was not delivered; the text says why and what to do."""


def send_action(action: str, environment: dict[str, str] | None = None) -> None:
    """Sends an action to the popup and waits for its reply. Raises NoBusError."""
    address = _socket_address(os.environ if environment is None else environment)  # type: ignore[arg-type]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bus:
        bus.settimeout(_REPLY_SECONDS)
        try:
            bus.connect(address)
            bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
            if not bus.recv(4096).startswith(b"OK"):
                raise NoBusError("The session bus rejected this user.")
            bus.sendall(b"BEGIN\r\n")
            bus.sendall(_message(1, "org.freedesktop.DBus", "/org/freedesktop/DBus", "Hello"))
            _wait_for_reply(bus, "The session bus refused the connection")
            bus.sendall(_message(2, BUS_NAME, OBJECT_PATH, "ActivateAction", action))
            _wait_for_reply(bus, "The popup did not reply")
        except OSError as error:
            raise NoBusError(f"The session bus does not respond: {error}.") from error


def _socket_address(environment: dict[str, str]) -> str:
    address = environment.get("DBUS_SESSION_BUS_ADDRESS", "")
    if not address and environment.get("XDG_RUNTIME_DIR"):
        address = f"unix:path={environment['XDG_RUNTIME_DIR']}/bus"
    for one in address.split(";"):
        transport, _, rest = one.partition(":")
        settings = dict(part.split("=", 1) for part in rest.split(",") if "=" in part)
        if transport == "unix" and "path" in settings:
            return settings["path"]
        if transport == "unix" and "abstract" in settings:
            return "\0" + settings["abstract"]
    raise NoBusError(
        "There is no session bus: DBUS_SESSION_BUS_ADDRESS is not set. Run this in a desktop session."
    )


def _message(serial: int, name: str, path: str, member: str, action: str = "") -> bytes:
    """A method call with no arguments, or of ActivateAction with an action and no parameters."""
    interface = INTERFACE if action else name
    fields = [(1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", name)]
    body = b""
    if action:
        fields.append((8, "g", "sava{sv}"))
        body = _padded(_text(action), 4) + struct.pack("<I", 0)
        body = _padded(body + struct.pack("<I", 0), 8)
    header = b""
    for code, kind, value in fields:
        header = _padded(header, 8) + bytes([code]) + b"\1" + kind.encode() + b"\0"
        if kind == "g":
            header += bytes([len(value)]) + value.encode() + b"\0"
        else:
            header = _padded(header, 4) + _text(value)
    start = struct.pack("<BBBBIII", ord("l"), _CALL, 0, 1, len(body), serial, len(header))
    return _padded(start + header, 8) + body


def _text(value: str) -> bytes:
    return struct.pack("<I", len(value.encode())) + value.encode() + b"\0"


def _padded(data: bytes, to: int) -> bytes:
    return data + b"\0" * (-len(data) % to)


def _wait_for_reply(bus: socket.socket, words: str) -> None:
    """Reads messages until the reply to the call that was sent last. Raises NoBusError for an error: these words and its text."""
    kind = 0
    while kind not in {_REPLY, _ERROR}:
        start = _read(bus, 16)
        order = "<" if start[0:1] == b"l" else ">"
        kind = start[1]
        body_length, _, fields_length = struct.unpack(order + "III", start[4:16])
        _read(bus, fields_length + (-fields_length % 8))
        body = _read(bus, body_length)
    if kind == _ERROR:
        raise NoBusError(f"{words}: {_first_text(body, order)}")


def _first_text(body: bytes, order: str) -> str:
    if len(body) < 5:
        return "unknown error"
    (length,) = struct.unpack_from(order + "I", body, 0)
    return body[4 : 4 + length].decode(errors="replace")


def _read(bus: socket.socket, count: int) -> bytes:
    if count > _MOST_BYTES:
        raise NoBusError("The session bus sent an invalid message.")
    data = b""
    while len(data) < count:
        piece = bus.recv(count - len(data))
        if not piece:
            raise NoBusError("The session bus closed the connection.")
        data += piece
    return data
