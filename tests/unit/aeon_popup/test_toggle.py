"""Sending an action to the popup, by a bus that refuses."""

import socket
import struct
import threading
from pathlib import Path

import pytest

from aeon_popup.toggle import NoBusError, send_action

SECONDS = 30.0


def _refusal(words: str) -> bytes:
    """An error of D-Bus without header fields."""
    body = struct.pack("<I", len(words)) + words.encode() + b"\0"
    return struct.pack("<BBBBIII", ord("l"), 3, 0, 1, len(body), 1, 0) + body


def test_a_bus_that_refuses_the_connection_is_named(tmp_path: Path) -> None:
    """An error of the bus itself is not reported as one of the popup."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "bus"))
        server.listen()

        def refuse() -> None:
            bus, _ = server.accept()
            with bus:
                bus.recv(4096)
                bus.sendall(b"OK\r\n")
                bus.recv(4096)  # the client reads nothing more before it has sent
                bus.sendall(_refusal("too many connections"))
                while bus.recv(4096):  # until the client leaves: a close with unread data would be a reset
                    pass

        refusing = threading.Thread(target=refuse, daemon=True)
        refusing.start()
        expected = "^The session bus refused the connection: too many connections$"
        with pytest.raises(NoBusError, match=expected):
            send_action("show", {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path / 'bus'}"})
        refusing.join(SECONDS)
