"""Screens what a client says for the one thing that grpcio does not survive.

The asyncio server of grpcio decodes the path of each request as UTF-8 in its accepting loop, and a path
that is none ends that loop: one malformed request, and nobody is served any more. So the door follows a
client's HTTP/2 frames as far as it takes to see the values of headers that can be a path, and closes the
connection on a byte that no path has.

Header blocks are read without HPACK's dynamic table. A field whose name stands in that table is taken
for a possible path. The price: such a field, Huffman-coded, must not hold a backslash or a few pairs such
as `9{`; requests of this API hold nothing of the kind.
"""

from collections.abc import Iterator

_FRAME_HEADER_BYTES = 9
_MAX_HELD_BYTES = 64 * 1024
_HEADERS, _CONTINUATION = 0x1, 0x9
_END_HEADERS, _PADDED, _PRIORITY = 0x4, 0x8, 0x20

_PATH = (4, 5)  # HPACK's static entries of that name
_FIRST_DYNAMIC = 62
_PATH_NAMES = (b":path", b"\xb9\x58\xd3\x3f")  # as it is, and Huffman-coded
# In HPACK's Huffman code each byte from 0x80 on begins with fifteen ones, and so does the end mark.
_LONG_RUN = "1" * 15


class Screen:
    """Follows one client's bytes from behind the connection preface, and holds headers back until judged.

    Held back, because the server reads headers as they come, and takes what it has for the whole request
    when the connection breaks in the middle of them.
    """

    def __init__(self) -> None:
        self._free = 0  # bytes still to come of a frame that carries no headers
        self._frame = bytearray()  # what has arrived of the frame being read
        self._length: int | None = None  # of its payload, once its header is there
        self._frames = bytearray()  # earlier frames of the same headers
        self._block = bytearray()  # the headers in them

    def admit(self, data: bytes) -> bytes | None:
        """What may go on now, of these bytes and those held back; None: the client is not to be heard."""
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
                    judged = self._judge()
                    if judged is None:
                        return None
                    admitted += judged
            place += len(piece)
        return bytes(admitted)

    def _judge(self) -> bytes | bytearray | None:
        """What may go on now that a frame's header, or a whole frame of headers, has arrived."""
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
        except IndexError:
            return None  # it ends in the middle of a field
        return frames if plain else None


def _headers_of(frame: bytearray, flags: int) -> bytearray:
    """The header block in a frame, without padding and priority."""
    start = _FRAME_HEADER_BYTES + (1 if flags & _PADDED else 0) + (5 if flags & _PRIORITY else 0)
    padding = frame[_FRAME_HEADER_BYTES] if flags & _PADDED and len(frame) > _FRAME_HEADER_BYTES else 0
    return frame[start : len(frame) - padding]


def _is_plain(value: bytes, *, huffman: bool) -> bool:
    if huffman:
        return _LONG_RUN not in format(int.from_bytes(value, "big"), "b")
    return value.isascii()


def _possible_paths(block: bytes) -> Iterator[tuple[bytes, bool]]:
    """Each value that may be a path's, and whether it is Huffman-coded. IndexError for a cut block."""
    place = 0
    while place < len(block):
        first = block[place]
        if first & 0x80:  # a field of a table: checked when it went in
            _, place = _number(block, place, 7)
        elif first & 0xE0 == 0x20:  # the size of the dynamic table
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
    """A string as it stands, whether it is Huffman-coded, and where it ends."""
    huffman = bool(block[place] & 0x80)
    length, place = _number(block, place, 7)
    if place + length > len(block):
        raise IndexError(length)
    return block[place : place + length], huffman, place + length


def _number(block: bytes, place: int, prefix_bits: int) -> tuple[int, int]:
    """A number that begins in the low bits of a byte, and where it ends."""
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
