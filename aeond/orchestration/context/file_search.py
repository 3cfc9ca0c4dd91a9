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
    words: LastRuns[tuple[str, str], str] = field(default_factory=LastRuns)  # by run and request
    found: LastRuns[tuple[str, str], tuple[str, ...]] = field(default_factory=LastRuns)  # the same

    async def widened(self, run: RunSnapshot, situation: Situation, grant: Grant) -> Situation:
        """The situation with the nearest files by such words, where there are files and none is near by the request's own: for one call
        of the grant if they are not known yet and another one is left."""
        if situation.nearest or not situation.files:
            return situation
        key = (run.run_id, run.text)
        nearest = self.found.get(key, ())
        if not nearest and (words := await self._words_of(run, grant)):
            nearest = await self.situations.nearest(run, words)
        if nearest:  # a search that gave up is made again
            self.found[key] = nearest
        return replace(situation, nearest=nearest)

    async def _words_of(self, run: RunSnapshot, grant: Grant) -> str:
        key = (run.run_id, run.text)
        if key not in self.words and grant.left.llm_calls > 1:
            asked = LLMRequest(search_messages(run.text), max_tokens=MAX_WORDS_TOKENS, fixed=True)
            answered = (await BudgetedLLM(self.llm, grant).generate(asked)).value
            if answered is not None:  # a model that failed is asked again
                self.words[key] = answered.text
        return self.words.get(key, "")
