"""Asks a small model in one word what a request is about, and, where something else than an answer may be wanted, in another one what
the person does with it.

The probability of the word says more than the word itself: ADR 0088, ADR 0094 and ADR 0107 have the measurements.
"""

import math
from typing import Final

from aeond.domain.llm import LikelyToken
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.context.statements import is_question, last_question, sentences
from aeond.orchestration.decision.conversations.odds import first_tokens, is_answered, log_odds
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.answer_prompts import ANSWER_KNOWN, KNOWN
from aeond.orchestration.prompts.decision_prompts import Question
from aeond.orchestration.prompts.subject_prompts import (
    ACTS,
    ASKS,
    CHANGE,
    COMPUTATION,
    EDITS,
    INTENT,
    KNOWLEDGE,
    SMALL_TALK,
    SUBJECT,
    TALKS,
    TELLS,
)
from aeond.ports import LLMAdapter

# Log-odds against all other subjects, chosen on the sets of strangers.
_MAYBE_KNOWLEDGE_FROM: Final = -1.5
_MAYBE_KNOWLEDGE_OF_QUESTION_FROM: Final = -3.0
_KNOWLEDGE_FROM: Final = 1.2  # with the log-odds of an answer from general knowledge alone
_SURELY_KNOWN_FROM: Final = 2.0  # log-odds of such an answer alone, where nothing else may have it
_TALKS_FROM: Final = 2.5  # log-odds that a person only talks
_ONLY_TALKS_FROM: Final = 3.5  # the same, less those of something to be done
_TALK_LOOKS_BELOW: Final = -0.6  # log-odds that something is to be looked up or computed
_SURE_COMPUTATION_FROM: Final = 1.0
_NO_CHANGE_BELOW: Final = 0.0
_CHANGE_FROM: Final = 1.75
_CHANGE_AFTER_LOOK_FROM: Final = 0.5
_SURELY_NO_CHANGE_BELOW: Final = -2.5
# Log-odds of an intent to ask, less those of a change; it has to be much lower where a calculation is likely.
_ASKS_FROM: Final = 1.0
_COMPUTES_FROM: Final = -1.0
_ORDERS_BELOW: Final = -1.9
_SAYS_FROM: Final = -1.2


@frozen
class Subject:
    """What a request is about, as far as the most likely first tokens of the word say; and what the person does with it (`intent`), if
    that was asked."""

    likely: tuple[LikelyToken, ...]
    intent: tuple[LikelyToken, ...] = ()

    @property
    def knowledge(self) -> float:
        """Log-odds that general knowledge is enough for it."""
        return log_odds(self.likely, SUBJECT.read, KNOWLEDGE)

    def is_computation(self, *, surely: bool = False) -> bool:
        """Whether it most likely needs a calculation, or surely does."""
        return log_odds(self.likely, SUBJECT.read, COMPUTATION) > (_SURE_COMPUTATION_FROM if surely else 0.0)

    @property
    def wants_only_change(self) -> bool:
        """Whether something is surely to be changed, and nothing to be looked up for an answer."""
        return log_odds(self.likely, SUBJECT.read, CHANGE) >= _CHANGE_FROM

    @property
    def wants_change(self) -> bool:
        """Whether something is surely to be changed."""
        return self.wants_only_change or self._does_not_ask

    @property
    def wants_change_too(self) -> bool:
        """Whether something is surely to be changed, if it was right to look something up before."""
        return self._does_not_ask or log_odds(self.likely, SUBJECT.read, CHANGE) >= _CHANGE_AFTER_LOOK_FROM

    @property
    def wants_no_change(self) -> bool:
        """Whether a change is less likely than everything else; false if no token names a subject."""
        if self._intent_is_known and not self.wants_only_change:
            return not self._does_not_ask
        return (
            is_answered(self.likely, SUBJECT)
            and log_odds(self.likely, SUBJECT.read, CHANGE) < _NO_CHANGE_BELOW
        )

    @property
    def is_order(self) -> bool:
        """Whether a sentence behind a question wants something changed: most of these only say where to look or how to answer."""
        return self._intent_is_known and self._asking < _ORDERS_BELOW

    @property
    def is_beyond(self) -> bool:
        """Whether something is to be done of which only tools of other authors may be capable: calls, letters, orders, machines."""
        return log_odds(self.intent, INTENT.read, ACTS) > 0

    @property
    def is_statement(self) -> bool:
        """Whether the request most likely says something that is to be known from now on, or no longer."""
        return self._does_not_ask and log_odds(self.intent, INTENT.read, TELLS) > 0

    @property
    def may_only_say(self) -> bool:
        """Whether what is asked about may only say something, such as why what stands behind it is wanted."""
        return log_odds(self.intent, INTENT.read, TELLS) >= _SAYS_FROM

    @property
    def may_be_talk(self) -> bool:
        """Whether it is not likely that something is to be looked up or computed, and a change is not sure."""
        return log_odds(self.likely, _look_of, COMPUTATION) < _TALK_LOOKS_BELOW and not self.wants_only_change

    @property
    def acting(self) -> float:
        """Log-odds of an intent to have something done or edited; -inf if that was not asked."""
        return log_odds(self.intent, _deed_of, ACTS)

    def may_not_ask(self, request: str) -> bool:
        """Whether something else than an answer may be wanted: neither the word says the contrary, nor the form of the request."""
        odds = log_odds(self.likely, SUBJECT.read, CHANGE)
        asks = odds < _NO_CHANGE_BELOW and bool(last_question(request))
        return odds > _SURELY_NO_CHANGE_BELOW and not asks

    @property
    def _intent_is_known(self) -> bool:
        return is_answered(self.intent, INTENT)

    @property
    def _asking(self) -> float:
        """Log-odds of an intent to ask, less those of a change."""
        return log_odds(self.intent, INTENT.read, ASKS) - log_odds(self.likely, SUBJECT.read, CHANGE)

    @property
    def _does_not_ask(self) -> bool:
        asks_from = _COMPUTES_FROM if self.is_computation() else _ASKS_FROM
        return self._intent_is_known and self._asking < asks_from


class Subjects:
    """The subjects of requests, each asked once while its run is one of the last ones."""

    def __init__(self) -> None:
        self._known: LastRuns[tuple[str, str], Subject] = LastRuns()  # by run and request
        # Log-odds that the model has an answer, by run and request.
        self._answerable: LastRuns[tuple[str, str], float] = LastRuns()
        # Log-odds that the person only talks, by run and request.
        self._talks: LastRuns[tuple[str, str], float] = LastRuns()

    async def of(self, llm: LLMAdapter, run: RunSnapshot, grant: Grant, part: str = "") -> Subject:
        """The subject of the run's request, or of this part of it, for one or two calls of the grant if it is not known yet; one without
        likely tokens if the model gives none."""
        request = part or run.text
        known = self._known.get((run.run_id, request))
        if known is not None:
            return known
        asked = Subject(await first_tokens(SUBJECT, llm, grant, request))
        if asked.may_not_ask(request):
            asked = Subject(asked.likely, await first_tokens(INTENT, llm, grant, request))
        if asked.likely:  # a model that failed is asked again
            self._known[run.run_id, request] = asked
        return asked

    async def is_small_talk(self, subject: Subject, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
        """Whether the person only thanks, greets or makes a passing remark, so that nothing is to be looked up, done or kept. If neither
        the request's subject nor its form rules it out, the model is asked once, for one call of the grant if another one is left."""
        if not subject.may_be_talk or any(map(is_question, sentences(run.text))):
            return False
        talks = await _odds_once(self._talks, TALKS, SMALL_TALK, llm, run, grant)
        return talks >= _TALKS_FROM and talks - subject.acting >= _ONLY_TALKS_FROM

    async def is_knowledge(
        self, subject: Subject, llm: LLMAdapter, run: RunSnapshot, grant: Grant, *, nothing_else: bool = False
    ) -> bool:
        """Whether general knowledge is enough for the run's request, which has this subject. If the subject does not rule it out, or
        nothing else may have the answer, the model is asked for it, for one call of the grant if another one is left for the reply;
        false if it gives none."""
        odds = subject.knowledge
        maybe_from = _MAYBE_KNOWLEDGE_OF_QUESTION_FROM if subject.wants_no_change else _MAYBE_KNOWLEDGE_FROM
        if odds < maybe_from and not nothing_else:
            return False
        known = await _odds_once(self._answerable, KNOWN, ANSWER_KNOWN, llm, run, grant)
        return odds + known >= _KNOWLEDGE_FROM or (nothing_else and known >= _SURELY_KNOWN_FROM)


async def _odds_once(
    kept: LastRuns[tuple[str, str], float],
    word: str,
    question: Question,
    llm: LLMAdapter,
    run: RunSnapshot,
    grant: Grant,
) -> float:
    """The log-odds of the word for the run's request, asked once if another call is left for what follows; -inf if they are unknown."""
    key = (run.run_id, run.text)
    if key not in kept and grant.left.llm_calls > 1:
        likely = await first_tokens(question, llm, grant, run.text)
        if likely:  # a model that failed is asked again
            kept[key] = log_odds(likely, question.read, word)
    return kept.get(key, -math.inf)


def _look_of(start: str) -> str:
    """The subject, with all those that need a look or a calculation as one."""
    subject = SUBJECT.read(start)
    return subject if subject in {"", KNOWLEDGE, CHANGE} else COMPUTATION


def _deed_of(start: str) -> str:
    """The intent, with those to have something done or edited as one."""
    intent = INTENT.read(start)
    return ACTS if intent == EDITS else intent
