"""Simple requests are judged by the content of the answer."""

import re

from tests.eval.own_sets import simple_cases


def test_there_are_enough_simple_requests_and_a_third_is_held_aside() -> None:
    """At least 60 different requests, a third or more of them held aside."""
    cases = simple_cases()
    asked = {placed.case.says for placed in cases}
    assert len(asked) == len(cases) >= 60
    assert 3 * sum(placed.held for placed in cases) >= len(cases)


def test_every_pattern_of_a_simple_request_can_be_missed() -> None:
    """No pattern fits an answer that says nothing, and each case has one."""
    for case in (placed.case for placed in simple_cases()):
        assert case.answer
        assert not any(
            re.search(pattern, "I would rather not talk of it.", re.IGNORECASE) for pattern in case.answer
        ), case
