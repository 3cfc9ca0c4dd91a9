"""Answers every call of a connection that is not let in with one gRPC status.

Just enough HTTP/2 to be understood: settings and pings are acknowledged, each request's headers are
answered with trailers, everything else is read and forgotten. Nothing of such a connection reaches the
gRPC server, and its user still reads in plain words what is wrong.
"""

import asyncio
import socket
import struct
from collections.abc import Iterable

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

_HEADER_BYTES = 9
_MAX_FRAME_BYTES = 16_384  # what a peer may send before it is told otherwise, and it is not
_HEADERS, _SETTINGS, _PING, _GOAWAY = 0x1, 0x4, 0x6, 0x7
_ACK = _END_STREAM = 0x1
_END_HEADERS = 0x4
_STATUS_200 = b"\x88"  # ":status: 200", entry 8 of HPACK's static table


async def receive_exactly(connection: socket.socket, count: int) -> bytes:
    """That many bytes; ConnectionError when the peer goes first."""
    loop = asyncio.get_running_loop()
    received = b""
    while len(received) < count:
        piece = await loop.sock_recv(connection, count - len(received))
        if not piece:
            raise ConnectionResetError("the peer closed the connection")
        received += piece
    return received


async def refuse(connection: socket.socket, metadata: Iterable[tuple[str, str]]) -> None:
    """Answers until the peer goes. `metadata` holds `grpc-status`, `grpc-message` and more, all ASCII.

    To be called after the connection preface was read, and under a deadline: a peer need not ever go.
    Raises ConnectionError when it breaks off.
    """
    loop = asyncio.get_running_loop()
    answer = _STATUS_200 + b"".join(
        _literal(name, value) for name, value in [("content-type", "application/grpc"), *metadata]
    )
    await loop.sock_sendall(connection, _frame(_SETTINGS))
    while True:
        header = await receive_exactly(connection, _HEADER_BYTES)
        length, kind, flags = int.from_bytes(header[:3], "big"), header[3], header[4]
        stream_id = int.from_bytes(header[5:], "big") & 0x7FFF_FFFF
        if length > _MAX_FRAME_BYTES:
            return
        payload = await receive_exactly(connection, length)
        if kind == _SETTINGS and not flags & _ACK:
            await loop.sock_sendall(connection, _frame(_SETTINGS, _ACK))
        elif kind == _PING and not flags & _ACK:
            await loop.sock_sendall(connection, _frame(_PING, _ACK, payload=payload))
        elif kind == _HEADERS:
            trailers = _frame(_HEADERS, _END_STREAM | _END_HEADERS, stream_id, answer)
            going = _frame(_GOAWAY, payload=struct.pack("!II", stream_id, 0))
            await loop.sock_sendall(connection, trailers + going)


def _frame(kind: int, flags: int = 0, stream_id: int = 0, payload: bytes = b"") -> bytes:
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream_id) + payload


def _literal(name: str, value: str) -> bytes:
    """A header field in HPACK's form that touches no table."""
    return b"\x00" + _text(name) + _text(value)


def _text(text: str) -> bytes:
    encoded = text.encode("ascii")
    length, prefix = len(encoded), b""
    if length < 0x7F:
        return bytes((length,)) + encoded
    length -= 0x7F
    while length >= 0x80:
        prefix += bytes((length % 0x80 + 0x80,))
        length //= 0x80
    return b"\x7f" + prefix + bytes((length,)) + encoded
