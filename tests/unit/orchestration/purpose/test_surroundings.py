"""What a request shares with the files and facts in view."""

import pytest

from aeond.domain.runs.situations import Situation
from aeond.orchestration.purpose.surroundings import NOTHING_AROUND, Surroundings, surroundings_of
from tests.support.strategy import run_of

KEPT = Situation(files=(("lamps.csv", "room,price"),), facts=(("hall lamp", "12 watts"),))


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Where is the oil?", NOTHING_AROUND),
        ("The hall lamp has 15 watts now.", Surroundings(names_fact=True, shares_fact=True)),
        ("The lamp no longer has 12 watts.", Surroundings(names_fact=True, shares_fact=True)),
        ("Buy a lamp.", Surroundings(shares_fact=True)),
        ("Sort lamps.csv.", NOTHING_AROUND),
        ("The prices, into sums.csv.", Surroundings(names_new_file=True)),
    ],
)
def test_names_in_a_request_are_found_by_their_words(request_: str, expected: Surroundings) -> None:
    """A fact is named by all words of its name, or one and its value; a file is new if none in view has its name."""
    assert surroundings_of(run_of(request=request_), KEPT) == expected


def test_a_near_file_counts() -> None:
    """A request is about a file if the situation says which one."""
    near = Situation(files=KEPT.files, nearest=("lamps.csv",))
    assert surroundings_of(run_of(request="Dear ones?"), near) == Surroundings(near_file=True)


def test_a_name_without_words_is_never_named() -> None:
    """A fact whose name has no letter or digit is in no request."""
    assert surroundings_of(run_of(request="Is it on?"), Situation(facts=(("!", "Ida"),))) == NOTHING_AROUND


def test_short_words_are_not_shared() -> None:
    """A word of two letters says nothing about a fact."""
    assert (
        surroundings_of(run_of(request="Is it on?"), Situation(facts=(("on call", "Ida"),))) == NOTHING_AROUND
    )
