"""Asks whether a request wants something changed, before the first call changes something.

A small model changes what was only asked about. ADR 0094 has the measurements.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.policy import Effect
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.decision.conversations.knowledge import source_of
from aeond.orchestration.decision.conversations.odds import LIKELY, log_odds
from aeond.orchestration.prompts.knowledge_prompts import CHANGE, source_messages
from aeond.ports import LLMAdapter

CHANGES: Final = (Effect.WRITE_CONTAINED, Effect.WRITE_OUTSIDE, Effect.MEMORY)
LEAST_ODDS: Final = 0.0  # below these nothing is changed


async def change_odds(llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> float | None:
    """The logarithm of the odds that something is to be changed, for one call of the grant; None if the model gives none."""
    if grant.left.llm_calls < 1:
        return None
    asked = LLMRequest(source_messages(run.text), max_tokens=1, likely=LIKELY)
    answered = (await BudgetedLLM(llm, grant).generate(asked)).value
    return None if answered is None else odds_of_change(answered.likely)


def odds_of_change(likely: Sequence[LikelyToken]) -> float | None:
    """The logarithm of the odds of a change against every other subject; None if no token names a subject."""
    return log_odds(likely, source_of, CHANGE) if any(map(source_of, likely)) else None
