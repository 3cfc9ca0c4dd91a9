"""The filter between a program in the sandbox and the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeon_cli.terminal.screen_filter import ScreenFilter


@pytest.mark.parametrize(
    "output",
    [
        b"text\r\n\t\x07\x08",
        "Grüße, 日本, £ and \u00a0".encode(),
        b"\x1b[1;31mred\x1b[0m\x1b[38;5;33mblue\x1b[m",
        b"\x1b[2J\x1b[H\x1b[3A\x1b[2K\x1b[10;20H\x1b[99C",
        b"\x1b[?25l\x1b[?2004h\x1b[?1049h\x1b[6n",
        b"\x1b7\x1b8\x1b=\x1b>\x1bM\x1b(B",
    ],
)
def test_drawing_sequences_pass_unchanged(output: bytes) -> None:
    """Text, colours, moving, erasing and modes arrive as they are."""
    assert ScreenFilter().drawn(output) == output


@pytest.mark.parametrize(
    "output",
    [
        b"\x1b]52;c;b3duZWQ=\x07",  # the clipboard
        b"\x1b]0;title\x1b\\",
        b"\x1b]8;;http://x\x1b\\",
        b'\x1bP$q"p\x1b\\',  # a report
        b"\x1b_payload\x1b\\",
        b"\x1b^private\x1b\\",
        b"\x1bXstart\x1b\\",
        b"\x1b[21t",  # the title as if typed
        b"\x1b[5i",  # printing
        b"\x1b[c",
        b"\x1b[>c",
        b"\x1b[!p",
        b"\x1bc",
        b"\x1b#8",
        b"\x1b(A",
        b"\x05",  # answerback
        b"\x00\x7f",
        "\u009b21t".encode(),  # CSI as one character
        "\u009d52;c;x".encode(),
        b"\x1b[" + b"1;" * 100,
    ],
)
def test_everything_else_is_left_out(output: bytes) -> None:
    """Sequences that reach beyond the screen, or that have no end, are not sent on."""
    left = ScreenFilter().drawn(output)
    assert b"\x1b" not in left
    assert not {0x00, 0x05, 0x7F, 0x9B, 0x9D} & {*left}


@given(
    st.lists(
        st.sampled_from(
            [b"\x1b", b"]", b"[", b"52;c;", b"\x07", b"\\", b"1", b"m", b"t", b"P", b"\xc2", b"\x9b", b"a"]
        )
    )
)
def test_pieces_do_not_matter(pieces: list[bytes]) -> None:
    """Output in pieces is filtered as the whole is, and what remains needs no filter."""
    whole, one = b"".join(pieces), ScreenFilter()
    kept = b"".join(one.drawn(piece) for piece in pieces)
    assert kept == ScreenFilter().drawn(whole)
    assert ScreenFilter().drawn(kept) == kept
