"""Filters client bytes for two inputs that grpcio does not survive.

The asyncio server of grpcio decodes the path of each request as UTF-8 in its accept loop, and an invalid path
ends that loop: one malformed request, and no client is served any more. The door therefore parses a client's
HTTP/2 frames far enough to see header values that can be a path, and closes the connection on a byte that
cannot occur in a path.

HPACK repeats a header field with one byte, and grpcio stores each repetition before it checks the size of the
metadata. The door therefore closes the connection on a header block of more than MAX_FIELDS fields.

Header blocks are parsed without HPACK's dynamic table. A field whose name comes from that table is treated as
a possible path. As a consequence, such a field, if Huffman-coded, must not contain a backslash or a few pairs
such as `9{`; requests of this API contain none of these.
"""

from collections.abc import Iterator

MAX_FIELDS = 32  # in one header block; a gRPC client sends about ten, besides its own metadata

_FRAME_HEADER_BYTES = 9
_MAX_HELD_BYTES = 64 * 1024
_HEADERS, _CONTINUATION = 0x1, 0x9
_END_HEADERS, _PADDED, _PRIORITY = 0x4, 0x8, 0x20

_PATH = (4, 5)  # HPACK's static entries with this name
_FIRST_DYNAMIC = 62
_PATH_NAMES = (b":path", b"\xb9\x58\xd3\x3f")  # literal, and Huffman-coded
# In HPACK's Huffman code each byte from 0x80 on starts with fifteen ones, and so does the end mark.
_LONG_RUN = "1" * 15


class Http2Filter:
    """Follows one client's bytes after the connection preface, and buffers headers until they are checked.

    They must be buffered, because the server reads headers as they arrive, and treats partial headers as the
    whole request if the connection breaks.
    """

    def __init__(self) -> None:
        self._free = 0  # remaining bytes of a frame that carries no headers
        self._frame = bytearray()  # the received part of the current frame
        self._length: int | None = None  # the size of its payload, once its header is complete
        self._frames = bytearray()  # earlier frames of the same header block
        self._block = bytearray()  # the header fields in them

    def admit(self, data: bytes) -> bytes | None:
        """The bytes that may be forwarded now, of these and the buffered ones; None: close the connection."""
        if len(data) <= self._free:
            self._free -= len(data)
            return data
        admitted, place = bytearray(), 0
        while place < len(data):
            if self._free:
                piece = data[place : place + self._free]
                self._free -= len(piece)
                admitted += piece
            else:
                wanted = _FRAME_HEADER_BYTES + (self._length or 0)
                piece = data[place : place + wanted - len(self._frame)]
                self._frame += piece
                if len(self._frame) == wanted:
                    passed = self._check()
                    if passed is None:
                        return None
                    admitted += passed
            place += len(piece)
        return bytes(admitted)

    def _check(self) -> bytes | bytearray | None:
        """The bytes that may be forwarded once a frame's header, or a whole frame of headers, has arrived."""
        frame = self._frame
        kind, flags = frame[3], frame[4]
        if self._length is None:
            length = int.from_bytes(frame[:3], "big")
            if kind not in (_HEADERS, _CONTINUATION):
                self._frame, self._free = bytearray(), length
                return frame
            if length + len(self._frames) > _MAX_HELD_BYTES:
                return None
            if length:
                self._length = length
                return b""
        self._frame, self._length = bytearray(), None
        self._frames += frame
        self._block += _headers_of(frame, flags if kind == _HEADERS else 0)
        if not flags & _END_HEADERS:
            return b""
        frames, self._frames = self._frames, bytearray()
        block, self._block = bytes(self._block), bytearray()
        try:
            plain = all(_is_plain(value, huffman=huffman) for value, huffman in _possible_paths(block))
        except (IndexError, OverflowError):
            return None  # the block ends in the middle of a field, or has too many
        return frames if plain else None


def _headers_of(frame: bytearray, flags: int) -> bytearray:
    """The header block of a frame, without padding and priority."""
    start = _FRAME_HEADER_BYTES + (1 if flags & _PADDED else 0) + (5 if flags & _PRIORITY else 0)
    padding = frame[_FRAME_HEADER_BYTES] if flags & _PADDED and len(frame) > _FRAME_HEADER_BYTES else 0
    return frame[start : len(frame) - padding]


def _is_plain(value: bytes, *, huffman: bool) -> bool:
    if huffman:
        return _LONG_RUN not in format(int.from_bytes(value, "big"), "b")
    return value.isascii()


def _possible_paths(block: bytes) -> Iterator[tuple[bytes, bool]]:
    """Each value that may be a path, and whether it is Huffman-coded.

    IndexError for a truncated block, OverflowError for one of more than MAX_FIELDS fields.
    """
    place = fields = 0
    while place < len(block):
        fields += 1
        if fields > MAX_FIELDS:
            raise OverflowError(fields)
        first = block[place]
        if 0x80 <= first < 0xFF:  # an indexed field: checked when it was added
            place += 1
        elif first == 0xFF:
            _, place = _number(block, place, 7)
        elif first & 0xE0 == 0x20:  # a dynamic table size update
            _, place = _number(block, place, 5)
        else:
            index, place = _number(block, place, 6 if first & 0x40 else 4)
            name = b""
            if index == 0:
                name, _, place = _string(block, place)
            value, huffman, place = _string(block, place)
            if index in _PATH or index >= _FIRST_DYNAMIC or name in _PATH_NAMES:
                yield value, huffman


def _string(block: bytes, place: int) -> tuple[bytes, bool, int]:
    """The raw string, whether it is Huffman-coded, and its end."""
    huffman = bool(block[place] & 0x80)
    length, place = _number(block, place, 7)
    if place + length > len(block):
        raise IndexError(length)
    return block[place : place + length], huffman, place + length


def _number(block: bytes, place: int, prefix_bits: int) -> tuple[int, int]:
    """A number that starts in the low bits of a byte, and its end."""
    most = (1 << prefix_bits) - 1
    number = block[place] & most
    place += 1
    if number < most:
        return number, place
    for shift in range(0, 35, 7):
        number += (block[place] & 0x7F) << shift
        place += 1
        if not block[place - 1] & 0x80:
            return number, place
    raise IndexError(number)
