"""Asks whether a request means a whole thing, or a part of it, before the whole thing is removed.

In the conversation of a decision a small model deletes a file where a line of it was meant.
"""

from collections.abc import Iterable

from aeond.domain.llm import LikelyToken
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall
from aeond.domain.values import display_json
from aeond.frozen import frozen
from aeond.orchestration.decision.conversations.odds import first_tokens, log_odds
from aeond.orchestration.prompts.decision_prompts import PART, WHOLE, removal_messages
from aeond.ports import LLMAdapter


@frozen
class PartOrWhole:
    """Asks one model; a question is one call of the grant."""

    llm: LLMAdapter

    async def means_part(self, call: ToolCall, run: RunSnapshot, situation: Situation, grant: Grant) -> bool:
        """Whether the request is more likely to mean a part of what the call names; False if the model cannot tell."""
        if not self.llm.capabilities.likely or grant.left.llm_calls <= 1:  # one is needed to write the change
            return False
        begins = dict(situation.files)
        named = [display_json(value) for value in call.arguments.values()]
        view = "\n".join(f"{name}: {begins[name]}" if begins.get(name) else name for name in named)
        return part_odds(await first_tokens(self.llm, removal_messages(view, run.text), grant)) > 0


def part_odds(likely: Iterable[LikelyToken]) -> float:
    """The logarithm of the odds of a part against the whole; -inf if the model names no part."""
    return log_odds(likely, _answer, PART)


def _answer(token: LikelyToken) -> str:
    word = token.text.strip()
    return word if word in (PART, WHOLE) else ""
