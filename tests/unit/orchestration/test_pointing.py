import tomllib

import pytest

from aeond.orchestration.pointing import goes_on, may_point_back
from tests.support.repository import ROOT

CASES = tomllib.loads((ROOT / "tests" / "eval" / "references.toml").read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize(
    "said", [case["says"] for case in CASES if case["group"] != "complete"], ids=lambda said: said[:40]
)
def test_no_request_that_points_back_is_passed_over(said: str) -> None:
    """Every request of the evaluation that means something only in its session is looked at."""
    assert may_point_back(said)


@pytest.mark.parametrize(
    "said",
    [
        "What is 17 times 23?",
        "How do you say good evening in Portuguese?",
        "Write a short poem about rain in autumn please",
        "List files in docs sorted by size in descending order",
        "Who wrote Faust and in what year did Goethe die?",
    ],
)
def test_requests_that_say_it_all_cost_nothing(said: str) -> None:
    """A request of some length without a word that points anywhere is not worth a call of the model."""
    assert not may_point_back(said)


@pytest.mark.parametrize(
    "said",
    [
        "And of Sweden?",
        "In pounds?",
        "Do the same for b.",
        "Again, please",
        "Do that again",
        "No, I meant Rome.",
        "No, she comes at 8.",
        "Sorry, it was 15%.",
    ],
)
def test_what_says_only_what_is_different_goes_on(said: str) -> None:
    """A request that changes a part of an earlier one is told from one that points at a thing."""
    assert goes_on(said)


@pytest.mark.parametrize(
    "said",
    [
        "and how much is half of that?",
        "Delete the file.",
        "Where does she live?",
        "Translate it.",
        "No, delete it.",
        "Sorry, that is what?",
    ],
)
def test_what_points_at_a_thing_does_not_go_on(said: str) -> None:
    """A word that stands for a thing is to be replaced, however short the request is."""
    assert not goes_on(said)
