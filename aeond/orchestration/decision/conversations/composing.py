"""Completes a call: arguments that depend on content are written in a separate conversation, with the content in view.

In the conversation of a decision a small model writes such an argument from memory. ADR 0091 has the measurements.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.messages import Message
from aeond.domain.names import words_of
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.policy import Effect
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import canonical_json, display_json
from aeond.frozen import frozen
from aeond.orchestration.answer.equations import Computes, computes_nothing, evaluated
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut, repeats_itself
from aeond.orchestration.context.prompt_fitting import fit_prompt, room_in
from aeond.orchestration.decision.conversations.correction import Correction, Corrections
from aeond.orchestration.decision.conversations.knowledge import repeats_a_fact
from aeond.orchestration.decision.conversations.odds import LIKELY, log_odds
from aeond.orchestration.decision.forms.schema import ANSWER
from aeond.orchestration.decision.interfaces import CHANGES
from aeond.orchestration.decision.invention import loses_numbers
from aeond.orchestration.decision.results import results_length, turns_of
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.decision_prompts import composing_messages
from aeond.orchestration.repair.endless_lists import news_of_list
from aeond.orchestration.repair.strict_json import read_json
from aeond.ports import LLMAdapter, ToolInvoker, Validator
from aeond.schemas.parts import as_object

MAX_RESULT_CHARS: Final = 2_000
SECONDS: Final = 300.0
_NOTHING: Final = '""'
_HAS_FROM: Final = 1.5  # log-odds of any text against _NOTHING


@frozen
class Composer:
    """Asks one model; a call that it completes costs one call of the grant. What it did not write in a run it is not asked for again: it would
    write the same. `odds` are the log-odds, by run, tool and arguments, that what a call reads has what is wanted."""

    llm: LLMAdapter
    invoker: ToolInvoker
    validator: Validator
    corrections: Corrections
    compute: Computes = computes_nothing
    unwritten: LastRuns[tuple[str, str, str], None] = field(default_factory=LastRuns)  # by run, tool and view
    odds: LastRuns[tuple[str, str, str], float] = field(default_factory=LastRuns)

    async def shows(self, call: ToolCall, run: RunSnapshot) -> bool:
        """Whether there is something to be shown for the call."""
        return await self.invoker.composition_view(call, run.tool_context("", ""), run.text) is not None

    def lacks(self, call: ToolCall, run: RunSnapshot) -> bool:
        """Whether what the call reads most likely has not what is wanted, as the model said that was to complete it."""
        return self.odds.get(_key(call, run), math.inf) < _HAS_FROM

    async def complete(
        self,
        call: ToolCall,
        spec: ToolSpec,
        run: RunSnapshot,
        situation: Situation,
        steps: Sequence[StepSnapshot],
        grant: Grant,
        found: str = "",
    ) -> ToolCall | None:
        """The call with its composed arguments; `found` is what was found out from the steps. A call for the memory that corrects a fact names
        that one, and only it is in view; one that surely corrects none is written without facts in view. If a small model only repeats a fact, or
        leaves out the request's numbers, it writes once more without facts; a fact that only repeats its name has the request as its value where
        that has a number. None if the tool shows nothing, the budget has no room for it, or the model writes nothing that the tool takes."""
        composition = spec.composition
        if composition is None or spec.effect is not Effect.MEMORY:
            return await self._composed(call, spec, run, situation, steps, grant, found)
        fact = await self._fact_of(run, situation, grant)
        facts, named = situation.facts, {}
        if fact is not None:
            facts = ((fact.name, fact.value),) if fact.is_likely else ()
            named = {composition.fact: fact.name} if fact.is_likely and composition.fact else {}
        given = replace(call, arguments={**call.arguments, **named})
        seen = replace(situation, facts=facts)
        whole = await self._composed(given, spec, run, seen, steps, grant, found)
        if whole is not None and grant.left.llm_calls and _says_nothing_new(whole, spec, run, seen, fact):
            seen = replace(situation, facts=())
            whole = await self._composed(call, spec, run, seen, steps, grant, found)
        if whole is None or fact is None or not named:
            return whole and _as_said(whole, spec, run)
        old = display_json(fact.value)
        kept = {
            name: in_place(old, value) if isinstance(value, str) else value
            for name, value in whole.arguments.items()
        }
        return replace(whole, arguments={**kept, **named})

    async def _fact_of(self, run: RunSnapshot, situation: Situation, grant: Grant) -> Correction | None:
        """The fact that the request most likely corrects, for a small model; None if that is not known."""
        capabilities = self.llm.capabilities
        asks = capabilities.likely and not capabilities.tool_calls
        return await self.corrections.of(self.llm, run, situation, grant) if asks else None

    async def _composed(
        self,
        call: ToolCall,
        spec: ToolSpec,
        run: RunSnapshot,
        situation: Situation,
        steps: Sequence[StepSnapshot],
        grant: Grant,
        found: str,
    ) -> ToolCall | None:
        composition = spec.composition
        view = await self.invoker.composition_view(call, run.tool_context("", ""), run.text)
        room = room_in(grant, self.llm)
        if composition is None or view is None or grant.left.llm_calls < 1 or room <= 0:
            return None

        def build(result_chars: int) -> tuple[Message, ...]:
            results = [(turn.call.tool, turn.result) for turn in turns_of(steps, result_chars)]
            results += [(ANSWER, found)] if found else []
            return composing_messages(composition, view.text, run, situation, results)

        longest = min(results_length(steps), MAX_RESULT_CHARS)
        fitted = await fit_prompt(self.llm, build, longest, room)
        if fitted.value is None:
            return None
        asked = (run.run_id, spec.name, str(fitted.value.messages[-1].content))
        if asked in self.unwritten:
            return None
        request = LLMRequest(
            fitted.value.messages,
            max_tokens=composition.max_tokens,
            schema=view.schema,
            fixed=True,
            likely=LIKELY if view.may_lack else 0,
            deadline_seconds=SECONDS,
        )
        text, likely = await self._written(request, grant)
        if likely:
            self.odds[_key(call, run)] = -log_odds(likely, _begins, _NOTHING)
        written = read_json(text)
        results = "\n".join(turn.result for turn in turns_of(steps, MAX_RESULT_CHARS))
        meant = view.meant(
            written.value, f"{run.request.text}\n{run.text}\n{run.context}\n{found}\n{results}"
        )
        several = as_object(meant)  # perhaps with members that only lead to the arguments
        values = {name: several.get(name) for name in spec.composed}
        if len(spec.composed) == 1:
            values = {spec.composed[0]: meant}
        if spec.effect in CHANGES:
            known = f"{run.text}\n{view.text}"
            values = {name: evaluated(value, self.compute, known) for name, value in values.items()}
        whole = replace(call, arguments={**call.arguments, **values})
        if meant is None or self.validator.validate_tool_call(whole, spec):
            if text:  # a model that failed is asked again
                self.unwritten[asked] = None
            return None
        return whole

    async def _written(self, request: LLMRequest, grant: Grant) -> tuple[str, tuple[LikelyToken, ...]]:
        """What the model writes, with the likeliest first tokens; a list that it does not end as far as it says something new. "" if the model
        fails."""
        answered = (await BudgetedLLM(self.llm, grant).stream(request, discard_text, _is_endless)).value
        if answered is None:
            return "", ()
        news = news_of_list(answered.text) if is_cut(answered) else ""
        return news or answered.text, answered.likely


def _key(call: ToolCall, run: RunSnapshot) -> tuple[str, str, str]:
    return run.run_id, call.tool, canonical_json(call.arguments)


def _begins(start: str) -> str:
    """What a first token begins: _NOTHING, a text, or no JSON string."""
    return next((mark for mark in (_NOTHING, _NOTHING[0]) if start.startswith(mark)), "")


def in_place(old: str, new: str) -> str:
    """The old text with the new one in place of the only part that has the same form, digits aside: what a small model does not repeat of
    a fact stays true. The new text alone if it has no digit, or if there is no such part or another one."""
    form = re.sub(r"\d", r"\\d", re.escape(new))
    same = re.compile(rf"(?<!\w){form}(?!\w)")
    has_digit = any(map(str.isdigit, new))
    return same.sub(lambda _: new, old) if has_digit and len(same.findall(old)) == 1 else new


def _says_nothing_new(
    call: ToolCall, spec: ToolSpec, run: RunSnapshot, situation: Situation, corrected: Correction | None
) -> bool:
    """Whether the composed arguments hold the value of the corrected fact as it was; or, if none is, repeat a fact in view that the request does
    not name, or have none of its numbers."""
    written = [display_json(call.arguments[name]) for name in spec.composed]
    if corrected is not None and corrected.is_likely:
        return display_json(corrected.value) in written
    text = " ".join(written)
    return bool(situation.facts) and (
        repeats_a_fact(text, run.text, situation) or loses_numbers(text, run.text)
    )


def _as_said(call: ToolCall, spec: ToolSpec, run: RunSnapshot) -> ToolCall:
    """The call with the request as the value of a fact that only repeats its name, where the request has another number: the person's own words
    say more than none."""
    name = spec.composition.fact if spec.composition else ""
    values = [value for value in spec.composed if value != name]
    if not name or not values:
        return call
    known = set(words_of(display_json(call.arguments[name])))
    written = {word for value in values for word in words_of(display_json(call.arguments[value]))}
    numbers = {word for word in words_of(run.text) if any(map(str.isdigit, word))}
    if not written <= known or numbers <= known:
        return call
    return replace(call, arguments={**call.arguments, values[-1]: run.text})


def _is_endless(text: str) -> bool:
    is_open = not text.rstrip().endswith("]")  # a list that ends by itself is used whole
    return (is_open and bool(news_of_list(text))) or repeats_itself(text)
