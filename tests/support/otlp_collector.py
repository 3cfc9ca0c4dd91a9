"""A collector of traces: a gRPC server that parses what is exported, and refuses as often as a test says."""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import grpc
import grpc.aio
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SERVICE: Final = "opentelemetry.proto.collector.trace.v1.TraceService"
SECONDS: Final = 30.0


class Collector:
    """The requests that were accepted. Each of `refusals` answers one request, in order; `rejects` is the number of
    spans of each request that are not taken."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.refusals: deque[grpc.StatusCode] = deque()
        self.rejects = 0
        self.attempts = 0
        self.peers: list[str] = []  # the connection of each attempt
        self.port = 0
        self._news = anyio.Event()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def spans(self) -> list[Span]:
        """All spans received so far."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    async def received(self, name: str, count: int = 1) -> list[Span]:
        """The spans, once there are so many of this name."""
        with anyio.fail_after(SECONDS):
            while sum(span.name == name for span in self.spans) < count:
                self._news = anyio.Event()
                await self._news.wait()
        return self.spans

    async def export(self, raw: bytes, context: "grpc.aio.ServicerContext[Any, Any]") -> bytes:
        self.attempts += 1
        self.peers.append(context.peer())
        if self.refusals:
            await context.abort(self.refusals.popleft(), "not now")
        self.requests.append(ExportTraceServiceRequest.FromString(raw))
        self._news.set()
        response = ExportTraceServiceResponse()
        response.partial_success.rejected_spans = self.rejects
        return response.SerializeToString()


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """A collector on a port of its own."""
    collector = Collector()
    server = grpc.aio.server()
    methods: dict[str, Any] = {"Export": grpc.unary_unary_rpc_method_handler(collector.export)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    collector.port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield collector
    finally:
        await server.stop(None)


def attributes(span: Span) -> dict[str, str | int | float | bool]:
    """The attributes of a span by name."""
    return {
        one.key: getattr(one.value, one.value.WhichOneof("value") or "string_value")
        for one in span.attributes
    }
