"""Points in time in few words."""

import re

import pytest

from aeon_cli.text.timestamps import how_long_ago, when


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (-5, "0s ago"),
        (0, "0s ago"),
        (59.9, "59s ago"),
        (60, "1m ago"),
        (7_199, "1h ago"),
        (900_000, "10d ago"),
    ],
)
def test_ages_are_reported_in_their_largest_unit(age: float, words: str) -> None:
    """An age is shown as one number with its largest unit."""
    assert how_long_ago(1_000_000.0 - age, now=1_000_000.0) == words


def test_a_moment_is_reported_to_the_second() -> None:
    """A time is shown as local date and time, and the lack of one as nothing."""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", when(1_790_000_000.5))
    assert when(0.0) == ""
