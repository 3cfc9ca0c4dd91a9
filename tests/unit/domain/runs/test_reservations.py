"""The amounts that operations reserve."""

import pytest

from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.reservations import ASKING_TOOL_STEP, JUDGING, TOOL_STEP, decision, tool_step


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
    """Reservations are recorded, so decisions of older runs keep theirs."""
    assert decision(1, first=True) == decision(2, first=True) == decision(3, first=False) == JUDGING
    assert decision(3, first=True) == Amounts(llm_calls=3, tokens=14_000)
    assert decision(4, first=True).llm_calls > decision(4, first=False).llm_calls > JUDGING.llm_calls
