"""Floods of header blocks: by a test, and as a program that opens streams as fast as it can until it is killed."""

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.support.http2_frames import (
    CONTINUATION,
    END_HEADERS,
    HEADERS,
    PREFACE,
    SETTINGS,
    frame,
    literal,
)

CONNECTIONS = 12
STREAMS_AT_ONCE = 40
ROUNDS = 40  # until the daemon is busy with the flood
SEND_SECONDS = 5.0

REQUEST = b"".join(
    literal(name, value)
    for name, value in (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/aeond.api.v1.RunService/CreateRun"),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    )
)


@contextmanager
def attacker(path: Path | str) -> Iterator[socket.socket]:
    """A connection that sends raw frames, and waits some seconds until they are accepted."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SEND_SECONDS)
        connection.connect(str(path))
        connection.sendall(PREFACE + frame(SETTINGS))
        yield connection


def request(stream_id: int, fields: bytes = b"") -> bytes:
    """The headers of a call with these encoded fields besides its own. Its message is not sent."""
    block = REQUEST + fields
    pieces = [block[start : start + 16_000] for start in range(0, len(block), 16_000)]
    return b"".join(
        frame(
            CONTINUATION if index else HEADERS,
            END_HEADERS if index == len(pieces) - 1 else 0,
            stream_id,
            piece,
        )
        for index, piece in enumerate(pieces)
    )


def flood(path: str) -> None:
    """Opens streams on twelve connections in turn, without end; prints a line once each has opened 1,600."""
    with ExitStack() as stack:
        attackers = [stack.enter_context(attacker(path)) for _ in range(CONNECTIONS)]
        rounds = 0
        while True:
            first = rounds * STREAMS_AT_ONCE
            data = b"".join(
                request(2 * number + 1, b"\x90" * 20) for number in range(first, first + STREAMS_AT_ONCE)
            )
            for connection in attackers:
                with suppress(OSError):
                    connection.sendall(data)
                with suppress(OSError):
                    connection.recv(1 << 20, socket.MSG_DONTWAIT)
            rounds += 1
            if rounds == ROUNDS:
                print("flooding", flush=True)  # noqa: T201 - what its caller waits for


if __name__ == "__main__":
    flood(sys.argv[1])
