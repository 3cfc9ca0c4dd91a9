"""Finds files for a question that shares no word with any of them, as one in another language than theirs."""

from dataclasses import field, replace
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.answer_prompts import search_messages
from aeond.ports import LLMAdapter
from aeond.ports.situations import Situations

MAX_WORDS_TOKENS: Final = 40


@frozen
class FileSearch:
    """Asks one model for the words under which something may be noted, once for each request of the last runs."""

    llm: LLMAdapter
    situations: Situations
    found: LastRuns[tuple[str, str], tuple[str, ...]] = field(default_factory=LastRuns)  # by run and request

    async def widened(self, run: RunSnapshot, situation: Situation, grant: Grant) -> Situation:
        """The situation with the nearest files by such words, where there are files and none is near by the request's own: for one call
        of the grant if they are not known yet and another one is left."""
        if situation.nearest or not situation.files:
            return situation
        key = (run.run_id, run.text)
        if key not in self.found and (words := await self._words_of(run, grant)):
            self.found[key] = await self.situations.nearest(run, words)
        return replace(situation, nearest=self.found.get(key, ()))

    async def _words_of(self, run: RunSnapshot, grant: Grant) -> str:
        """The words; "" if no call is left for what follows, or the model fails: then it is asked again."""
        if grant.left.llm_calls <= 1:
            return ""
        asked = LLMRequest(search_messages(run.text), max_tokens=MAX_WORDS_TOKENS, fixed=True)
        answered = (await BudgetedLLM(self.llm, grant).generate(asked)).value
        return answered.text if answered is not None else ""
