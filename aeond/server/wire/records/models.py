"""Translates model requests and engine state, in both directions."""

from collections.abc import Sequence
from datetime import UTC, datetime

from aeond.api.v1 import models_pb2 as pb
from aeond.api.v1 import sessions_pb2
from aeond.domain.llm import EngineMetrics, EngineSnapshot, LLMChunk, LLMRequest, ModelInfo, Priority
from aeond.domain.messages import Message
from aeond.errors import InvalidInputError
from aeond.server.wire import checks
from aeond.server.wire.enums import ENGINE_STATES, FINISH_REASONS, PRIORITIES, ROLES
from aeond.server.wire.json_text import json_object, json_text, json_value, plain_text

MAX_MESSAGES = 256
MAX_TOKENS = 32_768
DEFAULT_TOKENS = 512
MAX_STOPS = 16
MAX_STOP_CHARS = 256
MAX_TEMPERATURE = 2.0
DEFAULT_DEADLINE_SECONDS = 300.0
MAX_DEADLINE_SECONDS = 3_600.0
MAX_SCHEMA_BYTES = 256 * 1024


def llm_request_from_wire(request: pb.GenerateRequest, now: float) -> LLMRequest:
    """`now` is the Unix time given to messages that have none."""
    checks.at_least_one(request.messages, "messages")
    checks.at_most(request.messages, "messages", MAX_MESSAGES)
    checks.at_most(request.stop, "stop", MAX_STOPS)
    return LLMRequest(
        messages=tuple(
            _message_from_wire(message, f"messages[{index}]", now)
            for index, message in enumerate(request.messages)
        ),
        max_tokens=checks.whole(request.max_tokens or DEFAULT_TOKENS, "max_tokens", 1, MAX_TOKENS),
        temperature=checks.real(request.temperature, "temperature", 0, MAX_TEMPERATURE),
        seed=request.seed if request.HasField("seed") else None,
        stop=tuple(
            checks.bounded_text(stop, f"stop[{index}]", MAX_STOP_CHARS, least=1)
            for index, stop in enumerate(request.stop)
        ),
        schema=json_object(request.schema_json, "schema_json", MAX_SCHEMA_BYTES)
        if request.schema_json
        else None,
        priority=PRIORITIES.domain_or(request.priority, "priority", Priority.INTERACTIVE),
        deadline_seconds=checks.real(
            request.deadline_seconds or DEFAULT_DEADLINE_SECONDS, "deadline_seconds", 0, MAX_DEADLINE_SECONDS
        ),
    )


def _message_from_wire(message: sessions_pb2.Message, field: str, now: float) -> Message:
    return Message(
        role=ROLES.domain(message.role, f"{field}.role"),
        content=json_value(message.content_json, f"{field}.content_json", max_bytes=4 << 20),
        metadata=json_object(message.metadata_json, f"{field}.metadata_json"),
        timestamp=_time(message, f"{field}.time", now),
    )


def _time(message: sessions_pb2.Message, field: str, now: float) -> datetime:
    if not message.HasField("time"):
        return datetime.fromtimestamp(now, UTC)
    try:
        return message.time.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"{field} must be in the years 1 to 9999.", reason="OUT_OF_RANGE", field=field
        ) from None


def chunk_to_wire(chunk: LLMChunk) -> pb.GenerateResponse:
    usage = chunk.usage
    return pb.GenerateResponse(
        text=plain_text(chunk.text),
        finish_reason=FINISH_REASONS.wire(chunk.finish_reason),
        usage=pb.TokenUsage(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
        )
        if usage is not None
        else None,
    )


def engine_to_wire(engine: EngineSnapshot, metrics: EngineMetrics | None = None) -> pb.Engine:
    return pb.Engine(
        metrics=_metrics_to_wire(metrics) if metrics else None,
        state=ENGINE_STATES.wire(engine.state),
        model=engine.model,
        activity=plain_text(engine.activity),
        progress=engine.progress,
        error=plain_text(engine.error),
        restarts=engine.restarts,
    )


def _metrics_to_wire(metrics: EngineMetrics) -> pb.EngineMetrics:
    return pb.EngineMetrics(
        running_requests=metrics.running_requests,
        waiting_requests=metrics.waiting_requests,
        prompt_tokens=metrics.prompt_tokens,
        cached_tokens=metrics.cached_tokens,
        completion_tokens=metrics.completion_tokens,
        tokens_per_second=metrics.tokens_per_second,
        first_token_seconds=metrics.first_token_seconds,
        cache_fraction=metrics.cache_fraction,
        read_tokens=metrics.read_tokens,
    )


def models_to_wire(models: Sequence[ModelInfo]) -> list[pb.Model]:
    return [
        pb.Model(
            name=model.name,
            digest=model.digest,
            size_bytes=model.size_bytes,
            licence=model.licence,
            description=plain_text(model.description),
            context_length=model.context_length,
            present=model.present,
            loaded=model.loaded,
            default=model.default,
            metadata_json=json_text(model.metadata) if model.metadata else "",
            base_model=model.base_model,
        )
        for model in models
    ]
