"""journald's native protocol: one datagram a record, with fields that `journalctl` finds records by.

The libraries that speak it do not fit: python-systemd needs a compiler, and those in plain Python put the
arguments of a message beside it, make message ids from its text, and wait for journald without an end.
"""

import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/systemd/journal/socket")
# A stopped journald must not stop us: one record waits so long for room, and the next ones not at all.
PATIENCE_SECONDS: Final = 1
MAX_VALUE_BYTES: Final = 32 * 1024
_LENGTH: Final = struct.Struct("<Q")


class JournaldSocket:
    """Hands records to journald. Never raises and never waits long: what finds no room is counted and lost."""

    def __init__(self, path: Path = SOCKET) -> None:
        self._path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        # The kernel's own deadline: Python's would turn in circles, for the socket itself is always writable.
        self._socket.setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", PATIENCE_SECONDS, 0)
        )
        self._lost = 0

    def send(self, fields: Mapping[str, str]) -> None:
        """Sends one record; the first one after a loss is followed by one that tells of it."""
        if not self._sent(fields):
            self._lost += 1
        elif self._lost:
            told = f"{self._lost} records before this one found no room and were lost"
            if self._sent({"MESSAGE": told, "PRIORITY": "4"}):
                self._lost = 0

    def close(self) -> None:
        self._socket.close()

    def _sent(self, fields: Mapping[str, str]) -> bool:
        flags = socket.MSG_DONTWAIT if self._lost else 0
        try:
            # Addressed each time: a journald that was restarted has a new socket at the same path.
            self._socket.sendto(encoded(fields), flags, self._path)
        except OSError:
            return False
        return True


def encoded(fields: Mapping[str, str]) -> bytes:
    """One record as it is sent: values of one line as they are, others with their length before them.

    A value longer than 32 KiB is cut, so that every record fits into a datagram.
    """
    parts = []
    for name, text in fields.items():
        value = text.encode("utf-8", "replace")[:MAX_VALUE_BYTES]
        if b"\n" in value:
            parts.append(name.encode("ascii") + b"\n" + _LENGTH.pack(len(value)) + value + b"\n")
        else:
            parts.append(name.encode("ascii") + b"=" + value + b"\n")
    return b"".join(parts)
