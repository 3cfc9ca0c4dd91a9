"""The probe before a model is offered tools."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import pytest

from aeond.capabilities.llm.adapters.measurements import Measurements
from aeond.capabilities.llm.adapters.requests import PROBE
from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.adapters.server_adapter import ServerAdapter
from aeond.domain.llm import (
    FinishReason,
    LLMCapabilities,
    LLMChunk,
    LLMRequest,
    TokenUsage,
    ToolChoice,
    ToolSchema,
)
from aeond.domain.messages import Message, ModelToolCall
from aeond.errors import LLMError, LLMGoneError
from tests.support.doubles import ManualClock
from tests.support.engine import ask

NOW = ToolSchema("now", "The time.", {"type": "object", "properties": {}})
ASKED = ask("When?", tools=(NOW,))


@dataclass
class Reply:
    """The reply of the server to a request: a call of `name`, or a failure."""

    name: str = ""
    error: LLMError | None = None


@dataclass
class NamedEngine:
    """An engine that has a model and measurements, and nothing else."""

    measurements: Measurements
    model: str = "m"


class Server(ServerAdapter[NamedEngine]):
    """An adapter that gives these replies one after the other."""

    def __init__(self, *replies: Reply) -> None:
        clock = ManualClock()
        self.engine = NamedEngine(Measurements(clock))
        super().__init__(self.engine, Retries(clock, lambda: 0.0, attempts=1))
        self.replies = list(replies)
        self.requests: list[LLMRequest] = []

    @property
    def capabilities(self) -> LLMCapabilities:
        return LLMCapabilities(schema=True, context_length=100, tool_calls=self.may_call_tools)

    async def met(self) -> None:
        """It is always there."""

    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
        return 1

    async def attempt(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if reply.error is not None:
            raise reply.error
        calls = (ModelToolCall(reply.name, "{}"),) if reply.name else ()
        yield LLMChunk("", FinishReason.STOP, TokenUsage(1, 1), tool_calls=calls)


async def test_the_first_request_with_tools_is_preceded_by_a_probe() -> None:
    """One call is required of the server, once for each model; requests without tools need none."""
    server = Server(Reply(), Reply("ready"), Reply("now"), Reply("now"), Reply("ready"), Reply("now"))
    await server.generate(ask("Hi"))
    for _ in range(2):
        assert (await server.generate(ASKED)).tool_calls == (ModelToolCall("now", "{}"),)
    server.engine.model = "other"
    await server.generate(ASKED)
    offered = [[tool.name for tool in request.tools] for request in server.requests]
    assert offered == [[], ["ready"], ["now"], ["now"], ["ready"], ["now"]]
    assert server.requests[1].tool_choice is ToolChoice.REQUIRED
    assert server.requests[1].messages == PROBE.messages


@pytest.mark.parametrize(
    "reply", [Reply(), Reply("now"), Reply(error=LLMError("no tools", reason="ENGINE_REFUSED"))]
)
async def test_a_server_that_writes_no_call_is_offered_no_tools(reply: Reply) -> None:
    """Without the required call requests with tools fail with their reason, and the capability is gone."""
    server = Server(reply)
    for _ in range(2):
        with pytest.raises(LLMError) as raised:
            await server.generate(ASKED)
        assert raised.value.reason == "TOOLS_UNSUPPORTED"
    assert not server.capabilities.tool_calls
    assert len(server.requests) == 1


async def test_an_engine_that_dies_under_the_probe_proves_nothing() -> None:
    """The next request probes again."""
    server = Server(Reply(error=LLMGoneError("gone")), Reply("ready"), Reply("now"))
    with pytest.raises(LLMGoneError):
        await server.generate(ASKED)
    assert server.capabilities.tool_calls
    assert (await server.generate(ASKED)).tool_calls
