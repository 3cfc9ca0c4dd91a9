"""Asks a small model in one word whether a request is for one thing or for several.

After the one change that was wanted, the report of the tool is the answer: a small model that words one itself takes seconds, and says
in English, or not at all, what has happened. ADR 0109 has the measurements. A request for several things is carried out in parts.
"""

import math
from typing import Final

from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.decision.conversations.odds import odds_of
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.subject_prompts import EXTENT, ONE
from aeond.ports import LLMAdapter

MAX_REQUESTS: Final = 128
_ONE_FROM: Final = 0.3  # log-odds


class Extents:
    """How surely requests are for one thing, each asked about once while it is one of the last MAX_REQUESTS."""

    def __init__(self) -> None:
        self._known: LastRuns[tuple[str, str], float] = LastRuns(MAX_REQUESTS)  # by run and request

    async def odds_of_one(self, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> float:
        """The log-odds that the run's request is for one thing, for one call of the grant if they are not known yet; -inf if the model
        says neither."""
        key = (run.run_id, run.text)
        known = self._known.get(key)
        if known is None:
            known = await odds_of(ONE, EXTENT, llm, grant, run.text)
            self._known[key] = known
        return known

    async def is_one(self, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
        """Whether the run's request is most likely for one thing."""
        return await self.odds_of_one(llm, run, grant) >= _ONE_FROM

    def take_for_one(self, run: RunSnapshot, part: str) -> None:
        """Takes a part of the run's request for a request for one thing."""
        self._known[run.run_id, part] = math.inf
