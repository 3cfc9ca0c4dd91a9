"""Text broken between words while it is written."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeon_cli.text.printable import width_of
from aeon_cli.text.wrapping import Flow


def flowed(*pieces: str, columns: int = 20) -> str:
    written = io.StringIO()
    flow = Flow(written.write, columns)
    for piece in pieces:
        flow.feed(piece)
    flow.finish()
    return written.getvalue()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three four five", "one two three four\nfive\n"),
        ("  indented words that are long", "  indented words\nthat are long\n"),
        ("a-word-that-is-longer-than-a-line x", "a-word-that-is-longer-than-a-line x\n"),
        ("one\n\ntwo", "one\n\ntwo\n"),
        ("ends here\n", "ends here\n"),
        ("", ""),
    ],
)
def test_lines_break_between_words(text: str, shown: str) -> None:
    """No word is cut, indentation and empty lines stay, and the last line is ended."""
    assert flowed(text) == shown


def test_code_is_not_broken() -> None:
    """Text between fences keeps its lines, so that it can be copied."""
    code = "```\nx = a_function(of_many, arguments)\n```\n"
    assert flowed(code) == code


def test_nothing_is_broken_where_there_is_no_width() -> None:
    """A pipe gets every line as it was written."""
    assert flowed("one two three four five six seven", columns=0) == "one two three four five six seven\n"


@given(st.lists(st.text("ab c\n日 ", max_size=8), max_size=12), st.integers(8, 30))
def test_pieces_make_no_difference(pieces: list[str], columns: int) -> None:
    """However the text arrives, all its words come out in order, in lines that fit."""
    whole = "".join(pieces)
    shown = flowed(*pieces, columns=columns)
    assert shown.split() == whole.split() or "日" in whole
    assert "".join(shown.split()) == "".join(whole.split())
    for line in shown.splitlines():
        assert width_of(line) <= columns or len(line.split()) == 1 or "日" in line


def test_control_characters_are_shown() -> None:
    """Streamed text from a model cannot control the terminal either."""
    assert flowed("a\x1b[2Jb") == "a\\x1b[2Jb\n"
