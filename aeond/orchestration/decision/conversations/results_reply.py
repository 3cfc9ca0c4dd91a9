"""Answers a question from what was looked up, in a separate conversation.

With rules, tools and examples of actions around a result, a small model recites the result instead of answering. ADR 0102 has the
measurements.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message
from aeond.domain.names import words_of, words_to_match
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall
from aeond.domain.values import display_json
from aeond.frozen import frozen
from aeond.orchestration.answer.equations import Computes, computes_nothing, corrected, numbers_in
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.context.new_files import new_names
from aeond.orchestration.context.prompt_fitting import fit_prompt, room_in
from aeond.orchestration.decision.conversations.odds import LIKELY, log_odds
from aeond.orchestration.decision.interfaces import Turn
from aeond.orchestration.decision.results import (
    executed,
    repeats_request,
    result_of,
    results_length,
    turns_of,
)
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.prompts.answer_prompts import (
    CHANGED,
    FILES_IN_VIEW,
    NOT_IN,
    NOT_SHOWN,
    not_found_messages,
    results_messages,
    translation_messages,
)
from aeond.orchestration.prompts.decision_prompts import extremes, facts_text
from aeond.ports import LLMAdapter

MAX_REPLY_TOKENS: Final = 500
MAX_REFUSAL_TOKENS: Final = 120
MAX_RESULT_CHARS: Final = 6_000
MAX_PROMPT_TOKENS: Final = 2_600  # of which the rules and examples, read before, are 1,200
REPLY_SECONDS: Final = 300.0
# Of a word and of a number that say where an answer comes from.
_WORD_CHARS: Final = 4
_NUMBER_CHARS: Final = 2
_NAME_CHARS: Final = 3  # of a word by which a request names a fact: "my" names none
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
_DOUBTFUL_FROM: Final = -3.0  # log-odds of NOT_SHOWN against any answer
_DOUBTFUL_PAGE_FROM: Final = -2.5  # the same, for pages that the request names
_DOUBTFUL_FIGURE_FROM: Final = -1.5  # the same, for an answer with a figure that was computed from a table
_DOUBTFUL_UNSEEN_FROM: Final = -7.0  # the same, where nothing was looked up
_DOUBTFUL_FACT_FROM: Final = -3.9  # the same, for an answer that has a remembered fact
_DOUBTFUL_NAMED_FROM: Final = -2.0  # the same, if the name of the fact shares a word with the request


@frozen
class ResultsReply:
    """Answers of one model, their calculations corrected; `selects` says whether a call selects from what another one may have read
    whole."""

    llm: LLMAdapter
    selects: Callable[[ToolCall | None], bool]
    compute: Computes = computes_nothing

    def informative(self, steps: Sequence[StepSnapshot]) -> Sequence[StepSnapshot]:
        """The steps without selections that failed: what they are about was read before."""
        return [step for step in steps if step.state is StepState.SUCCEEDED or not self._selects(step)]

    def selected(self, steps: Sequence[StepSnapshot]) -> Sequence[StepSnapshot]:
        """The informative steps, without those that read whole what a later one selected from."""
        kept = self.informative(steps)
        return [
            step
            for at, step in enumerate(kept)
            if not any(self._selects(later) and _share_argument(step, later) for later in kept[at + 1 :])
        ]

    def places(self, steps: Sequence[StepSnapshot]) -> int:
        """The number of places that the steps looked at. A selection from something that was read before does not count as another place."""
        looks = [
            step
            for at, step in enumerate(steps)
            if not self._selects(step) or not any(_share_argument(before, step) for before in steps[:at])
        ]
        return len(looks)

    async def of(
        self,
        run: RunSnapshot,
        situation: Situation,
        steps: Sequence[StepSnapshot],
        grant: Grant,
        *,
        of_pages: bool = False,
    ) -> str:
        """What `results_reply` returns for what was selected from a table in place of the table, and where that may not show the answer, for
        the table, as far as it can be shown, for another call of the grant. An answer may be more doubtful if it is from pages that the request
        names (`of_pages`), and most if it has a figure that a selection computed: no text in view confirms it."""
        usual = _DOUBTFUL_PAGE_FROM if of_pages else _DOUBTFUL_FROM if steps else _DOUBTFUL_UNSEEN_FROM
        kept = self.informative(steps)
        selected = self.selected(steps)
        whole = [step for step in kept if not self._selects(step)]
        figures = _numbers(step for step in selected if self._selects(step)) - _numbers(whole)

        def doubtful_from(reply: str) -> float:
            return _DOUBTFUL_FIGURE_FROM if numbers_in(reply) & figures else usual

        reply = await self._reply(run, situation, selected, grant, doubtful_from=doubtful_from)
        if (
            reply != NOT_SHOWN
            or all(_is_among(step, selected) for step in whole)
            or any(map(_is_long, whole))
        ):
            return reply
        return await self._reply(run, situation, whole, grant, doubtful_from=lambda _reply: usual)

    async def from_memory(self, run: RunSnapshot, situation: Situation, grant: Grant) -> str:
        """The answer from remembered facts and what was said before, for a call of the grant; "" if there is neither, or they may not
        show it. With the whole value of a fact it may be more doubtful, most where the request shares a word with the name of the fact. No names
        of files are in view: a small model answers with one."""
        if not situation.facts and not run.context:
            return ""
        said = {word for word in words_to_match(run.text) if len(word) >= _NAME_CHARS}
        facts = [
            (words_to_match(name), set(words_of(display_json(value)))) for name, value in situation.facts
        ]

        def doubtful_from(reply: str) -> float:
            words = set(words_of(reply))
            limits = [
                _DOUBTFUL_FACT_FROM if said.isdisjoint(name) else _DOUBTFUL_NAMED_FROM
                for name, value in facts
                if value and value <= words
            ]
            return max(limits, default=_DOUBTFUL_UNSEEN_FROM)

        view = situation.without_files()
        reply = await results_reply(self.llm, run, view, (), grant, doubtful_from=doubtful_from)
        return "" if reply == NOT_SHOWN else corrected(reply, self.compute)

    async def besides(
        self, run: RunSnapshot, situation: Situation, report: str, looks: Sequence[StepSnapshot], grant: Grant
    ) -> str:
        """What the request asks for besides a change with this report, from that and the looks since, for one call of
        the grant; "" if they may not show it."""
        reply = await self._reply(run, situation, self.selected(looks), grant, (CHANGED, report))
        return "" if reply == NOT_SHOWN else reply

    async def _reply(
        self,
        run: RunSnapshot,
        situation: Situation,
        steps: Sequence[StepSnapshot],
        grant: Grant,
        *above: tuple[str, str],
        doubtful_from: Callable[[str], float] | None = None,
    ) -> str:
        reply = await results_reply(self.llm, run, situation, steps, grant, above, doubtful_from)
        return corrected(reply, self.compute)

    def _selects(self, step: StepSnapshot) -> bool:
        return self.selects(step.step.tool_call)


def _numbers(steps: Iterable[StepSnapshot]) -> frozenset[float]:
    """The numbers in the results of the steps."""
    return frozenset().union(*(numbers_in(result_of(step)) for step in steps))


def _is_among(step: StepSnapshot, others: Sequence[StepSnapshot]) -> bool:
    """Whether the step is one of the others, or the result of one of them has all of its own."""
    return any(step is other or result_of(step).strip() in result_of(other) for other in others)


def _is_long(step: StepSnapshot) -> bool:
    """Whether the result is too long to be shown whole."""
    return len(result_of(step)) > MAX_RESULT_CHARS


async def results_reply(
    llm: LLMAdapter,
    run: RunSnapshot,
    situation: Situation,
    steps: Sequence[StepSnapshot],
    grant: Grant,
    above: Sequence[tuple[str, str]] = (),
    doubtful_from: Callable[[str], float] | None = None,
) -> str:
    """The answer, for one call of the grant, from the results of the steps below what stands above them, a place and a text each, or
    without any from what is in view; NOT_SHOWN if they may not show it, or not an e-mail address that it has, "" if the model gives none that is complete. `doubtful_from`
    returns the log-odds from which a reply is doubtful, in place of the usual ones."""

    def build(result_chars: int) -> tuple[Message, ...]:
        shown = [*above, *shown_results(steps, result_chars)]
        return results_messages(run, situation, shown or _in_view(situation))

    room = min(room_in(grant, llm), MAX_PROMPT_TOKENS)
    fitted = await fit_prompt(llm, build, min(results_length(steps), MAX_RESULT_CHARS), room)
    if fitted.value is None or grant.left.llm_calls < 1:
        return ""
    request = LLMRequest(
        fitted.value.messages,
        max_tokens=MAX_REPLY_TOKENS,
        likely=LIKELY,
        fixed=True,
        deadline_seconds=REPLY_SECONDS,
    )
    answered = (await BudgetedLLM(llm, grant).stream(request, discard_text)).value
    if answered is None or is_cut(answered):
        return ""
    usual = _DOUBTFUL_FROM if steps or above else _DOUBTFUL_UNSEEN_FROM
    limit = doubtful_from(answered.text) if doubtful_from else usual
    may_not_show = log_odds(answered.likely, _begins, NOT_SHOWN) >= limit
    not_shown = may_not_show or repeats_request(answered.text, run) or answered.text.startswith(NOT_SHOWN)
    view = str(fitted.value.messages[-1].content).casefold()
    invents = any(address not in view for address in _ADDRESS.findall(answered.text.casefold()))
    return NOT_SHOWN if not_shown or invents else answered.text.strip()


def shown_results(steps: Sequence[StepSnapshot], result_chars: int) -> Sequence[tuple[str, str]]:
    """Of each step the place that it looked at and its result, shortened to so many characters together."""
    return [_shown(turn) for turn in turns_of(steps, result_chars)]


def _share_argument(one: StepSnapshot, other: StepSnapshot) -> bool:
    """Whether both steps were about the same thing."""
    return not set(map(str, one.values)).isdisjoint(map(str, other.values))


async def not_found_reply(llm: LLMAdapter, run: RunSnapshot, situation: Situation, grant: Grant) -> str:
    """The refusal of a request whose answer no step of the run showed, for one call of the grant; "" if the model gives none that is
    complete. One that names neither a file that was looked at nor one that is missing may name a place that was not searched: a plain one
    is given instead."""
    names = {path for path, _ in situation.files} | {*situation.nearest}
    turns = turns_of(executed(run), 0)
    places = dict.fromkeys(_place(turn, names) for turn in turns)
    missing = new_names(run, situation)
    messages = not_found_messages(run.text, tuple(places), missing)
    request = LLMRequest(messages, max_tokens=MAX_REFUSAL_TOKENS, fixed=True, deadline_seconds=REPLY_SECONDS)
    reply = (await BudgetedLLM(llm, grant).text(request)).strip()
    values = [value for turn in turns for value in turn.call.arguments.values()]
    looked = dict.fromkeys(value for value in values if isinstance(value, str) and value in names)
    if reply and looked and not any(name.rpartition("/")[2] in reply for name in (*looked, *missing)):
        return NOT_IN + ", ".join(looked)
    return reply


async def translated(llm: LLMAdapter, run: RunSnapshot, text: str, language: str, grant: Grant) -> str:
    """The text, an answer to the run's request, in the language with this English name, for one call of the grant; unchanged if the model writes no
    complete one."""
    if grant.left.llm_calls < 1:
        return text
    messages = translation_messages(run.text, text, language)
    request = LLMRequest(messages, max_tokens=MAX_REFUSAL_TOKENS, fixed=True, deadline_seconds=REPLY_SECONDS)
    return (await BudgetedLLM(llm, grant).text(request)).strip() or text


def with_sources(answer: str, request: str, situation: Situation, steps: Sequence[StepSnapshot]) -> str:
    """The answer with the names of the files below it that it comes from: as few of those that the steps read as have together all its words
    which stand in any of them, and neither in the request nor in a remembered fact. What request or answer name is not named again."""
    left = _news(answer, f"{request}\n{facts_text(situation)}")
    files = {path for path, _ in situation.files} | {*situation.nearest}
    shown: dict[
        tuple[str, ...], set[str]
    ] = {}  # the words of files that were read together, as far as they were seen
    for step in steps:
        if step.state is StepState.SUCCEEDED:
            for value in step.values:
                if isinstance(value, str) and value in files:
                    shown.setdefault(_read_with(value, step), set()).update(words_of(result_of(step)))
    sources: list[str] = []
    while left and (source := max(shown, key=lambda paths: len(shown[paths] & left), default=())):
        if shown[source].isdisjoint(left):
            break
        sources += source
        left -= shown[source]
    unnamed = [
        path for path in dict.fromkeys(sources) if path.rpartition("/")[2] not in f"{request}\n{answer}"
    ]
    return f"{answer}\n({', '.join(unnamed)})" if unnamed else answer


def _read_with(path: str, step: StepSnapshot) -> tuple[str, ...]:
    """The files that the step read as one with this one, which its result lists; this one alone if none does."""
    listed = step.output.values() if isinstance(step.output, Mapping) else ()
    together = next((one for one in listed if isinstance(one, list | tuple) and path in one), (path,))
    return tuple(map(str, together))


def is_shown(answer: str, request: str, situation: Situation) -> bool:
    """Whether the answer has a word or number that is not in the request, and is in a line or fact in view."""
    view = "\n".join([facts_text(situation), *(line for _, line in (*situation.lines, *situation.files))])
    return not _news(answer, request).isdisjoint(words_of(view))


def _news(answer: str, known: str) -> set[str]:
    """The words and numbers of the answer that say where it comes from: those that are not known, without short ones."""
    shortest = {True: _NUMBER_CHARS, False: _WORD_CHARS}
    return {word for word in words_of(answer) if len(word) >= shortest[word.isdigit()]}.difference(
        words_of(known)
    )


def _begins(start: str) -> str:
    """What a first token begins: NOT_SHOWN, or any answer."""
    return NOT_SHOWN if start.startswith(NOT_SHOWN) else start


def _in_view(situation: Situation) -> Sequence[tuple[str, str]]:
    """The names of the files. With single lines of them in view, a small model answers what these do not show."""
    if not situation.files:
        return ()
    names = ", ".join(path for path, _ in situation.files)
    return ((f"{len(situation.files)} {FILES_IN_VIEW}", "\n".join([names, *extremes(situation)])),)


def _place(turn: Turn, names: Collection[str]) -> str:
    """The files that a call named, without what it sought in them; where it named none, all its arguments."""
    named = [value for value in turn.call.arguments.values() if isinstance(value, str) and value in names]
    return ", ".join(named) or _shown(turn)[0]


def _shown(turn: Turn) -> tuple[str, str]:
    """The place that was looked at, by the arguments of the call, and the result."""
    return ", ".join(map(display_json, turn.call.arguments.values())), turn.result
