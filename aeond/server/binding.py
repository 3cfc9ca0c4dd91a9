"""Binds the services of the contract to the objects that implement them.

A method of the contract is implemented by the method of the same name in snake case, with the request and the
caller as arguments: `async def get_run(request, caller) -> response`, or for a stream an async generator of
Parts. A method with streams in both directions returns an Exchange for the caller.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias

import anyio
import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from aeond.domain.runs.run import Caller
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.server.streaming import Part, StreamCutError, Streams
from aeond.trace_context import TraceParent

TRACE_PARENT: Final = "traceparent"  # the metadata key of W3C trace context
TRACE_PARENT_CHARS: Final = 55  # later versions may append further fields

# Quoted: grpcio's classes accept type arguments only in its stubs.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, bytes]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Answer = Callable[[Any, Caller], Awaitable[Message]]
StreamAnswer = Callable[[Any, Caller], AsyncIterator[Part]]


class Exchange(Protocol):
    """A call with streams in both directions."""

    def receive(self, request: Any) -> None:
        """Takes a message of the client. Raises AeondError if it is invalid, which ends the call."""

    def finish(self, failure: AeondError | None) -> None:
        """The client has ended its side, or failed; then `parts` ends, with this failure."""

    def parts(self) -> AsyncIterator[Part]:
        """The messages for the client. Called once."""

    def close(self) -> None:
        """The call has ended, in whatever way. Idempotent."""


@frozen
class Service:
    """A service of the contract with its implementation."""

    descriptor: ServiceDescriptor
    shim: object


class Binding:
    """Builds gRPC handlers; identifies callers and tracks open streams."""

    def __init__(self, caller_of: Callable[[str], Caller], streams: Streams) -> None:
        self._caller_of = caller_of
        self._streams = streams

    def bind(self, service: Service, server: grpc.aio.Server) -> None:
        """Registers this service with the server. Each method is registered by name and so has a queue of its
        own: a flood of one call, or of calls to unknown methods, does not delay others.
        """
        name = service.descriptor.full_name
        methods = {method.name: self._handler(method, service.shim) for method in service.descriptor.methods}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, methods),))
        server.add_registered_method_handlers(name, methods)

    def _handler(self, method: MethodDescriptor, shim: object) -> Handler:
        answer = getattr(shim, snake_case(method.name))
        decode = GetMessageClass(method.input_type).FromString
        if method.client_streaming:
            return grpc.stream_stream_rpc_method_handler(self._exchanging(answer), decode)
        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(self._streaming(answer), decode)
        return grpc.unary_unary_rpc_method_handler(self._unary(answer), decode)

    def _caller(self, context: Context) -> Caller:
        caller = self._caller_of(context.peer())
        for key, value in context.invocation_metadata() or ():
            if key == TRACE_PARENT and TraceParent.parse(str(value)) is not None:
                return replace(caller, trace_parent=str(value)[:TRACE_PARENT_CHARS])
        return caller

    def _unary(self, answer: Answer) -> Callable[[Any, Context], Awaitable[bytes]]:
        async def behave(request: Message, context: Context) -> bytes:
            response = await answer(request, self._caller(context))
            return response.SerializeToString()

        return behave

    def _streaming(self, answer: StreamAnswer) -> Callable[[Any, Context], Awaitable[None]]:
        async def behave(request: Message, context: Context) -> None:
            parts = answer(request, self._caller(context))
            # Confirms to a client that it is connected, also before there is an event to send.
            await context.send_initial_metadata(())
            await self._streams.carry(parts, context.write)

        return behave

    def _exchanging(
        self, answer: Callable[[Caller], "Exchange"]
    ) -> Callable[[AsyncIterator[Any], Context], Awaitable[None]]:
        async def behave(requests: AsyncIterator[Any], context: Context) -> None:
            exchange = answer(self._caller_of(context.peer()))
            failure: AeondError | StreamCutError | None = None
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_receive, requests, exchange)
                    try:
                        await context.send_initial_metadata(())
                        await self._streams.carry(exchange.parts(), context.write)
                    except (AeondError, StreamCutError) as error:
                        failure = error
                    tasks.cancel_scope.cancel()
            finally:
                exchange.close()
            if failure is not None:
                raise failure

        return behave


async def _receive(requests: AsyncIterator[Any], exchange: "Exchange") -> None:
    """Passes each message on, and reports when the client has ended its side or sent something invalid."""
    failure: AeondError | None = None
    try:
        async for request in requests:
            exchange.receive(request)
    except AeondError as error:
        failure = error
    exchange.finish(failure)


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
