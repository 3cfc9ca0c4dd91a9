"""Answers general knowledge in a separate conversation.

With rules, tools and examples in view, a small model refuses or gets wrong questions that it answers well without them. So if
its first decision is an answer, it is asked for the source of that answer, and answers general knowledge again in a plain
conversation. docs/evaluation.md has the measurements.
"""

import re
from collections.abc import Iterable
from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.values import display_json
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.decision.conversations.odds import LIKELY, log_odds
from aeond.orchestration.prompts.knowledge_prompts import (
    KNOWLEDGE,
    OTHER_SOURCES,
    reply_messages,
    source_messages,
)
from aeond.ports import LLMAdapter, TextSink

LEAST_ODDS: Final = -1.5  # of general knowledge against any other source; chosen on the sets of strangers
HELD_CHARS: Final = 200  # of an answer whose source is not known yet
MAX_REPLY_TOKENS: Final = 900
REPLY_SECONDS: Final = 300.0


@frozen
class Knowledge:
    """Asks one model; each question is one call of the grant."""

    llm: LLMAdapter

    async def reply(self, run: RunSnapshot, grant: Grant, on_text: TextSink) -> str:
        """The answer, streamed to `on_text`; "" if it does not come from general knowledge, or the model gives none that is
        complete."""
        model = BudgetedLLM(self.llm, grant)
        asked = LLMRequest(source_messages(run.text), max_tokens=1, likely=LIKELY)
        source = (await model.generate(asked)).value
        if source is None or knowledge_odds(source.likely) < LEAST_ODDS:
            return ""
        request = LLMRequest(reply_messages(run), max_tokens=MAX_REPLY_TOKENS, deadline_seconds=REPLY_SECONDS)
        answered = (await model.stream(request, on_text)).value
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


def source_of(token: LikelyToken) -> str:
    """The source whose name the token begins; "" if it begins none."""
    word = token.text.strip()
    if word == KNOWLEDGE:
        return KNOWLEDGE
    return next((source for source in OTHER_SOURCES if len(word) > 1 and source.startswith(word)), "")


def knowledge_odds(likely: Iterable[LikelyToken]) -> float:
    """The logarithm of the odds of general knowledge against the other sources; -inf if it is not among the likely tokens."""
    return log_odds(likely, source_of, KNOWLEDGE)
