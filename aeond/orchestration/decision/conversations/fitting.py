"""Asks a small model which tool of another author does what a request wants, or whether none does.

The prompt of a decision has rules and examples for the product's own tools. With it a small model rarely calls any other tool: it answers
from its own knowledge, or refuses. ADR 0110 has the measurements.
"""

from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.decision.conversations.odds import LIKELY, begun, first_tokens, keep, log_odds
from aeond.orchestration.decision.interfaces import Offer
from aeond.orchestration.prompts.decision_prompts import tool_form
from aeond.orchestration.prompts.fitting_prompts import NO, NONE, YES, exact_messages, fitting_messages
from aeond.ports import LLMAdapter

MAX_RUNS: Final = 64
MAX_NAME_TOKENS: Final = 48
# Log-odds of NONE against all names, and of YES against NO, chosen on questions of the function calling leaderboard and of strangers.
_NONE_FROM: Final = -2.5
_EXACT_FROM: Final = 1.0


class FittingTools:
    """The tools that fit requests, each asked once while its run is one of the last MAX_RUNS."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}  # by run and request, the oldest first

    async def of(self, llm: LLMAdapter, run: RunSnapshot, offer: Offer, grant: Grant) -> str:
        """The name of the offered tool of another author that fits the run's request, for two calls of the grant if it is not known yet;
        NONE if most likely none does, "" if the model says neither."""
        key = (run.run_id, run.text)
        known = self._known.get(key)
        if known is None and (known := await _fitting(llm, run, offer, grant)) is not None:
            keep(self._known, key, known, MAX_RUNS)
        return known or ""


async def _fitting(llm: LLMAdapter, run: RunSnapshot, offer: Offer, grant: Grant) -> str | None:
    """What `FittingTools.of` returns; None where the model failed, which is asked again."""
    others = offer.others.tools
    names = [spec.name for spec in others]
    request = LLMRequest(
        fitting_messages(run.text, map(tool_form, others)),
        max_tokens=MAX_NAME_TOKENS,
        likely=LIKELY,
        fixed=True,
    )
    answered = (await BudgetedLLM(llm, grant).generate(request)).value
    if answered is None:
        return None

    def named(token: LikelyToken) -> str:
        return NONE if begun(token, (NONE,)) else begun(token, names)

    if log_odds(answered.likely, named, NONE) >= _NONE_FROM:
        return NONE
    name = answered.text.strip().partition("(")[0]
    tool = offer.tool(name) if name in names else None
    return "" if tool is None else name if await _is_exact(llm, run, tool, grant) else NONE


async def _is_exact(llm: LLMAdapter, run: RunSnapshot, tool: ToolSpec, grant: Grant) -> bool:
    """Whether the tool does just what is wanted, for one call of the grant. By its name alone a small model takes one that is near to it."""
    likely = await first_tokens(llm, exact_messages(run.text, tool_form(tool)), grant)

    def word(token: LikelyToken) -> str:
        said = token.text.strip().casefold()
        return said if said in {YES, NO} else ""

    return log_odds(likely, word, YES) >= _EXACT_FROM
