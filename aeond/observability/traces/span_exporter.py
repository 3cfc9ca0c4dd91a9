"""Sends spans to a collector by OTLP over gRPC."""

import logging
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import grpc
import grpc.aio
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

from aeond.observability.traces.encoding import field
from aeond.ports import Clock

EXPORT: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
ATTEMPTS: Final = 3
ATTEMPT_SECONDS: Final = 10.0
BACKOFF_SECONDS: Final = 1.0
# Those that the protocol calls retryable.
RETRYABLE: Final = (
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)

log = logging.getLogger("aeond.traces")


class SpanExporter:
    """Exports to `endpoint`: http://HOST:PORT, or https://HOST:PORT with the system's certificates."""

    def __init__(self, endpoint: str, version: str, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._failing = False
        self._channel: grpc.aio.Channel | None = None
        attributes = [_text("service.name", "aeond"), _text("service.version", version)]
        self._resource = ResourceSpans(resource=Resource(attributes=attributes)).SerializeToString()
        scope = InstrumentationScope(name="aeond", version=version)
        self._scope = ScopeSpans(scope=scope).SerializeToString()

    async def export(self, spans: Sequence[bytes], count: int) -> int:
        """How many of `count` spans, encoded as fields of ScopeSpans, the collector took, after at most ATTEMPTS attempts.
        Never raises; the first of several failures in a row is logged."""
        request = self.request(spans)
        if self._channel is None:
            self._channel = self._connect()
        # The generated stub has no types.
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, ExportTraceServiceResponse] = self._channel.unary_unary(
            EXPORT, response_deserializer=ExportTraceServiceResponse.FromString
        )
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = await call(request, timeout=ATTEMPT_SECONDS)
            except grpc.aio.AioRpcError as error:
                if error.code() not in RETRYABLE or attempt == ATTEMPTS:
                    await self.close()
                    self._report(f"{error.code().name}: {error.details()}")
                    return 0
                await self._clock.sleep_until(self._clock.monotonic() + BACKOFF_SECONDS * 2 ** (attempt - 1))
            else:
                self._failing = False
                return count - response.partial_success.rejected_spans
        raise AssertionError("the last attempt returns")

    async def close(self) -> None:
        """Ends the connection; the next export makes another one."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    def request(self, spans: Sequence[bytes]) -> bytes:
        """The encoded ExportTraceServiceRequest with these spans."""
        scope = b"".join([self._scope, *spans])
        resource = self._resource + field(ResourceSpans.SCOPE_SPANS_FIELD_NUMBER, scope)
        return field(ExportTraceServiceRequest.RESOURCE_SPANS_FIELD_NUMBER, resource)

    def _connect(self) -> "grpc.aio.Channel":
        address = urlsplit(self._endpoint)
        target = address.netloc
        if address.scheme == "https":
            return grpc.aio.secure_channel(target, grpc.ssl_channel_credentials())
        return grpc.aio.insecure_channel(target)

    def _report(self, words: str) -> None:
        if not self._failing:
            log.warning("cannot export traces to %s: %s", self._endpoint, words)
        self._failing = True


def _text(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))
