"""journald's own protocol."""

import os
import socket
from contextlib import closing
from pathlib import Path

from aeond.daemon.logs.journald import MAX_VALUE_BYTES, JournaldSocket, encoded


def fields_of(datagram: bytes) -> dict[str, str]:
    """A record as journald reads it."""
    fields = {}
    while datagram:
        line, _, rest = datagram.partition(b"\n")
        if b"=" in line:
            name, _, value = line.partition(b"=")
        else:
            length = int.from_bytes(rest[:8], "little")
            name, value, rest = line, rest[8 : 8 + length], rest[9 + length :]
        fields[name.decode()] = value.decode()
        datagram = rest
    return fields


def test_a_record_arrives_with_its_fields(journald: socket.socket, tmp_path: Path) -> None:
    """Every field of a record arrives unchanged, including line breaks and special characters."""
    said = {"MESSAGE": "it broke\nin line 2 = 3\n", "RUN_ID": "r1", "PLACE": "Zürich=…"}
    with closing(JournaldSocket(tmp_path / "socket")) as sender:
        sender.send(said)
    assert fields_of(journald.recv(100_000)) == said


def test_a_value_cannot_smuggle_in_a_field() -> None:
    """A value with a line break that looks like a field stays a value."""
    assert fields_of(encoded({"MESSAGE": "hello\nPRIORITY=0"})) == {"MESSAGE": "hello\nPRIORITY=0"}


def test_a_record_fits_into_a_datagram(journald: socket.socket, tmp_path: Path) -> None:
    """A text that is longer than a datagram may be is cut, and arrives."""
    with closing(JournaldSocket(tmp_path / "socket")) as sender:
        sender.send({"MESSAGE": "x" * (1 << 20)})
    assert len(fields_of(journald.recv(1 << 20))["MESSAGE"]) == MAX_VALUE_BYTES


def test_a_journald_that_reads_nothing_blocks_nothing(journald: socket.socket, tmp_path: Path) -> None:
    """Records that do not fit are dropped without blocking, and counted once there is space."""
    with closing(JournaldSocket(tmp_path / "socket")) as sender:
        for number in range(2_000):
            sender.send({"MESSAGE": str(number), "PADDING": "x" * 4_096})
        kept = 0
        journald.setblocking(False)
        while True:
            try:
                journald.recv(100_000)
            except BlockingIOError:
                break
            kept += 1
        sender.send({"MESSAGE": "again"})
    assert fields_of(journald.recv(100_000))["MESSAGE"] == "again"
    message = fields_of(journald.recv(100_000))["MESSAGE"]
    assert message == (
        f"{2_000 - kept} records before this one were dropped because journald's buffer was full"
    )


def test_a_journald_that_was_restarted_hears_us_again(tmp_path: Path) -> None:
    """While journald is away nothing breaks, and a new one at the same path gets what is said next."""
    path = tmp_path / "socket"
    with closing(JournaldSocket(path)) as sender:
        sender.send({"MESSAGE": "to journald"})
        for number in range(2):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
                receiver.bind(str(path))
                receiver.settimeout(5)
                sender.send({"MESSAGE": f"hello {number}"})
                assert fields_of(receiver.recv(1_000)) == {"MESSAGE": f"hello {number}"}
            os.unlink(path)
