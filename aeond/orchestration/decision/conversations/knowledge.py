"""Answers general knowledge in a separate conversation.

With rules, tools and examples in view, a small model refuses or gets wrong questions that it answers well without them.
ADR 0088 has the measurements.
"""

import re
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.values import display_json
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.prompts.subject_prompts import reply_messages
from aeond.ports import LLMAdapter, TextSink

HELD_CHARS: Final = 200  # of an answer whose subject is not known yet
MAX_REPLY_TOKENS: Final = 900
REPLY_SECONDS: Final = 300.0


async def general_reply(llm: LLMAdapter, run: RunSnapshot, grant: Grant, on_text: TextSink) -> str:
    """The answer, streamed to `on_text`; "" if the model gives none that is complete."""
    request = LLMRequest(reply_messages(run), max_tokens=MAX_REPLY_TOKENS, deadline_seconds=REPLY_SECONDS)
    answered = (await BudgetedLLM(llm, grant).stream(request, on_text)).value
    if answered is None or is_cut(answered) or not answered.text.strip():
        on_text("")
        return ""
    return answered.text.strip()


def repeats_a_fact(answer: str, request: str, situation: Situation) -> bool:
    """Whether the answer holds the value of a remembered fact that the request does not hold."""
    values = (display_json(value).strip().casefold() for _, value in situation.facts)
    return any(
        _holds(answer.casefold(), value) and not _holds(request.casefold(), value)
        for value in values
        if value
    )


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
