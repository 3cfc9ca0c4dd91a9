import tomllib

import pytest

from aeond.orchestration.pointing import may_point_back
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
