"""One action: chosen by the model, put right where a small model tends to choose wrongly, and completed.

A small model is asked short questions about its choice (`conversations`); what they say leads to another offer, or another call.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

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
    FILE_CHANGES,
    CallTool,
    Decision,
    DecisionModel,
    Offer,
)
from aeond.orchestration.decision.invention import has_news, is_copied, is_invented, is_unsaid, removes_other
from aeond.orchestration.decision.offers import Offers
from aeond.orchestration.decision.results import MAX_RESULT_CHARS, executed, results_length, turns_of
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.prompts.decision_prompts import FOUND, request_text
from aeond.ports import LLMAdapter, TextSink
from aeond.schemas.parts import as_object


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
        if offer.only_tool:
            decided: Outcome[Decision | None] = success(CallTool(ToolCall(offer.only_tool)))
        else:
            decided = await model.decide(fitted.value.messages, offer, grant, on_text)
        if not steps and isinstance(decided.value, CallTool):
            called = offer.tool(decided.value.call.tool)
            other = await self.redirection.of_call(called, offer, snapshot, situation, grant)
            if other is not None and other.tools:
                offer = other
                decided = await model.decide(fitted.value.messages, offer, grant, on_text)
        if self._forgets_news(decided.value, offer, snapshot, situation) and grant.left.llm_calls:
            offer = offer.to_keep()
            decided = (
                success(CallTool(ToolCall(offer.only_tool)))
                if offer.only_tool
                else await model.decide(fitted.value.messages, offer, grant, on_text)
            )
        if self._removes_other(decided.value, offer, snapshot, situation) and grant.left.llm_calls:
            offer = offer.to_act(FILE_CHANGES)
            decided = await model.decide(fitted.value.messages, offer, grant, on_text)
        if self._unmakes(decided.value, offer, steps) and grant.left.llm_calls:
            offer = offer.without(decided.value.call.tool) if isinstance(decided.value, CallTool) else offer
            decided = await model.decide(fitted.value.messages, offer, grant, on_text)
        if self._misses_new_file(decided.value, offer, snapshot, situation) and grant.left.llm_calls:
            if (look := await self._nearest(snapshot, situation)) is not None:
                return success(CallTool(look))
            offer = offer.without(decided.value.call.tool) if isinstance(decided.value, CallTool) else offer
            decided = await model.decide(fitted.value.messages, offer, grant, on_text)
        if not isinstance(decided.value, CallTool):
            return decided
        call = await self._complete(decided.value.call, offer, snapshot, situation, grant)
        spec = offer.tool(call.tool)
        lacking = spec if spec is not None and not set(spec.composed) <= call.arguments.keys() else None
        first = offer.tool(decided.value.call.tool)
        if lacking and first is not None and call.tool == first.for_existing:
            return decided
        if lacking and (grant.left.llm_calls or self.composer.validator.validate_tool_call(call, lacking)):
            others = await self._instead(lacking, call, offer, snapshot)
            decided = await model.decide(fitted.value.messages, others, grant, on_text)
        else:
            decided = success(CallTool(call))
        look = await self._look_before(decided.value, offer, snapshot, situation)
        if look is not None:
            return success(CallTool(look))
        examples = "\n".join(str(message.content) for message in opening)
        looking = offer.to_look((Effect.READ,))
        if (
            looking.tools
            and self._copies(decided.value, offer, snapshot, situation, examples)
            and grant.left.llm_calls
        ):
            return await model.decide(fitted.value.messages, looking, grant, on_text)
        if self._invents(decided.value, offer, snapshot, situation) and grant.left.llm_calls:
            return await model.decide(fitted.value.messages, self.offers.asking(snapshot), grant, on_text)
        return decided

    async def selection(
        self, snapshot: RunSnapshot, situation: Situation, offer: Offer, grant: Grant
    ) -> ToolCall | None:
        """The call that selects what is asked for from the table that the last step read, as `selected` returns it; None where a change is
        surely all that is wanted: that of a table has its own statement, but not a new file made from one."""
        subject = await self.redirection.subjects.of(self.llm, snapshot, situation, grant)
        if subject.wants_only_change and not names_new_file(snapshot, situation):
            return None
        return await self.selected(snapshot, situation, offer, grant)

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

    def _of_small_model(self, decision: Decision | None, offer: Offer) -> tuple[ToolCall, ToolSpec] | None:
        """The chosen call with its tool, if a small model chose one of those that are offered."""
        if self.llm.capabilities.tool_calls or not isinstance(decision, CallTool):
            return None
        spec = offer.tool(decision.call.tool)
        return (decision.call, spec) if spec is not None else None

    def _forgets_news(
        self, decision: Decision | None, offer: Offer, snapshot: RunSnapshot, situation: Situation
    ) -> bool:
        """Whether a small model would forget a fact of which the request says something new."""
        chosen = self._of_small_model(decision, offer)
        return chosen is not None and bool(offer.to_keep().tools) and has_news(*chosen, snapshot, situation)

    def _removes_other(
        self, decision: Decision | None, offer: Offer, snapshot: RunSnapshot, situation: Situation
    ) -> bool:
        """Whether a small model would forget a fact, where something is to be removed from a file."""
        chosen = self._of_small_model(decision, offer)
        changing = bool(offer.to_act(FILE_CHANGES).tools)
        return chosen is not None and changing and removes_other(*chosen, snapshot, situation)

    def _invents(
        self, decision: Decision | None, offer: Offer, snapshot: RunSnapshot, situation: Situation
    ) -> bool:
        """Whether a small model would store an invented number; the user is asked for it instead."""
        chosen = self._of_small_model(decision, offer)
        turns = turns_of(executed(snapshot), MAX_RESULT_CHARS)
        found = self.findings.get(snapshot.run_id)
        turns += (replace(turns[-1], result=found),) if found and turns else ()
        return chosen is not None and is_invented(*chosen, snapshot, situation, turns)

    def _copies(
        self,
        decision: Decision | None,
        offer: Offer,
        snapshot: RunSnapshot,
        situation: Situation,
        examples: str,
    ) -> bool:
        """Whether a small model would, before any look, fill something new from the examples of its prompt."""
        chosen = self._of_small_model(decision, offer)
        return (
            chosen is not None
            and not executed(snapshot)
            and is_copied(*chosen, snapshot, situation, examples)
        )

    def _unmakes(self, decision: Decision | None, offer: Offer, steps: Sequence[StepSnapshot]) -> bool:
        """Whether a small model would remove what a step of the run has made or changed."""
        chosen = self._of_small_model(decision, offer)
        if chosen is None or not chosen[1].for_part:
            return False
        changed = [
            step.step.tool_call
            for step in steps
            if step.state is StepState.SUCCEEDED and self.offers.changes(step.step.tool_call)
        ]
        made = [value for call in changed if call for value in call.arguments.values()]
        return any(value in made for value in chosen[0].arguments.values())

    def _misses_new_file(
        self, decision: Decision | None, offer: Offer, snapshot: RunSnapshot, situation: Situation
    ) -> bool:
        """Whether a small model would change a file that the request does not name, where it names one that is to be made."""
        chosen = self._of_small_model(decision, offer)
        if chosen is None:
            return False
        call, spec = chosen
        named = [value for value in call.arguments.values() if isinstance(value, str)]
        return (
            spec.effect in FILE_CHANGES
            and bool(spec.composed)
            and names_new_file(snapshot, situation)
            and not any(names_file(snapshot, value) for value in named)
        )

    async def _look_before(
        self, decision: Decision | None, offer: Offer, snapshot: RunSnapshot, situation: Situation
    ) -> ToolCall | None:
        """The call that reads the nearest file before a small model fills something new with what was not said; None if something was
        looked up, or nothing is near."""
        chosen = self._of_small_model(decision, offer)
        unsaid = chosen is not None and is_unsaid(*chosen, snapshot, situation)
        return await self._nearest(snapshot, situation) if unsaid else None

    async def _nearest(self, snapshot: RunSnapshot, situation: Situation) -> ToolCall | None:
        """The first call of a run, which reads the nearest file; None after others, and if none is near."""
        if not situation.nearest or executed(snapshot):
            return None
        return (await self.offers.first(snapshot, situation)).reading(situation.nearest[0])

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
