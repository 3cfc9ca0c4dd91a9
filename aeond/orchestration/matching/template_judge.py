"""The questions to the model about a request for a subtask: what kind of work it asks for, and whether a template fits."""

import math
from collections.abc import Iterable
from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest, LLMResponse
from aeond.domain.messages import Message
from aeond.domain.plans.subtasks import Template
from aeond.domain.runs.budgets import Grant
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.prompts.template_prompts import NO, YES, fit_messages, restating_messages
from aeond.ports import LLMAdapter

RESTATED_TOKENS: Final = 24
LIKELY: Final = 20
CERTAIN: Final = 20.0
"""The log-odds of a reply whose probability the server does not report."""


@frozen
class TemplateJudge:
    """Asks one model; each question is one call of the grant. None if it cannot be asked or gives no reply."""

    llm: LLMAdapter

    async def restated(self, wording: str, grant: Grant) -> str | None:
        """The kind of work, in one English sentence: descriptions of templates are compared with it."""
        answered = await self._answered(restating_messages(wording), RESTATED_TOKENS, 0, grant)
        return answered.text.strip().partition("\n")[0] or None if answered else None

    async def fits(self, wording: str, template: Template, grant: Grant) -> float | None:
        """The log-odds that the template does what the request asks for."""
        answered = await self._answered(fit_messages(wording, template), 1, LIKELY, grant)
        if answered is None:
            return None
        return log_odds(answered.likely or (LikelyToken(answered.text, 0.0),))

    async def _answered(
        self, messages: tuple[Message, ...], max_tokens: int, likely: int, grant: Grant
    ) -> LLMResponse | None:
        request = LLMRequest(messages, max_tokens=max_tokens, likely=likely, fixed=True)
        return (await BudgetedLLM(self.llm, grant).generate(request)).value


def log_odds(likely: Iterable[LikelyToken]) -> float | None:
    """Of "yes" against "no"; None if neither is likely."""
    chance = {YES: 0.0, NO: 0.0}
    for token in likely:
        word = token.text.strip().casefold()
        if word in chance:
            chance[word] += math.exp(token.logprob)
    if not any(chance.values()):
        return None
    if not all(chance.values()):
        return CERTAIN if chance[YES] else -CERTAIN
    return math.log(chance[YES]) - math.log(chance[NO])
