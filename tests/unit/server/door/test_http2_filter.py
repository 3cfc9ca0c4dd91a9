import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.server.door.http2_filter import MAX_FIELDS, Http2Filter
from tests.support.http2_frames import CONTINUATION, DATA, END_HEADERS, HEADERS, conversation, frame, literal

PADDED, PRIORITY = 0x8, 0x20
BAD = b"/a/\xe3bbb"
HUFFMAN_OF_BAD = bytes.fromhex("607fffe6")  # of b"/a\xe3" in HPACK's code


def string(text: bytes, *, huffman: bool = False) -> bytes:
    return bytes((len(text) | (0x80 if huffman else 0),)) + text


def headers(block: bytes, flags: int = END_HEADERS) -> bytes:
    return frame(HEADERS, flags, 1, block)


def admitted(*pieces: bytes) -> bytes | None:
    """All that goes on; None when the client is cut off."""
    screen, through = Http2Filter(), b""
    for piece in pieces:
        passed = screen.admit(piece)
        if passed is None:
            return None
        through += passed
    return through


def goes_on(*pieces: bytes) -> bool:
    return admitted(*pieces) is not None


VALID = b"".join(conversation([("/aeond.api.v1.RunService/GetRun", b"\xff" * 50_000), ("/a.B/C", b"")])[1:])


def test_a_valid_conversation_passes_in_pieces_of_any_size() -> None:
    """However the bytes are cut on their way, a valid conversation passes."""
    for size in (1, 2, 3, 9, 10, 1_000, len(VALID)):
        assert admitted(*(VALID[start : start + size] for start in range(0, len(VALID), size))) == VALID


@pytest.mark.parametrize(
    "block",
    [
        b"\x04" + string(BAD),
        b"\x44" + string(BAD),
        b"\x05" + string(BAD),
        b"\x40" + string(b":path") + string(BAD),
        b"\x00" + string(b":path") + string(BAD),
        b"\x10" + string(bytes.fromhex("b958d33f"), huffman=True) + string(BAD),
        b"\x7e" + string(BAD),
        b"\x0f\x2f" + string(BAD),
        b"\x04" + string(HUFFMAN_OF_BAD, huffman=True),
        b"\x82\x86" + literal("te", "trailers") + b"\x44" + string(BAD),
        b"\x3f\xe1\x1f" + b"\x44" + string(BAD),
    ],
)
def test_a_path_that_is_no_text_is_seen_in_every_form(block: bytes) -> None:
    """Whichever way HPACK allows to write it, a path with such a byte does not pass, whole or in pieces."""
    whole = headers(block)
    assert not goes_on(whole)
    assert not goes_on(*(whole[index : index + 1] for index in range(len(whole))))
    half = len(block) // 2
    assert not goes_on(headers(block[:half], flags=0), frame(CONTINUATION, END_HEADERS, 1, block[half:]))
    padded = bytes((3,)) + struct.pack("!IB", 0, 16) + block + b"\0\0\0"
    assert not goes_on(headers(padded, END_HEADERS | PADDED | PRIORITY))


@pytest.mark.parametrize(
    "block",
    [
        b"\x40" + string(b"x-text-bin") + string(b"\xff\xfe"),
        b"\x50" + string(BAD),
        b"\x44" + string(b"/aeond.api.v1.RunService/WatchRun"),
        b"\x44" + string(bytes.fromhex("60653d527f"), huffman=True),
        b"\xbe\x82\x3f\xe1\x1f",
        b"",
    ],
)
def test_other_headers_are_none_of_its_business(block: bytes) -> None:
    """Values of headers that are no path may hold anything."""
    valid = headers(block), frame(DATA, 0, 1, b"\xe3" * 100)
    assert admitted(*valid) == b"".join(valid)


@pytest.mark.parametrize("block", [b"\x44", b"\x44\x05/a", b"\x7f\xff\xff\xff\xff\xff\xff", b"\x40\x01"])
def test_a_block_that_is_cut_does_not_pass(block: bytes) -> None:
    """A header block that ends in the middle of a field is not let through."""
    assert not goes_on(headers(block))


def test_headers_are_held_back_until_they_are_whole() -> None:
    """Not one byte of a request's headers goes on before all of them were judged."""
    whole = headers(b"\x44" + string(b"/a.B/C"))
    for cut in range(len(whole)):
        assert admitted(VALID, whole[:cut]) == VALID
    assert admitted(VALID, whole) == VALID + whole


def test_a_block_without_end_does_not_pass() -> None:
    """Headers that go on and on are cut off before they cost memory."""
    endless: Sequence[bytes] = [headers(b"\x82" * 16_000, flags=0)] + [
        frame(CONTINUATION, 0, 1, b"\x82" * 16_000) for _ in range(4)
    ]
    assert admitted(*endless[:4]) == b""
    assert not goes_on(*endless)
    nothing = frame(CONTINUATION, 0, 1)
    assert not goes_on(headers(b"", flags=0), *[nothing] * 10_000)


@pytest.mark.parametrize("field", [b"\x82", b"\xbe", b"\xff\x01", b"\x20", literal("a", "b")])
def test_a_block_of_too_many_fields_does_not_pass(field: bytes) -> None:
    """A block that repeats a header field many times, which expands to far more memory than bytes, is cut off."""
    assert goes_on(headers(field * MAX_FIELDS))
    assert not goes_on(headers(field * (MAX_FIELDS + 1)))


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_no_bytes_break_it(pieces: list[bytes]) -> None:
    """Any bytes either pass or do not."""
    through = admitted(*pieces)
    assert through is None or b"".join(pieces).startswith(through)
