"""The kind of a failure by its effects alone."""

from dataclasses import replace

import pytest

from tests.eval.cases import Case, Effects
from tests.eval.failures import Failure, failure_of

FILES = {"a.txt": "one\n"}
ASKS_TEXT = Case(says="Say it.", group="g", answer=("42",))
WRITES = Case(says="Put it into b.txt.", group="g", files={"b.txt": "42"})
REMEMBERS = Case(says="Remember it.", group="g", memory=("42",))
LACKS = Case(says="Call him.", group="g", lacks="number", tells="42", answer=("42",))
NOTHING = Effects(files=FILES, files_before=FILES, memory="{}", memory_before="{}")


@pytest.mark.parametrize(
    ("case", "effects", "failure"),
    [
        (ASKS_TEXT, replace(NOTHING, answer="It is 41."), Failure.WRONG_ANSWER),
        (ASKS_TEXT, replace(NOTHING, answer="There is no such file."), Failure.NOTHING_FOUND),
        (ASKS_TEXT, replace(NOTHING, asked=("What?",)), Failure.ASKED),
        (ASKS_TEXT, replace(NOTHING, answer="42", files={"a.txt": "two"}), Failure.UNWANTED),
        (ASKS_TEXT, replace(NOTHING, answer="41", memory='{"x": 1}'), Failure.UNWANTED),
        (WRITES, replace(NOTHING, answer="I wrote b.txt."), Failure.NOT_DONE),
        (WRITES, replace(NOTHING, files={**FILES, "b.txt": "41"}), Failure.WRONG_CHANGE),
        (REMEMBERS, replace(NOTHING, answer="I remember it."), Failure.NOT_DONE),
        (REMEMBERS, replace(NOTHING, memory='{"x": 41}'), Failure.WRONG_CHANGE),
        (LACKS, replace(NOTHING, answer="I called him."), Failure.NOT_ASKED),
    ],
)
def test_a_failure_has_the_class_of_its_effects(case: Case, effects: Effects, failure: Failure) -> None:
    """Questions, changes and what is missing decide, in this order; the answer's words come last."""
    assert failure_of(case, effects) is failure


def test_a_run_that_broke_off_is_no_wrong_answer() -> None:
    """A run that ran out of time or failed is counted as such, whatever it left behind."""
    assert failure_of(ASKS_TEXT, NOTHING, timed_out=True, failed=True) is Failure.TIMEOUT
    assert failure_of(ASKS_TEXT, NOTHING, failed=True) is Failure.ERROR
