"""Decisions as JSON under a schema: for every engine that can constrain its output, and for small models."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.llm import LLMRequest, LLMResponse, ToolSchema
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Outcome, Problem, failure
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, compact_json
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.decision.forms.answer_stream import AnswerStream
from aeond.orchestration.decision.forms.reading import read_decision
from aeond.orchestration.decision.forms.schema import decision_schema
from aeond.orchestration.decision.interfaces import Decision, Offer, Turn, uncomposed
from aeond.orchestration.prompts.decision_examples import examples_for, has_usual_limits, tools_shown
from aeond.orchestration.prompts.decision_prompts import (
    CONSTRAINED_RULES,
    OPEN_RULES,
    result_text,
    tools_text,
)
from aeond.orchestration.repair.strict_json import read_json
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import TextSink
from aeond.schemas.parts import as_object

MAX_DECISION_TOKENS: Final = 900
DECISION_SECONDS: Final = 300.0


@frozen
class ConstrainedDecisions:
    """The DecisionModel over constrained JSON. Examples of whole conversations follow the rules, because a small
    model follows what it sees more than what it reads."""

    supervisor: Supervisor

    def opening(self, specs: Sequence[ToolSpec], instructions: str) -> tuple[Message, ...]:
        specs = [uncomposed(spec) for spec in specs]
        examples = examples_for(specs, self.supervisor.validator)
        rules = CONSTRAINED_RULES if examples and has_usual_limits(specs) else OPEN_RULES
        rules = f"{rules}\n{tools_text(specs, tools_shown(examples))}"
        messages = [Message(Role.SYSTEM, f"{rules}\n\n{instructions}" if instructions else rules)]
        for example in examples:
            messages.append(Message(Role.USER, example.request))
            for index, action in enumerate(example.actions):
                messages.append(Message(Role.AGENT, compact_json(action)))
                if index < len(example.results):
                    messages.append(Message(Role.USER, result_text(example.results[index])))
        return tuple(messages)

    def conversation(
        self, opening: Sequence[Message], request: str, turns: Sequence[Turn], remark: str
    ) -> tuple[Message, ...]:
        messages = [*opening, Message(Role.USER, request)]
        for turn in turns:
            messages.append(Message(Role.AGENT, compact_json({turn.call.tool: turn.call.arguments})))
            messages.append(Message(Role.USER, result_text(turn.result)))
        if remark:
            last = messages.pop()
            messages.append(Message(Role.USER, f"{last.content}\n{remark}"))
        return tuple(messages)

    def tools(self, offer: Offer) -> tuple[ToolSchema, ...]:
        """None: the schema of the answer describes them."""
        return ()

    async def decide(
        self, messages: Sequence[Message], offer: Offer, grant: Grant, on_text: TextSink
    ) -> Outcome[Decision | None]:
        request = LLMRequest(
            tuple(messages),
            max_tokens=MAX_DECISION_TOKENS,
            schema=decision_schema(offer.uncomposed),
            deadline_seconds=DECISION_SECONDS,
        )
        shown = AnswerStream(on_text)
        answered = await BudgetedLLM(self.supervisor.llm, grant).stream(request, shown.feed)
        outcome = await self._read(complete(answered), offer, grant)
        if outcome.value is None:
            shown.restart()
        return outcome

    async def _read(
        self, answered: Outcome[LLMResponse | None], offer: Offer, grant: Grant
    ) -> Outcome[Decision | None]:
        if answered.value is None:
            return answered.failed(None)
        text = answered.value.text
        parsed = read_json(text)
        if not parsed.ok:
            schema = decision_schema(offer.uncomposed)
            parsed = await self.supervisor.repair_json(text, schema, grant)
        if not parsed.ok:
            return parsed.failed(None)
        whole = _is_whole(as_object(parsed.value), offer)
        return await read_decision(self.supervisor, parsed.value, offer if whole else offer.uncomposed, grant)


def _is_whole(decision: JsonObject, offer: Offer) -> bool:
    """Whether a model that was not constrained wrote the arguments that are written in a separate conversation as well."""
    return any(
        spec.composed and set(spec.composed) <= as_object(decision.get(spec.name, {})).keys()
        for spec in offer.tools
    )


def complete(answered: Outcome[LLMResponse | None]) -> Outcome[LLMResponse | None]:
    """The response; a failure if there is none, or (ANSWER_CUT) if it was cut off."""
    if answered.value is None or not is_cut(answered.value):
        return answered
    tokens = answered.value.usage.completion_tokens
    return failure(Problem("ANSWER_CUT", f"the decision was cut off after {tokens} tokens"), None)
