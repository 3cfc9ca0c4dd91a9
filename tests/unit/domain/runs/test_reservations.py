"""The amounts that operations reserve."""

from itertools import pairwise

import pytest

from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.reservations import ASKING_TOOL_STEP, JUDGING, TOOL_STEP, before_answer, tool_step
from aeond.domain.runs.run import Operation


@pytest.mark.parametrize(
    ("left", "calls", "tokens"),
    [
        (Budget().amounts, ASKING_TOOL_STEP.llm_calls, ASKING_TOOL_STEP.tokens),
        (Amounts(), ASKING_TOOL_STEP.llm_calls, ASKING_TOOL_STEP.tokens),
        (Amounts(llm_calls=400, tokens=2_000_000), 80, 400_000),
    ],
)
def test_a_tool_that_asks_gets_more_of_a_large_budget(left: Amounts, calls: int, tokens: int) -> None:
    """With the default budget it is the usual share; a client that requests more gives more to such a step."""
    assert tool_step(left, asks=False) == TOOL_STEP
    wanted = tool_step(left, asks=True)
    assert (wanted.llm_calls, wanted.tokens, wanted.ttl, wanted.tool_calls) == (calls, tokens, 1, 1)


def test_a_journal_replays_with_the_reservations_of_its_version() -> None:
    """Reservations are recorded, so operations of older runs keep theirs."""
    for operation in (Operation.RESOLVE, Operation.ROUTE, Operation.EVALUATE):
        assert before_answer(2, operation, direct=True) == JUDGING
        assert before_answer(4, operation, direct=True).llm_calls > JUDGING.llm_calls
    for operation in (Operation.ROUTE, Operation.EVALUATE):
        amounts = [before_answer(version, operation, direct=True) for version in (4, 5, 6)]
        for before, now in pairwise(amounts):
            assert now.llm_calls > before.llm_calls
            assert before.exceeding(now) == ""
    assert before_answer(3, Operation.ROUTE, direct=False) == Amounts(llm_calls=3, tokens=14_000)
    assert before_answer(4, Operation.EVALUATE, direct=False) == JUDGING
