"""Asks a small model in one word what a request is about, and, where something else than an answer may be wanted, in another one what
the person does with it.

The probability of the word says more than the word itself: ADR 0088, ADR 0094 and ADR 0107 have the measurements; and all probabilities
together more than one of them: ADR 0116.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from aeond.domain.llm import LikelyToken
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.frozen import frozen
from aeond.orchestration.context.statements import is_question, last_question, sentences
from aeond.orchestration.decision.conversations.odds import first_tokens, is_answered, log_odds
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.answer_prompts import ANSWER_KNOWN, KNOWN
from aeond.orchestration.prompts.decision_prompts import Question
from aeond.orchestration.prompts.subject_prompts import (
    ACTS,
    ALL,
    ANSWER,
    BOTH,
    CHANGE,
    COMPUTATION,
    CONTENT,
    DONE,
    EDITS,
    FILE,
    INTENT,
    KNOWLEDGE,
    MEMORY,
    PAGES,
    READING,
    SMALL_TALK,
    SUBJECT,
    TALKS,
    WANTED,
)
from aeond.orchestration.purpose.purposes import ANSWERS, Purpose, probabilities
from aeond.orchestration.purpose.surroundings import NOTHING_AROUND, Surroundings, surroundings_of
from aeond.ports import LLMAdapter

# Log-odds against all other subjects, chosen on the sets of strangers.
_KNOWLEDGE_FROM: Final = 1.2  # with the log-odds of an answer from general knowledge alone
_SURELY_KNOWN_FROM: Final = 2.0  # log-odds of such an answer alone, where nothing else may have it
_CONTENT_FROM: Final = -0.7  # log-odds that the content of pages is needed
_ALL_FROM: Final = 2.2  # log-odds that all files of a folder are needed
_TALKS_FROM: Final = 2.5  # log-odds that a person only talks
_ONLY_TALKS_FROM: Final = 3.5  # the same, less those of something to be done
_TALK_LOOKS_BELOW: Final = -0.6  # log-odds that something is to be looked up or computed
_ANSWER_TOO_FROM: Final = 0.05  # log-odds that an order asks for something, too, against the order alone
_FOUND_TOO_FROM: Final = -0.12  # the same, for findings of looks that the change needed
_ORDER_TOO_BELOW: Final = -2.5  # log-odds that only an answer is wanted
_ORDER_BEHIND_BELOW: Final = -3.35  # the same, with half of those of what stands behind a question
_NO_CHANGE_BELOW: Final = 0.0
_CHANGE_FROM: Final = 1.75
_CHANGE_AFTER_LOOK_FROM: Final = 0.5
_SURELY_NO_CHANGE_BELOW: Final = -2.5
# Probabilities of purposes.
_LIKELY: Final = 0.5
_SURE: Final = 0.8
_POSSIBLE: Final = 0.3
_NOT_RULED_OUT: Final = 0.02
_CLEAR: Final = 0.85


@frozen
class Subject:
    """What a request is about, as far as the most likely first tokens of the word say, and what the person does with it (`intent`), if
    that was asked; with the probabilities of what is wanted (`subject_of`), none where no token names a subject."""

    likely: tuple[LikelyToken, ...]
    intent: tuple[LikelyToken, ...] = ()
    purposes: Mapping[Purpose, float] = field(default_factory=dict)
    asks_too: bool = False  # an order that looks like a question

    @property
    def knowledge(self) -> float:
        """Log-odds that general knowledge is enough for it."""
        return log_odds(self.likely, SUBJECT.read, KNOWLEDGE)

    @property
    def may_be_knowledge(self) -> bool:
        """Whether it is not ruled out that general knowledge is enough for it."""
        return self._share_of(Purpose.KNOW) >= _NOT_RULED_OUT

    def is_computation(self, *, likely: bool = False) -> bool:
        """Whether it may need a calculation, or most likely does."""
        return self._share_of(Purpose.COMPUTE) >= (_LIKELY if likely else _POSSIBLE)

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
        """Whether an answer is more likely wanted than everything else; false if no token names a subject."""
        return self._share_of(*ANSWERS) > _LIKELY

    @property
    def may_be_order(self) -> bool:
        """Whether it is most likely a question, but not clearly."""
        return _LIKELY < self._share_of(*ANSWERS) < _CLEAR

    @property
    def is_order(self) -> bool:
        """Whether an answer is surely not what is wanted."""
        return bool(self.purposes) and self._share_of(*ANSWERS) < 1 - _SURE

    @property
    def is_beyond(self) -> bool:
        """Whether something is to be done of which only tools of other authors may be capable: calls, letters, orders, machines."""
        return self._share_of(Purpose.ACT) > _LIKELY

    @property
    def is_statement(self) -> bool:
        """Whether the request most likely says something that is to be known from now on, or no longer."""
        return self._share_of(Purpose.TELL) > _LIKELY

    @property
    def tells_rather_than_edits(self) -> bool:
        """Whether a statement is likelier than a change of a file."""
        return self._share_of(Purpose.TELL) >= self._share_of(Purpose.EDIT)

    @property
    def only_looks(self) -> bool:
        """Whether an answer is surely wanted from what is kept here."""
        return self._share_of(Purpose.LOOK) >= _SURE

    @property
    def place(self) -> str:
        """Where something is surely to be done: MEMORY or FILE; "" if that has to be asked, as for an order that looks like
        a question, which is often about a file."""
        if self._share_of(Purpose.TELL) >= _SURE and not self.asks_too:
            return MEMORY
        return FILE if self._share_of(Purpose.EDIT) >= _SURE else ""

    @property
    def may_be_talk(self) -> bool:
        """Whether it is not likely that something is to be looked up or computed, and a change is not sure."""
        return log_odds(self.likely, _look_of, COMPUTATION) < _TALK_LOOKS_BELOW and not self.wants_only_change

    @property
    def acting(self) -> float:
        """Log-odds of an intent to have something done or edited; -inf if that was not asked."""
        return log_odds(self.intent, _deed_of, ACTS)

    def as_order(self) -> "Subject":
        """The same where no answer is wanted after all."""
        rest = {one: share for one, share in self.purposes.items() if one not in ANSWERS}
        whole = sum(rest.values())
        return replace(self, purposes={one: share / whole for one, share in rest.items()}, asks_too=True)

    def may_not_ask(self, request: str) -> bool:
        """Whether something else than an answer may be wanted: neither the word says the contrary, nor the form of the request."""
        odds = log_odds(self.likely, SUBJECT.read, CHANGE)
        asks = odds < _NO_CHANGE_BELOW and bool(last_question(request))
        return odds > _SURELY_NO_CHANGE_BELOW and not asks

    @property
    def _does_not_ask(self) -> bool:
        return bool(self.purposes) and self._share_of(*ANSWERS) < _LIKELY

    def _share_of(self, *purposes: Purpose) -> float:
        return sum(self.purposes.get(one, 0.0) for one in purposes)


def subject_of(
    likely: tuple[LikelyToken, ...],
    intent: tuple[LikelyToken, ...],
    request: str,
    around: Surroundings = NOTHING_AROUND,
) -> Subject:
    """The subject of a request with the probabilities of what is wanted by it."""
    named = is_answered(likely, SUBJECT)
    return Subject(likely, intent, probabilities(likely, intent, request, around) if named else {})


class Subjects:
    """The subjects of requests, each asked once while its run is one of the last ones."""

    def __init__(self) -> None:
        self._known: LastRuns[tuple[str, str], Subject] = LastRuns()  # by run and request
        # The likely first tokens of the answers to other questions, by question, and by run and request.
        self._answers: dict[Question, LastRuns[tuple[str, str], tuple[LikelyToken, ...]]] = {}

    async def of(self, llm: LLMAdapter, run: RunSnapshot, situation: Situation, grant: Grant) -> Subject:
        """The subject of the run's request, for up to three calls of the grant if it is not known yet; one without likely tokens if the
        model gives none. What may be an order is one if something is surely to be done."""
        request = run.text
        subject = self._known.get((run.run_id, request))
        if subject is None:
            likely = await first_tokens(SUBJECT, llm, grant, request)
            asks = Subject(likely).may_not_ask(request)
            intent = await first_tokens(INTENT, llm, grant, request) if asks else ()
            subject = subject_of(likely, intent, request, surroundings_of(run, situation))
        if await self._is_order(subject, llm, run, grant):
            subject = subject.as_order()
        if subject.likely:  # a model that failed is asked again
            self._known[run.run_id, request] = subject
        return subject

    def settle(self, run: RunSnapshot, subject: Subject) -> None:
        """Sets the subject of the run's request, so that the model is not asked for it."""
        self._known[run.run_id, run.text] = subject

    async def wants_answer_too(self, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
        """Whether the person wants to hear more than that the run's order is carried out, for one call of the grant if that is not
        known yet and another one is left."""
        wanted = await self._answer(WANTED, llm, run, grant)
        return log_odds(wanted, _besides_answer, BOTH) >= _ANSWER_TOO_FROM

    async def may_want_found(self, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
        """Whether the person may want the findings of the looks that the run's order needed: it has a question, or the model does not rule out
        that more than the change is wanted. For one call of the grant if that is not known yet and another one is left."""
        if any(map(is_question, sentences(run.text))):
            return True
        wanted = await self._answer(WANTED, llm, run, grant)
        return not is_answered(wanted, WANTED) or log_odds(wanted, _besides_answer, BOTH) >= _FOUND_TOO_FROM

    async def _is_order(self, subject: Subject, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
        """Whether the run's request, which has this subject, is most likely a question, and yet surely wants something done. If the
        subject leaves it open, the model is asked for it, for one call of the grant if another one is left."""
        if not subject.may_be_order:
            return False
        wanted = await self._answer(WANTED, llm, run, grant)
        return is_answered(wanted, WANTED) and log_odds(wanted, WANTED.read, ANSWER) < _ORDER_TOO_BELOW

    async def wants_order_behind(
        self, llm: LLMAdapter, run: RunSnapshot, behind: RunSnapshot, grant: Grant
    ) -> bool:
        """Whether the run's request, a question with what may be an order behind it, wants something done; true if the model does not
        say. It is asked for the whole and for what stands behind: the same words give odds that differ by 0.3 from one processor to another,
        and those of one answer alone are often that near their bound. For up to two calls of the grant, for what is not known yet, if
        another one is left."""
        whole, part = (
            await self._answer(WANTED, llm, run, grant),
            await self._answer(WANTED, llm, behind, grant),
        )
        if not is_answered(whole, WANTED) or not is_answered(part, WANTED):
            return True
        odds = log_odds(whole, WANTED.read, ANSWER) + log_odds(part, WANTED.read, ANSWER) / 2
        return odds < _ORDER_BEHIND_BELOW

    async def needs_pages(self, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
        """Whether the run's request most likely needs the content of the pages whose addresses it has, for one call of the grant if that is
        not known yet and another one is left."""
        likely = await self._answer(PAGES, llm, run, grant)
        return log_odds(likely, PAGES.read, CONTENT) >= _CONTENT_FROM

    async def needs_all(
        self, llm: LLMAdapter, run: RunSnapshot, folder: str, files: Sequence[str], grant: Grant
    ) -> bool:
        """Whether the run's request surely needs all files of the folder that it names, for one call of the grant if that is not known yet
        and another one is left."""
        view = f"{folder}: {', '.join(files)}"
        likely = await self._answer(READING, llm, run, grant, view)
        return log_odds(likely, READING.read, ALL) >= _ALL_FROM

    async def is_small_talk(self, subject: Subject, llm: LLMAdapter, run: RunSnapshot, grant: Grant) -> bool:
        """Whether the person only thanks, greets or makes a passing remark, so that nothing is to be looked up, done or kept. If neither
        the request's subject nor its form rules it out, the model is asked once, for one call of the grant if another one is left."""
        if not subject.may_be_talk or any(map(is_question, sentences(run.text))):
            return False
        likely = await self._answer(SMALL_TALK, llm, run, grant)
        talks = log_odds(likely, SMALL_TALK.read, TALKS)
        return talks >= _TALKS_FROM and talks - subject.acting >= _ONLY_TALKS_FROM

    async def is_knowledge(
        self, subject: Subject, llm: LLMAdapter, run: RunSnapshot, grant: Grant, *, nothing_else: bool = False
    ) -> bool:
        """Whether general knowledge is enough for the run's request, which has this subject. If the subject does not rule it out, or
        nothing else may have the answer, the model is asked for it, for one call of the grant if another one is left for the reply;
        false if it gives none."""
        if not (subject.may_be_knowledge or nothing_else):
            return False
        likely = await self._answer(ANSWER_KNOWN, llm, run, grant)
        known = log_odds(likely, ANSWER_KNOWN.read, KNOWN)
        return subject.knowledge + known >= _KNOWLEDGE_FROM or (nothing_else and known >= _SURELY_KNOWN_FROM)

    async def _answer(
        self, question: Question, llm: LLMAdapter, run: RunSnapshot, grant: Grant, *above: str
    ) -> tuple[LikelyToken, ...]:
        """The likeliest first tokens of the answer for the run's request below what stands above it, asked once if another call is left for
        what follows; () if they are unknown."""
        kept, key = self._answers.setdefault(question, LastRuns()), (run.run_id, run.text)
        if key not in kept and grant.left.llm_calls > 1:
            likely = await first_tokens(question, llm, grant, *above, run.text)
            if likely:  # a model that failed is asked again
                kept[key] = likely
        return kept.get(key, ())


def _look_of(start: str) -> str:
    """The subject, with all those that need a look or a calculation as one."""
    subject = SUBJECT.read(start)
    return subject if subject in {"", KNOWLEDGE, CHANGE} else COMPUTATION


def _besides_answer(start: str) -> str:
    """DONE or BOTH; "" for an answer alone."""
    wanted = WANTED.read(start)
    return wanted if wanted in {DONE, BOTH} else ""


def _deed_of(start: str) -> str:
    """The intent, with those to have something done or edited as one."""
    intent = INTENT.read(start)
    return ACTS if intent == EDITS else intent
