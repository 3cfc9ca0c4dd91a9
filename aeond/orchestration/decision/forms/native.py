"""Decisions by a model's own tool calls, for models and servers that have them."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.llm import LLMRequest, LLMResponse, ToolChoice, ToolSchema
from aeond.domain.messages import Message, ModelToolCall, Role
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, compact_json, display_json
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.decision.forms.constrained import (
    DECISION_SECONDS,
    MAX_DECISION_TOKENS,
    ConstrainedDecisions,
    complete,
)
from aeond.orchestration.decision.forms.reading import UNREADABLE, read_decision
from aeond.orchestration.decision.forms.schema import CANNOT, PLAN, decision_arguments
from aeond.orchestration.decision.interfaces import Decision, GiveAnswer, Offer, Turn
from aeond.orchestration.prompts.decision_prompts import CANNOT_USE, NATIVE_RULES, PLAN_USE, result_text
from aeond.orchestration.repair.strict_json import read_json
from aeond.orchestration.repair.supervisor import Supervisor
from aeond.ports import TextSink
from aeond.schemas.parts import as_object, closed_object

TOOLS_UNSUPPORTED: Final = "TOOLS_UNSUPPORTED"

_TEXT: Final = "text"


@frozen
class NativeDecisions:
    """The DecisionModel over native tool calls: a call is the next action, plain text is the answer. `cannot` and
    `plan` are offered as tools of the same meaning.

    Of several calls in one reply the first is taken; the others are chosen again with its result in view. A reply
    without a readable call or text is asked for once more in the constrained form.
    """

    supervisor: Supervisor
    tool_choice: ToolChoice = ToolChoice.AUTO

    def opening(self, specs: Sequence[ToolSpec], instructions: str) -> tuple[Message, ...]:
        text = f"{NATIVE_RULES}\n\n{instructions}" if instructions else NATIVE_RULES
        return (Message(Role.SYSTEM, text),)

    def conversation(
        self, opening: Sequence[Message], request: str, turns: Sequence[Turn], remark: str
    ) -> tuple[Message, ...]:
        messages = [*opening, Message(Role.USER, request)]
        for number, turn in enumerate(turns):
            call_id = f"call{number:05d}"  # of nine letters and digits, as some templates demand
            call = ModelToolCall(turn.call.tool, compact_json(turn.call.arguments), call_id)
            messages.append(Message(Role.AGENT, "", tool_calls=(call,)))
            messages.append(Message(Role.TOOL, turn.result, call_id=call_id))
        if remark:
            last = messages.pop()
            messages.append(Message(last.role, f"{last.content}\n{remark}", call_id=last.call_id))
        return tuple(messages)

    def tools(self, offer: Offer) -> tuple[ToolSchema, ...]:
        offered = [
            ToolSchema(spec.name, spec.description, decision_arguments(spec, offer)) for spec in offer.tools
        ]
        if offer.answer or offer.refusal:
            offered.append(ToolSchema(CANNOT, CANNOT_USE, closed_object({_TEXT: {"type": "string"}})))
        if offer.plan:
            offered.append(ToolSchema(PLAN, PLAN_USE, closed_object({})))
        return tuple(offered)

    async def decide(
        self, messages: Sequence[Message], offer: Offer, grant: Grant, on_text: TextSink
    ) -> Outcome[Decision | None]:
        request = LLMRequest(
            tuple(messages),
            max_tokens=MAX_DECISION_TOKENS,
            tools=self.tools(offer),
            tool_choice=self.tool_choice if offer.answer else ToolChoice.REQUIRED,
            deadline_seconds=DECISION_SECONDS,
        )
        shown = False

        def show(piece: str) -> None:
            nonlocal shown
            shown = piece != ""
            on_text(piece)

        answered = await BudgetedLLM(self.supervisor.llm, grant).stream(request, show)
        outcome = await self._read(complete(answered), offer, grant)
        if shown and (outcome.value is None or (answered.value and answered.value.tool_calls)):
            on_text("")  # what comes before a call is no answer
        if outcome.problem is not None and outcome.problem.reason in (UNREADABLE, TOOLS_UNSUPPORTED):
            constrained = ConstrainedDecisions(self.supervisor)
            rules = display_json(messages[0].content).removeprefix(NATIVE_RULES).strip()
            opening = constrained.opening(offer.tools, rules)
            again = (*opening, *map(_as_json, messages[1:]))  # the same conversation
            return await constrained.decide(again, offer, grant, on_text)
        return outcome

    async def _read(
        self, answered: Outcome[LLMResponse | None], offer: Offer, grant: Grant
    ) -> Outcome[Decision | None]:
        response = answered.value
        if response is None:
            return answered.failed(None)
        if not response.tool_calls:
            text = response.text.strip()
            if not text:
                return failure(Problem(UNREADABLE, "the reply is empty"), None)
            return success(GiveAnswer(text))
        call = response.tool_calls[0]
        parsed = read_json(call.arguments or "{}")
        if not parsed.ok:
            return failure(Problem(UNREADABLE, "the arguments of the call are not JSON"), None)
        content = _content(call.name, as_object(parsed.value))
        decided = await read_decision(self.supervisor, {call.name: content}, offer, grant)
        return decided if decided.ok else failure(Problem(UNREADABLE, decided.cause.message), None)


def _content(name: str, arguments: JsonObject) -> str | bool | JsonObject:
    if name == CANNOT:
        return display_json(arguments.get(_TEXT, ""))
    return True if name == PLAN else arguments


def _as_json(message: Message) -> Message:
    if message.tool_calls:
        call = message.tool_calls[0]
        return Message(Role.AGENT, compact_json({call.name: read_json(call.arguments).value}))
    if message.role is Role.TOOL:
        return Message(Role.USER, result_text(display_json(message.content)))
    return message
