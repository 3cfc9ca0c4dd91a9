"""What every adapter over a server does around one attempt: wait for it, bound it, try again, add up."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

import anyio

from aeond.capabilities.llm.adapters.measurements import Measurements
from aeond.capabilities.llm.adapters.requests import (
    PROBE,
    check_messages,
    check_request,
    out_of_time,
    within,
    without_tool_calls,
)
from aeond.capabilities.llm.adapters.retry import Retries
from aeond.domain.llm import (
    LLMCapabilities,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    ToolChoice,
    ToolSchema,
    response_of,
)
from aeond.domain.messages import Message
from aeond.errors import LLMError, LLMGoneError, OverloadedError

COUNT_SECONDS = 120.0
# A model may have to be downloaded first, which a request's deadline must not end; a run's own bound on
# its time is tighter than this.
START_SECONDS = 3_600.0
REQUIRED_PROBE = replace(PROBE, tool_choice=ToolChoice.REQUIRED)
ResidentT_co = TypeVar("ResidentT_co", covariant=True)


class MeasuredEngine(Protocol):
    """The part of an engine that every adapter needs."""

    @property
    def model(self) -> str: ...

    @property
    def measurements(self) -> Measurements: ...


class EngineSessions(MeasuredEngine, Protocol[ResidentT_co]):
    """The part of a supervised engine that an adapter needs; an EngineSupervisor is one."""

    @property
    def context_length(self) -> int: ...

    @property
    def tool_calls(self) -> bool:
        """Whether the model is said to call tools natively."""
        ...

    def session(self) -> contextlib.AbstractAsyncContextManager[ResidentT_co]: ...


EngineT = TypeVar("EngineT", bound=MeasuredEngine)
SessionsT = TypeVar("SessionsT", bound=EngineSessions[Any])


class ServerAdapter(ABC, Generic[EngineT]):
    """The LLMAdapter port over `attempt`, one try at a request; a server that starts is waited for by `met`.

    A stream is tried again only as long as nothing of it was given away.
    """

    def __init__(self, engine: EngineT, retries: Retries) -> None:
        self._engine = engine
        self._retries = retries
        self._calls_tools: dict[str, bool] = {}  # what a probe showed of each model

    @property
    def model(self) -> str:
        return self._engine.model

    @property
    @abstractmethod
    def capabilities(self) -> LLMCapabilities: ...

    @abstractmethod
    async def met(self) -> None:
        """Returns once the server answers requests."""

    @abstractmethod
    def attempt(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        """One try; the last chunk has finish reason and usage."""

    @abstractmethod
    async def count(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
        """One try to count the tokens of a prompt."""

    def retries_of(self, _request: LLMRequest) -> Retries:
        """How often this request is tried when it is answered in one piece."""
        return self._retries

    async def generate(self, request: LLMRequest) -> LLMResponse:
        check_request(request)
        await self._started()
        with anyio.move_on_after(request.deadline_seconds):
            return await self.retries_of(request).tried(lambda: self._generate(request))
        raise out_of_time(request.deadline_seconds)

    def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        check_request(request)
        return self._started_stream(request)

    @property
    def may_call_tools(self) -> bool:
        """False once a probe showed that the model's server writes no native calls."""
        return self._calls_tools.get(self.model, True)

    async def confirm_tool_calls(self) -> None:
        """Requires one call of the server, once for each model, before it is offered tools; LLMError (reason
        TOOLS_UNSUPPORTED) where none comes."""
        if self.model not in self._calls_tools:
            self._calls_tools[self.model] = await self._writes_a_call()
        if not self.may_call_tools:
            raise without_tool_calls()

    async def _writes_a_call(self) -> bool:
        try:
            async with contextlib.aclosing(self.attempt(REQUIRED_PROBE)) as chunks:
                calls = [call async for chunk in chunks for call in chunk.tool_calls]
        except LLMGoneError:
            raise
        except LLMError:
            return False
        return any(call.name == PROBE.tools[0].name for call in calls)

    async def count_tokens(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        check_messages(messages)
        await self._started()
        with anyio.move_on_after(COUNT_SECONDS):
            return await self._retries.tried(lambda: self.count(messages, tools))
        raise out_of_time(COUNT_SECONDS)

    async def _started(self) -> None:
        """Waits for an engine that downloads or loads its model; how far it is, its snapshot tells."""
        with anyio.move_on_after(START_SECONDS):
            return await self._retries.tried(self.met)
        raise out_of_time(START_SECONDS)

    async def _started_stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        await self._started()
        async with contextlib.aclosing(within(request.deadline_seconds, self._stream(request))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _measured(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        """One try. The last chunk carries the timing, unless the request only reads ahead: that is no answer."""
        if request.tools:
            await self.confirm_tool_calls()
        answering = self._engine.measurements.begin()
        try:
            async with contextlib.aclosing(self.attempt(request)) as chunks:
                async for chunk in chunks:
                    if chunk.text:
                        answering.text_came()
                    if chunk.usage is not None and not request.reads_ahead:
                        yield replace(chunk, timing=answering.answered(chunk.usage))
                    else:
                        yield chunk
        finally:
            answering.end()

    async def _generate(self, request: LLMRequest) -> LLMResponse:
        async with contextlib.aclosing(self._measured(request)) as attempted:
            return response_of([chunk async for chunk in attempted], self.model)

    async def _stream(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        given = False
        for attempt in count(1):
            try:
                async with contextlib.aclosing(self._measured(request)) as chunks:
                    async for chunk in chunks:
                        given = True
                        yield chunk
            except (LLMError, OverloadedError) as error:
                if given:
                    raise
                await self._retries.pause(error, attempt)
            else:
                return


class EngineAdapter(ServerAdapter[SessionsT]):
    """A ServerAdapter over an engine that aeond supervises, which starts with the first request."""

    @property
    def capabilities(self) -> LLMCapabilities:
        return LLMCapabilities(
            schema=True,
            context_length=self._engine.context_length,
            tool_calls=self._engine.tool_calls and self.may_call_tools,
            likely=True,
        )

    async def met(self) -> None:
        async with self._engine.session():
            return
