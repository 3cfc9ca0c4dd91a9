"""Asks a small model in one word where the content of a new file comes from: from the request, or from files.

In the conversation of a decision it writes from memory what it would have to read first. ADR 0101 has the measurements.
"""

from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.decision.conversations.odds import LIKELY, log_odds
from aeond.orchestration.prompts.subject_prompts import FILES, SAID, content_messages
from aeond.ports import LLMAdapter

_FROM_FILES: Final = -0.5  # log-odds


async def comes_from_files(llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
    """Whether the content has to be looked up first; one call of the grant."""
    asked = LLMRequest(content_messages(run.text), max_tokens=1, likely=LIKELY, fixed=True)
    answered = (await BudgetedLLM(llm, grant).generate(asked)).value
    return answered is not None and log_odds(answered.likely, _source_of, FILES) >= _FROM_FILES


def _source_of(token: LikelyToken) -> str:
    """The source whose name the token begins; "" if it begins none."""
    word = token.text.strip()
    return next((source for source in (SAID, FILES) if len(word) > 1 and source.startswith(word)), "")
