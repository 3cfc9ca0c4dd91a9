"""Routing: the first decision on a request. A chat comes first, which may be all that it takes; then one constrained
model call decides, two where it says what nobody said."""

from aeond.domain.budgets import Grant
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.profiles import Route
from aeond.domain.runs import RunSnapshot
from aeond.orchestration.call_reading import CallReading
from aeond.orchestration.call_schema import CallSchemas
from aeond.orchestration.chat_preamble import ChatPreamble
from aeond.orchestration.chatting import ChatFirst
from aeond.orchestration.constrained_asking import ConstrainedModel
from aeond.orchestration.contracts import RouteChoice, Supervisor
from aeond.orchestration.doubts import handed_back
from aeond.orchestration.grounding import GroundedAsking
from aeond.orchestration.route_preamble import RoutePreamble
from aeond.orchestration.routing_prompts import routing_messages
from aeond.orchestration.schema_parts import as_object
from aeond.ports import LLMAdapter, TextSink, ToolRegistry, Validator


class ModelRouter:
    """The Router over an LLMAdapter.

    The schema and the prompts come from the tools that the run may use; without any there is nothing to
    decide and the model is not asked. What needs none of them is answered at once. A call that cannot be made after a repair of its form, like any other
    failure, leaves the request to a plan.
    """

    def __init__(
        self, llm: LLMAdapter, registry: ToolRegistry, supervisor: Supervisor, validator: Validator
    ) -> None:
        self._chat = ChatFirst(llm, ChatPreamble(registry, validator))
        self._preamble = RoutePreamble(registry, validator)
        self._asking = GroundedAsking(ConstrainedModel(llm, supervisor, validator))
        self._calls = CallReading(supervisor, validator)
        self._schemas = CallSchemas()

    async def choose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Outcome[RouteChoice]:
        specs = self._preamble.specs(snapshot)
        if not specs:
            return success(RouteChoice(Route.REPLY))
        chatted = await self._chat.reply(snapshot, grant, on_text)
        if not chatted.ok:
            return _planned(chatted.problem)
        if chatted.value is not None:
            return success(RouteChoice(Route.REPLY, answer=chatted.value))
        opening = self._preamble.messages(snapshot)
        told = routing_messages(snapshot, ())
        asked = await self._asking.ask(opening, told, self._schemas.route(specs), specs, grant)
        if not asked.ok:
            return _planned(asked.problem)
        said = as_object(asked.value)
        if said.get("route") != Route.DIRECT:
            return success(RouteChoice(Route.REPLY if said.get("route") == Route.REPLY else Route.PLAN))
        call = await self._calls.read(said, specs, grant)
        if call.value is not None and handed_back(call.value, snapshot.text):
            return success(RouteChoice(Route.REPLY))
        return (
            _planned(call.problem) if call.value is None else success(RouteChoice(Route.DIRECT, call.value))
        )


def _planned(problem: Problem | None) -> Outcome[RouteChoice]:
    return failure(problem or Problem("NOT_ROUTED", "no route was chosen"), RouteChoice(Route.PLAN))
