"""Answers general knowledge in a separate conversation.

With rules, tools and examples in view, a small model refuses or gets wrong questions that it answers well without them.
ADR 0088 has the measurements.
"""

import re
from collections.abc import Sequence
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.values import display_json
from aeond.orchestration.answer.equations import states
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.context.statements import last_question
from aeond.orchestration.decision.interfaces import Turn
from aeond.orchestration.prompts.answer_prompts import reply_messages
from aeond.ports import LLMAdapter, TextSink

MAX_REPLY_TOKENS: Final = 900
REPLY_SECONDS: Final = 300.0


async def general_reply(
    llm: LLMAdapter, run: RunSnapshot, situation: Situation, grant: Grant, on_text: TextSink
) -> str:
    """The answer, streamed to `on_text`, for one call of the grant; "" if the model gives none that is complete, or asks back where
    files share words with the request."""
    request = LLMRequest(reply_messages(run), max_tokens=MAX_REPLY_TOKENS, deadline_seconds=REPLY_SECONDS)
    reply = (await BudgetedLLM(llm, grant).text(request, on_text)).strip()
    if not reply or (situation.lines and last_question(reply)):
        on_text("")
        return ""
    return reply


async def computed_reply(llm: LLMAdapter, run: RunSnapshot, turns: Sequence[Turn], grant: Grant) -> str:
    """The answer to a request from what was computed for it, for one call of the grant: the last calculation itself where the model
    does not state its result."""
    computed = [
        (", ".join(map(display_json, turn.call.arguments.values())), turn.result.strip()) for turn in turns
    ]
    messages = reply_messages(run, computed)
    request = LLMRequest(messages, max_tokens=MAX_REPLY_TOKENS, deadline_seconds=REPLY_SECONDS)
    reply = (await BudgetedLLM(llm, grant).text(request)).strip()
    expression, result = computed[-1]
    return reply if states(reply, result) else f"{expression} = {result}"


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
