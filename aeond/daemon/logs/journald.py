"""journald's native protocol: one datagram per record, with fields that `journalctl` can filter by.

Existing libraries are unsuitable: python-systemd needs a compiler, and the pure Python ones store message
arguments as fields, derive message ids from the text, and wait for journald without a limit.
"""

import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/systemd/journal/socket")
# A stopped journald must not block us: one record waits this long for buffer space, later ones not at all.
PATIENCE_SECONDS: Final = 1
MAX_VALUE_BYTES: Final = 32 * 1024
_LENGTH: Final = struct.Struct("<Q")


class JournaldSocket:
    """Sends records to journald. Never raises and never waits long: records that do not fit are counted and
    dropped.
    """

    def __init__(self, path: Path = SOCKET) -> None:
        self._path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        # The kernel's own timeout: Python's would busy-wait, because the socket itself is always writable.
        self._socket.setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", PATIENCE_SECONDS, 0)
        )
        self._lost = 0

    def send(self, fields: Mapping[str, str]) -> None:
        """Sends one record; the first one after a loss is followed by a record about it."""
        if not self._sent(fields):
            self._lost += 1
        elif self._lost:
            message = f"{self._lost} records before this one were dropped because journald's buffer was full"
            if self._sent({"MESSAGE": message, "PRIORITY": "4"}):
                self._lost = 0

    def close(self) -> None:
        self._socket.close()

    def _sent(self, fields: Mapping[str, str]) -> bool:
        flags = socket.MSG_DONTWAIT if self._lost else 0
        try:
            # Addressed each time: a restarted journald has a new socket at the same path.
            self._socket.sendto(encoded(fields), flags, self._path)
        except OSError:
            return False
        return True


def encoded(fields: Mapping[str, str]) -> bytes:
    """One record in wire format: single-line values as text, others with a length prefix.

    A value longer than 32 KiB is truncated, so that every record fits into a datagram.
    """
    parts = []
    for name, text in fields.items():
        value = text.encode("utf-8", "replace")[:MAX_VALUE_BYTES]
        if b"\n" in value:
            parts.append(name.encode("ascii") + b"\n" + _LENGTH.pack(len(value)) + value + b"\n")
        else:
            parts.append(name.encode("ascii") + b"=" + value + b"\n")
    return b"".join(parts)
