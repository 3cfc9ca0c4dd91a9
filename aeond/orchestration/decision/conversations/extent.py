"""Asks a small model in one word whether a request is for one thing or for several.

After the one change that was wanted, the report of the tool is the answer: a small model that words one itself takes seconds, and says
in English, or not at all, what has happened. ADR 0109 has the measurements.
"""

from typing import Final

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.decision.conversations.odds import begun, first_tokens, log_odds
from aeond.orchestration.prompts.subject_prompts import ONE, SEVERAL, extent_messages
from aeond.ports import LLMAdapter

_ONE_FROM: Final = 0.3  # log-odds


async def wants_one_thing(llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
    """Whether the request is most likely for one thing; one call of the grant."""
    likely = await first_tokens(llm, extent_messages(run.text), grant)
    return log_odds(likely, lambda token: begun(token, (ONE, SEVERAL)), ONE) >= _ONE_FROM
