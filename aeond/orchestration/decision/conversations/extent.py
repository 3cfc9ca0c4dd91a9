"""Asks a small model in one word whether a request is for one thing or for several.

After the one change that was wanted, the report of the tool is the answer: a small model that words one itself takes seconds, and says
in English, or not at all, what has happened. ADR 0109 has the measurements.
"""

from typing import Final

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.decision.conversations.odds import odds_of
from aeond.orchestration.prompts.subject_prompts import EXTENT, ONE
from aeond.ports import LLMAdapter

_ONE_FROM: Final = 0.3  # log-odds


async def is_for_one(llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
    """Whether the run's request is most likely for one thing, for one call of the grant; false if the model says neither."""
    return await odds_of(ONE, EXTENT, llm, grant, run.text) >= _ONE_FROM
