"""HTTP/2 as a client of gRPC speaks it, made by hand so that a test can get it wrong."""

import random
import struct
from collections.abc import Callable, Sequence

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM = 1
END_HEADERS = 4


def frame(kind: int, flags: int = 0, stream_id: int = 0, payload: bytes = b"") -> bytes:
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream_id) + payload


def literal(name: str, value: str) -> bytes:
    """A header field that touches no table; name and value below 127 bytes."""
    return b"\0" + b"".join(bytes((len(text),)) + text.encode() for text in (name, value))


def call(stream_id: int, path: str, message: bytes) -> list[bytes]:
    """One unary call: its headers, then its message."""
    headers = b"".join(
        literal(name, value)
        for name, value in (
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", "localhost"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        )
    )
    body = b"\0" + struct.pack("!I", len(message)) + message
    return [
        frame(HEADERS, END_HEADERS, stream_id, headers),
        frame(DATA, END_STREAM, stream_id, body),
    ]


def conversation(calls: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """A whole valid conversation, frame by frame."""
    frames = [PREFACE, frame(SETTINGS), frame(WINDOW_UPDATE, payload=struct.pack("!I", 1 << 20))]
    for index, (path, message) in enumerate(calls):
        frames += call(2 * index + 1, path, message)
    return [*frames, frame(PING, payload=b"12345678")]


class Mutator:
    """Changes bytes and frames in ways that are chance, but the same chance for the same seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self._ways: tuple[Callable[[bytearray], None], ...] = (
            self._flip,
            self._cut,
            self._insert,
            self._repeat,
        )

    def mutated(self, data: bytes, times: int) -> bytes:
        """The bytes with that many changes."""
        changed = bytearray(data)
        for _ in range(times):
            self.dice.choice(self._ways)(changed)
        return bytes(changed)

    def mutated_frames(self, frames: list[bytes]) -> bytes:
        """The conversation with frames dropped, doubled, swapped, invented or changed; most keep the preface."""
        chosen = list(frames)
        for _ in range(self.dice.randint(1, 4)):
            index = self.dice.randrange(1, len(chosen)) if len(chosen) > 1 else 0
            match self.dice.randrange(6):
                case 0:
                    del chosen[index]
                case 1:
                    chosen.insert(index, chosen[self.dice.randrange(len(chosen))])
                case 2:
                    other = self.dice.randrange(1, len(chosen)) if len(chosen) > 1 else 0
                    chosen[index], chosen[other] = chosen[other], chosen[index]
                case 3:
                    chosen.insert(index, self._invented())
                case _:
                    chosen[index] = self.mutated(chosen[index], self.dice.randint(1, 3))
            if not chosen:
                break
        joined = b"".join(chosen)
        return self.mutated(joined, 1) if self.dice.random() < 0.1 else joined

    def _invented(self) -> bytes:
        payload = self.dice.randbytes(self.dice.choice((0, 1, 4, 8, 100)))
        kind, flags = self.dice.randrange(12), self.dice.randrange(256)
        return frame(kind, flags, self.dice.choice((0, 1, 3, 2, (1 << 31) - 1)), payload)

    def _flip(self, data: bytearray) -> None:
        if data:
            data[self.dice.randrange(len(data))] ^= 1 << self.dice.randrange(8)

    def _cut(self, data: bytearray) -> None:
        if data:
            start = self.dice.randrange(len(data))
            del data[start : start + self.dice.randint(1, 8)]

    def _insert(self, data: bytearray) -> None:
        place = self.dice.randint(0, len(data))
        data[place:place] = self.dice.randbytes(self.dice.randint(1, 8))

    def _repeat(self, data: bytearray) -> None:
        if data:
            start = self.dice.randrange(len(data))
            data += data[start : start + self.dice.randint(1, 64)]
