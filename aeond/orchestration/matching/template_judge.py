"""The questions to the model about a request for a subtask: what kind of work it asks for, and whether a template fits."""

import math
from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.plans.subtasks import Template
from aeond.domain.runs.budgets import Grant
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.decision.conversations.odds import answer_to, is_answered, log_odds
from aeond.orchestration.prompts.decision_prompts import YES
from aeond.orchestration.prompts.template_prompts import FIT, restating_messages
from aeond.ports import LLMAdapter

RESTATED_TOKENS: Final = 24
CERTAIN: Final = 20.0
"""The log-odds of a reply whose probability the server does not report."""


@frozen
class TemplateJudge:
    """Asks one model; each question is one call of the grant. None if it cannot be asked or gives no reply."""

    llm: LLMAdapter

    async def restated(self, wording: str, grant: Grant) -> str | None:
        """The kind of work, in one English sentence: descriptions of templates are compared with it."""
        request = LLMRequest(restating_messages(wording), max_tokens=RESTATED_TOKENS, fixed=True)
        answered = (await BudgetedLLM(self.llm, grant).generate(request)).value
        return answered.text.strip().partition("\n")[0] or None if answered else None

    async def fits(self, wording: str, template: Template, grant: Grant) -> float | None:
        """The log-odds that the template does what the request asks for."""
        answered = await answer_to(FIT, self.llm, grant, wording, template.description)
        if answered is None:
            return None
        likely = answered.likely or (LikelyToken(answered.text, 0.0),)
        if not is_answered(likely, FIT):
            return None
        odds = log_odds(likely, FIT.read, YES)
        return odds if math.isfinite(odds) else math.copysign(CERTAIN, odds)
