"""One action: chosen by the model, put right where a small model tends to choose wrongly, and completed.

A small model is asked short questions about its choice (`conversations`); what they say leads to another offer, or another call.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.frozen import frozen
from aeond.orchestration.answer.equations import evaluated
from aeond.orchestration.context.file_search import FileSearch
from aeond.orchestration.context.new_files import existing_name, names_file, names_new_file, spelt_as_named
from aeond.orchestration.context.prompt_fitting import fit_prompt, room_in
from aeond.orchestration.decision.conversations.composing import Composer
from aeond.orchestration.decision.conversations.redirection import Redirection
from aeond.orchestration.decision.conversations.whole_things import means_part
from aeond.orchestration.decision.interfaces import (
    CHANGES,
    CallTool,
    Decision,
    DecisionModel,
    Offer,
)
from aeond.orchestration.decision.objections import Choice, Objection, Objections
from aeond.orchestration.decision.offers import Offers
from aeond.orchestration.decision.results import MAX_RESULT_CHARS, executed, results_length, turns_of
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.decision_prompts import FOUND, request_text
from aeond.ports import LLMAdapter, TextSink
from aeond.schemas.parts import as_object

ANSWER_CUT: Final = "ANSWER_CUT"


@frozen
class NextAction:
    """`models` returns the form of decisions that suits the model that is loaded, `findings` holds what was found out, by run."""

    models: Callable[[], DecisionModel]
    llm: LLMAdapter
    offers: Offers
    search: FileSearch
    composer: Composer
    redirection: Redirection
    findings: LastRuns[str, str]

    @property
    def objections(self) -> Objections:
        return Objections(self.offers, self.findings)

    async def choose(
        self,
        snapshot: RunSnapshot,
        situation: Situation,
        offer: Offer,
        grant: Grant,
        on_text: TextSink,
        remark: str = "",
    ) -> Outcome[Decision | None]:
        """The next action, with all arguments of a call; a text that is answered is streamed to `on_text`. A remark stands below the last
        result, and what was found out (`findings`) above it. Fails with BUDGET_SPENT, and as the model does."""
        room = room_in(grant, self.llm)
        if grant.left.llm_calls < 1 or room <= 0:
            return failure(Problem("BUDGET_SPENT", "no model call is left for a decision"), None)
        model = self.models()  # one for the whole decision: another engine model may be loaded meanwhile
        opening = model.opening(self.offers.described(snapshot, offer), snapshot.request.instructions)
        request = request_text(snapshot, situation)
        tools = model.tools(offer)
        steps = executed(snapshot)
        found = self.findings.get(snapshot.run_id, "")
        remarks = "\n".join(one for one in (f"{FOUND}{found}" if found else "", remark) if one)

        def build(result_chars: int) -> tuple[Message, ...]:
            return model.conversation(opening, request, turns_of(steps, result_chars), remarks)

        longest = min(results_length(steps), MAX_RESULT_CHARS)
        fitted = await fit_prompt(self.llm, build, longest, room, tools)
        if fitted.value is None:
            return fitted.failed(None)
        messages = fitted.value.messages
        examples = "\n".join(str(message.content) for message in opening)
        whole = offer

        async def decide(offered: Offer) -> Outcome[Decision | None]:
            if offered.only_tool:
                return success(CallTool(ToolCall(offered.only_tool)))
            decided = await model.decide(messages, offered, grant, on_text)
            if offered is whole or not self._is_endless(decided) or not grant.left.llm_calls:
                return decided
            return await model.decide(messages, Offer(answer=False, refusal=True), grant, on_text)

        async def reconsidered(
            decided: Outcome[Decision | None], offered: Offer, objections: Sequence[Objection]
        ) -> tuple[Outcome[Decision | None], Offer]:
            for objection in objections:
                chosen = self._of_small_model(decided.value, offered)
                if chosen is None or not grant.left.llm_calls:
                    break
                other = await objection(Choice(*chosen, offered, snapshot, situation, examples))
                if isinstance(other, ToolCall):
                    return success(CallTool(other)), offered
                if other is not None:
                    decided, offered = await decide(other), other
            return decided, offered

        decided = await decide(offer)
        if not steps and self._is_endless(decided) and grant.left.llm_calls:
            looking = offer.to_look((Effect.READ,))
            if looking.tools:
                offer, decided = looking, await decide(looking)
        if not steps and isinstance(decided.value, CallTool):
            called = offer.tool(decided.value.call.tool)
            other = await self.redirection.of_call(called, offer, snapshot, situation, grant)
            if other is not None and other.tools:
                offer = other
                decided = await decide(offer)
        decided, offer = await reconsidered(decided, offer, self.objections.to_choice)
        if not isinstance(decided.value, CallTool):
            return decided
        call = await self._complete(decided.value.call, offer, snapshot, situation, grant)
        spec = offer.tool(call.tool)
        lacking = spec if spec is not None and not set(spec.composed) <= call.arguments.keys() else None
        first = offer.tool(decided.value.call.tool)
        if lacking and first is not None and call.tool == first.for_existing:
            return decided
        if lacking and (grant.left.llm_calls or self.composer.validator.validate_tool_call(call, lacking)):
            decided = await decide(await self._instead(lacking, call, offer, snapshot))
        else:
            decided = success(CallTool(call))
        return (await reconsidered(decided, offer, self.objections.to_call))[0]

    async def selection(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> ToolCall | None:
        """The call that selects what is asked for from the table that the last step read, as `selected` returns it; None where a change is
        surely all that is wanted: that of a table has its own statement, but not a new file made from one; and where the table lacks what a
        question is about."""
        subject = await self.redirection.subjects.of(self.llm, snapshot, situation, grant)
        if subject.wants_only_change and not names_new_file(snapshot, situation):
            return None
        call = await self.selected(snapshot, situation, offer, grant)
        lacks = subject.wants_no_change and self.lacks(executed(snapshot)[-1], snapshot, offer)
        return None if lacks else call

    def lacks(self, read: StepSnapshot, snapshot: RunSnapshot, offer: Offer) -> bool:
        """Whether the step read a table that most likely lacks what is asked for; none that the request names."""
        call = read.step.tool_call
        selecting = offer.selecting(call) if call else None
        if selecting is None or any(names_file(snapshot, str(value)) for value in read.values):
            return False
        return self.composer.lacks(selecting, snapshot)

    async def selected(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> ToolCall | None:
        """The call that selects what is asked for from the table that the last step read; None where it read none, such a call failed
        before, or nothing was written."""
        steps = executed(snapshot)
        read = steps[-1].step.tool_call
        failed = [step.step.tool_call for step in steps if step.state is StepState.FAILED]
        if read is None or any(map(self.offers.selects, failed)):
            return None
        call = offer.selecting(read)
        spec = offer.tool(call.tool) if call else None
        return (
            await self.composer.complete(call, spec, snapshot, situation, (), grant)
            if call and spec
            else None
        )

    async def _complete(
        self, call: ToolCall, offer: Offer, snapshot: RunSnapshot, situation: Situation, grant: Grant
    ) -> ToolCall:
        """The call that is meant, with its composed arguments if they can be written."""
        if not self.llm.capabilities.tool_calls:
            named = offer.tool(call.tool)
            call = spelt_as_named(call, snapshot, situation, named.new_name if named else "")
            call = await self._safer(call, offer, snapshot, situation, grant)
        spec = offer.tool(call.tool)
        if spec is None or set(spec.composed) <= call.arguments.keys():
            return self._with_results(call, spec, snapshot)
        steps = executed(snapshot)
        found = self.findings.get(snapshot.run_id, "")
        return await self.composer.complete(call, spec, snapshot, situation, steps, grant, found) or call

    def _with_results(self, call: ToolCall, spec: ToolSpec | None, run: RunSnapshot) -> ToolCall:
        """The call, without the calculations of a small model in what it would write."""
        if spec is None or spec.effect not in CHANGES or self.llm.capabilities.tool_calls:
            return call
        return replace(call, arguments=as_object(evaluated(call.arguments, self.composer.compute, run.text)))

    async def _instead(self, spec: ToolSpec, call: ToolCall, offer: Offer, snapshot: RunSnapshot) -> Offer:
        """The offer in place of a call whose composed arguments could not be written: the whole call where nothing could be shown for
        them. What the model could not write with the content in view, it does not write from memory: a change is refused."""
        if not await self.composer.shows(call, snapshot):
            return offer.only(spec)
        return Offer(answer=False, refusal=True) if spec.effect in CHANGES else offer.without(spec.name)

    def _is_endless(self, decided: Outcome[Decision | None]) -> bool:
        """Whether a small model found no end, as one that does not know what to write: it looks first, and refuses after that."""
        small = not self.llm.capabilities.tool_calls
        return small and decided.value is None and decided.cause.reason == ANSWER_CUT

    def _of_small_model(self, decision: Decision | None, offer: Offer) -> tuple[ToolCall, ToolSpec] | None:
        """The chosen call with its tool, if a small model chose one of those that are offered."""
        if self.llm.capabilities.tool_calls or not isinstance(decision, CallTool):
            return None
        spec = offer.tool(decision.call.tool)
        return (decision.call, spec) if spec is not None else None

    async def _safer(
        self, call: ToolCall, offer: Offer, snapshot: RunSnapshot, situation: Situation, grant: Grant
    ) -> ToolCall:
        """The call that a small model means where its own would replace what exists, or remove more than was asked."""
        spec = offer.tool(call.tool)
        if spec is None:
            return call
        replacing = _with(offer.tool(spec.for_existing), call, offer, snapshot)
        removing = _with(offer.tool(spec.for_part), call, offer, snapshot)
        if removing != call and await means_part(self.llm, call, snapshot, situation, grant):
            return removing
        return replacing


def _with(other: ToolSpec | None, call: ToolCall, offer: Offer, run: RunSnapshot) -> ToolCall:
    """A call of the other tool for the existing thing that the call names; the call itself if there is none."""
    if other is None:
        return call
    existing = {
        name: known
        for name, value in call.arguments.items()
        if (known := existing_name(value, offer.values.get((other.name, name), ()), run))
    }
    return ToolCall(other.name, existing) if existing else call
