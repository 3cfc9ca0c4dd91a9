"""Asks a small model in one word where the content of a new file comes from: from the request, or from files.

In the conversation of a decision it writes from memory what it would have to read first. ADR 0101 has the measurements.
"""

from typing import Final

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.decision.conversations.odds import begun, first_tokens, log_odds
from aeond.orchestration.prompts.subject_prompts import FILES, SAID, content_messages
from aeond.ports import LLMAdapter

_FROM_FILES: Final = -0.5  # log-odds


async def comes_from_files(llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
    """Whether the content has to be looked up first; one call of the grant."""
    likely = await first_tokens(llm, content_messages(run.text), grant)
    return log_odds(likely, lambda token: begun(token, (SAID, FILES)), FILES) >= _FROM_FILES
