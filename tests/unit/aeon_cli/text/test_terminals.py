"""Detection of terminal abilities."""

import io

import pytest

from aeon_cli.text.terminals import look_at

UTF8 = {"TERM": "xterm-256color", "LANG": "en_GB.UTF-8"}


class Stream(io.TextIOWrapper):
    """A stream of an encoding that says whether it is a terminal."""

    def __init__(self, *, terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def test_a_terminal_is_live_and_coloured() -> None:
    """On a usual terminal lines may be redrawn in colour and with signs."""
    found = look_at(Stream(terminal=True), UTF8)
    assert (found.live, found.colour, found.unicode) == (True, True, True)


@pytest.mark.parametrize(
    ("terminal", "environment"),
    [(False, UTF8), (True, {**UTF8, "TERM": "dumb"}), (True, {"LANG": "en_GB.UTF-8"})],
)
def test_everything_else_gets_plain_lines(terminal: bool, environment: dict[str, str]) -> None:
    """A pipe, a dumb terminal and one of unknown kind are not redrawn and not coloured."""
    found = look_at(Stream(terminal=terminal), environment)
    assert (found.live, found.colour) == (False, False)


def test_colour_can_be_turned_off() -> None:
    """NO_COLOR with any value but none takes the colour and leaves the rest."""
    assert not look_at(Stream(terminal=True), {**UTF8, "NO_COLOR": "1"}).colour
    assert look_at(Stream(terminal=True), {**UTF8, "NO_COLOR": ""}).colour


@pytest.mark.parametrize(
    ("environment", "encoding", "unicode"),
    [
        ({"LC_ALL": "C", "LANG": "en_GB.UTF-8"}, "utf-8", False),
        ({"LC_CTYPE": "C.UTF-8"}, "utf-8", True),
        ({"LANG": "de_DE.utf8"}, "utf-8", True),
        ({"LANG": "de_DE.UTF-8"}, "iso-8859-1", False),
        ({}, "utf-8", False),
    ],
)
def test_signs_need_utf8_on_both_sides(environment: dict[str, str], encoding: str, unicode: bool) -> None:
    """Signs beyond ASCII are drawn where both the user's locale and the stream take them."""
    assert look_at(Stream(terminal=True, encoding=encoding), environment).unicode is unicode


def test_a_stream_without_a_size_has_the_usual_one() -> None:
    """A stream without a size counts as 80 by 24."""
    found = look_at(Stream(terminal=False), {**UTF8, "COLUMNS": "7"})
    assert (found.columns, found.lines) == (80, 24)
