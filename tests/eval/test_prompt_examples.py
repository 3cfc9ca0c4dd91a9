"""Examples in prompts are not taken from the cases that judge them."""

from typing import Final

from tests.eval.case_files import read_case_file
from tests.eval.example_overlap import overlaps, passages
from tests.eval.known_sets import CHANGES, FOLDER
from tests.eval.own_sets import everyday_cases, hard_cases, simple_cases
from tests.eval.references import STRANGERS, read_cases
from tests.eval.subtasks.judging import read_requests

COMMON_WORDS: Final = "and how much is half of that?"
MOST_OF_COMMON_WORDS: Final = 0.52  # "and", "how", "much" and "is" stand in many prompts


def own_requests() -> list[str]:
    """The requests of all sets of the repository."""
    placed = [*everyday_cases(), *hard_cases(), *simple_cases()]
    for path in (*sorted(FOLDER.glob("*.toml")), *sorted(CHANGES.glob("*.toml"))):
        placed += read_case_file(path)
    return [one.case.says for one in placed] + [case.says for case in (*read_cases(), *read_cases(STRANGERS))]


def test_no_example_resembles_a_case() -> None:
    """No line of a prompt shares more than half of what the words of a case say, but for one case of common words."""
    found = overlaps(passages(), own_requests())
    assert [one for one in found if one.case != COMMON_WORDS or one.share > MOST_OF_COMMON_WORDS] == []


def test_an_example_taken_from_a_case_is_found() -> None:
    """A case with one word replaced is recognised, and an instruction that happens to hold its words is not."""
    cases = [
        "Rename harbour.txt to pier.txt.",
        "Wie viele Lampen sind kaputt?",
        "Is it late?",
        "What is new?",
    ]
    assert [found.case for found in overlaps(["rename harbour.txt to quay.txt"], cases)] == [cases[0]]
    assert [found.case for found in overlaps(["Wie viele Lampen sind neu"], cases)] == [cases[1]]
    rule = (
        "Where a file is called harbour or pier, txt being its kind, rename nothing before it was read whole"
    )
    assert list(overlaps([rule, "Rename boat.md"], cases)) == []


def test_no_example_resembles_a_request_for_a_subtask() -> None:
    """Nor does a line share as much with a request of the set of subtasks."""
    assert list(overlaps(passages(), [one.says for one in read_requests()])) == []
