"""Sets in files: each case can be fulfilled, and its answers are judged as its author meant."""

import re
from collections import Counter

import pytest

from tests.eval.case_files import Placed, read_case_file
from tests.eval.cases import Effects, missed
from tests.eval.known_sets import CHANGES, FOLDER

FILES = sorted(FOLDER.glob("*.toml"))
PLACED = [placed for path in (*FILES, *sorted(CHANGES.glob("*.toml"))) for placed in read_case_file(path)]


def answered(placed: Placed, answer: str) -> tuple[str, ...]:
    """The faults of an answer alone, with files and memory as the case wants them."""
    case = placed.case.model_copy(update={"files": {}, "memory": ()})
    return missed(case, Effects(answer=answer))


def test_there_are_enough_cases_in_five_languages() -> None:
    """Each file has 60 different requests, of which each of five languages has at least five."""
    for path in FILES:
        cases = read_case_file(path)
        assert len({one.case.says for one in cases}) == 60
        languages = Counter(one.language for one in cases)
        assert sum(number >= 5 for number in languages.values()) >= 5


@pytest.mark.parametrize("placed", PLACED, ids=lambda placed: placed.case.says[:40])
def test_answers_are_judged_as_their_author_meant(placed: Placed) -> None:
    """An answer that is given as right passes, those that are given as wrong fail, and nothing is right beforehand."""
    if placed.case.right:
        assert answered(placed, placed.case.right) == ()
    assert all(answered(placed, wrong) for wrong in placed.case.wrong)
    for name, pattern in placed.case.files.items():
        before = placed.workspace.get(name, "")
        assert re.search(pattern, before, re.IGNORECASE | re.MULTILINE) is None
