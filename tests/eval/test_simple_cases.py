"""What anybody might ask is judged by what a right answer has in it."""

import re

from tests.eval.simple import simple_cases
from tests.eval.verdicts import Terms


def test_there_are_enough_simple_requests_and_a_third_is_held_aside() -> None:
    """At least 60 different requests, a third or more of them held aside."""
    cases = list(simple_cases(Terms()))
    asked = {case.says for case, _ in cases}
    assert len(asked) == len(cases) >= 60
    assert 3 * sum(held for _, held in cases) >= len(cases)


def test_every_pattern_of_a_simple_request_can_be_missed() -> None:
    """No pattern fits an answer that says nothing, and each case has one."""
    for case, _ in simple_cases(Terms()):
        assert case.answer
        assert not any(
            re.search(pattern, "I would rather not talk of it.", re.IGNORECASE) for pattern in case.answer
        ), case
