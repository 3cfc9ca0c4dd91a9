"""Asks a small model in one word where something is to be done: in the memory, in a file, or out in the world.

In the conversation of a decision a small model writes into a file what it was to remember, and into a list what it was to order.
ADR 0099 has the measurements.
"""

from typing import Final

from aeond.domain.policy import Effect
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.orchestration.decision.conversations.odds import first_tokens, log_odds
from aeond.orchestration.decision.interfaces import FILE_CHANGES
from aeond.orchestration.prompts.subject_prompts import FILE, MEMORY, PLACE, WORLD, place_view
from aeond.ports import LLMAdapter

EFFECTS: Final = {MEMORY: (Effect.MEMORY,), FILE: FILE_CHANGES}
"""The effects of the tools that act in a place. Which ones act in the world is not known."""


async def place_of(llm: LLMAdapter, run: RunSnapshot, situation: Situation, grant: Grant) -> str:
    """MEMORY, FILE or WORLD if one is more likely than the others together, else ""; one call of the grant."""
    likely = await first_tokens(PLACE, llm, grant, place_view(run.text, situation))
    return next((one for one in (MEMORY, FILE, WORLD) if log_odds(likely, PLACE.read, one) > 0), "")
