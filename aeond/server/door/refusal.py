"""Answers every call on a refused connection with one gRPC status.

This is a minimal HTTP/2 server: it acknowledges settings and pings, answers each request's headers with
trailers, and discards everything else. Nothing from such a connection reaches the gRPC server, yet its user
sees a readable error.
"""

import asyncio
import socket
import struct
from collections.abc import Iterable

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

_HEADER_BYTES = 9
_MAX_FRAME_BYTES = 16_384  # the initial flow-control window of a peer, which is never raised
_HEADERS, _SETTINGS, _PING, _GOAWAY = 0x1, 0x4, 0x6, 0x7
_ACK = _END_STREAM = 0x1
_END_HEADERS = 0x4
_STATUS_200 = b"\x88"  # ":status: 200", entry 8 of HPACK's static table


async def receive_exactly(connection: socket.socket, count: int) -> bytes:
    """Reads that many bytes; ConnectionError if the peer disconnects first."""
    loop = asyncio.get_running_loop()
    received = b""
    while len(received) < count:
        piece = await loop.sock_recv(connection, count - len(received))
        if not piece:
            raise ConnectionResetError("the peer closed the connection")
        received += piece
    return received


async def refuse(connection: socket.socket, metadata: Iterable[tuple[str, str]]) -> None:
    """Answers until the peer disconnects. `metadata` contains `grpc-status`, `grpc-message` and more, all
    ASCII.

    Call after reading the connection preface, and under a deadline, because a peer need not disconnect.
    Raises ConnectionError if the connection is interrupted.
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
    """A header field in HPACK's literal form without indexing."""
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
