"""Asks a small model in one word what a request is about.

The probability of the word says more than the word itself: ADR 0088 and ADR 0094 have the measurements.
"""

from typing import Final

from aeond.domain.llm import LikelyToken
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.decision.conversations.odds import begun, first_tokens, log_odds
from aeond.orchestration.prompts.subject_prompts import (
    CHANGE,
    COMPUTATION,
    KNOWLEDGE,
    OTHER_SUBJECTS,
    subject_messages,
)
from aeond.ports import LLMAdapter

MAX_RUNS: Final = 64
# Log-odds against all other subjects, chosen on the sets of strangers.
_KNOWLEDGE_FROM: Final = -0.5
_SURE_KNOWLEDGE_FROM: Final = 0.0
_SURE_COMPUTATION_FROM: Final = 1.0
_NO_CHANGE_BELOW: Final = 0.0
_CHANGE_FROM: Final = 1.75
_CHANGE_AFTER_LOOK_FROM: Final = 0.5


@frozen
class Subject:
    """What a request is about, as far as the most likely first tokens of the word say."""

    likely: tuple[LikelyToken, ...]

    def is_knowledge(self, *, surely: bool = False) -> bool:
        """Whether general knowledge may be enough for it, or surely is."""
        odds = log_odds(self.likely, _subject_of, KNOWLEDGE)
        return odds >= (_SURE_KNOWLEDGE_FROM if surely else _KNOWLEDGE_FROM)

    def is_computation(self, *, surely: bool = False) -> bool:
        """Whether it most likely needs a calculation, or surely does."""
        return log_odds(self.likely, _subject_of, COMPUTATION) > (_SURE_COMPUTATION_FROM if surely else 0.0)

    @property
    def wants_change(self) -> bool:
        """Whether something is surely to be changed."""
        return log_odds(self.likely, _subject_of, CHANGE) >= _CHANGE_FROM

    @property
    def wants_change_too(self) -> bool:
        """Whether something is surely to be changed, if it was right to look something up before."""
        return log_odds(self.likely, _subject_of, CHANGE) >= _CHANGE_AFTER_LOOK_FROM

    @property
    def wants_no_change(self) -> bool:
        """Whether a change is less likely than everything else; false if no token names a subject."""
        return (
            any(map(_subject_of, self.likely))
            and log_odds(self.likely, _subject_of, CHANGE) < _NO_CHANGE_BELOW
        )


class Subjects:
    """The subjects of requests, each asked once while its run is one of the last MAX_RUNS."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Subject] = {}  # by run and request, the oldest first

    async def of(self, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> Subject:
        """The subject of the run's request, for one call of the grant if it is not known yet; one without likely tokens if the model
        gives none."""
        known = self._known.get((run.run_id, run.text))
        if known is not None:
            return known
        asked = Subject(await first_tokens(llm, subject_messages(run.text), grant))
        if asked.likely:  # a model that failed is asked again
            self._known[run.run_id, run.text] = asked
            while len(self._known) > MAX_RUNS:
                del self._known[next(iter(self._known))]
        return asked


def _subject_of(token: LikelyToken) -> str:
    """The subject whose name the token begins; "" if it begins none."""
    return KNOWLEDGE if token.text.strip() == KNOWLEDGE else begun(token, OTHER_SUBJECTS)
