"""Text from models and tools on a terminal."""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeon_cli.text.printable import (
    fit,
    fit_end,
    json_line,
    one_line,
    printable,
    short_value,
    shown_value,
    width_of,
)

ATTACKS = [
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]52;c;ZWNobyBvd25lZA==\x07",
    "\x9b31m",
    "\x90q\x9c",
    "\x08\x08\x08ok",
    "line\roverwritten",
    "\u202etxt.exe",
    "\u2066hidden\u2069",
    "\U000e0041\U000e0042",
    "\ufeff\u200b",
    "\u2028\u2029",
    "\x7f\x00",
    "half \ud800",
]


def harmless(text: str, allowed: str) -> bool:
    """Whether nothing in the text does anything but show itself."""
    return all(
        character in allowed or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        for character in text
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_drives_a_terminal_gets_through(attack: str) -> None:
    """Escape sequences, overwriting, reordering and invisible text are shown as escapes."""
    assert harmless(printable(attack), "\n\t")
    assert harmless(one_line(attack), "")
    assert harmless(json_line(attack), "")
    assert json.loads(json_line(attack)) == attack


@given(st.text(st.characters()))
def test_no_text_at_all_gets_through_unsafely(text: str) -> None:
    """Whatever a model writes is harmless once escaped, on one line where it has to be."""
    assert harmless(printable(text), "\n\t\u00ad\u200c\u200d")
    assert "\n" not in one_line(text)
    assert json.loads(json_line(text)) == text


@pytest.mark.parametrize("text", ["plain", "Grüße, 世界", "👩\u200d👩\u200d👧", "a\tb\nc", "é e\u0301"])
def test_honest_text_stays_as_it_is(text: str) -> None:
    """Letters, wide scripts, joined emoji, tabs and line ends are what they were."""
    assert printable(text) == text


def test_escapes_can_be_read() -> None:
    """An escape shows the number of what it stands for."""
    assert printable("a\x1b\x9b\u202e\U000e0041") == r"a\x1b\x9b\u202e\U000e0041"


def test_line_ends_of_other_systems_are_line_ends() -> None:
    """A carriage return before a line feed is no attack."""
    assert printable("a\r\nb") == "a\nb"


@given(st.text(), st.integers(0, 40))
def test_a_cut_line_fits(text: str, cells: int) -> None:
    """A cut line never takes more cells than there are, from either end, wide characters included."""
    line = one_line(text)
    assert width_of(fit(line, cells)) <= cells
    assert width_of(fit_end(line, cells)) <= cells
    assert width_of(fit(line, cells, ellipsis="...")) <= cells


def test_a_cut_is_seen() -> None:
    """An ellipsis stands for what was cut, and nothing is cut from what fits."""
    assert (fit("abcdef", 4), fit("abcd", 4), fit_end("abcdef", 4)) == ("abc…", "abcd", "…def")
    assert fit("日本語です", 6) == "日本…"


def test_values_are_shown_for_people() -> None:
    """A text is shown without quotes, other values as JSON in readable script, small objects as their value."""
    assert [shown_value(value) for value in ("é", 1, None, {"ö": [True]})] == [
        "é",
        "1",
        "null",
        '{"ö": [true]}',
    ]
    assert [short_value(value) for value in ({"result": 42}, {"a": 1, "b": 2})] == ["42", '{"a": 1, "b": 2}']
    assert re.fullmatch(r"\[.*\]", short_value([1, 2]))
