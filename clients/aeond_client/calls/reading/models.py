# Generated from protos/ by `make proto`; never edited.
"""Converts messages of models.proto to records."""

from aeond.api.v1 import models_pb2
from aeond_client.calls import values
from aeond_client.records import models


def model_info(wire: models_pb2.Model) -> models.ModelInfo:
    return models.ModelInfo(
        name=wire.name,
        description=wire.description,
        licence=wire.licence,
        size_bytes=wire.size_bytes,
        context_length=wire.context_length,
        digest=wire.digest,
        present=wire.present,
        loaded=wire.loaded,
        default=wire.default,
        metadata=values.json_object(wire.metadata_json),
        base_model=wire.base_model,
    )


def engine_metrics(wire: models_pb2.EngineMetrics) -> models.EngineMetrics:
    return models.EngineMetrics(
        running_requests=wire.running_requests,
        waiting_requests=wire.waiting_requests,
        prompt_tokens=wire.prompt_tokens,
        cached_tokens=wire.cached_tokens,
        completion_tokens=wire.completion_tokens,
        tokens_per_second=wire.tokens_per_second,
        first_token_seconds=wire.first_token_seconds,
        cache_fraction=wire.cache_fraction,
        read_tokens=wire.read_tokens,
    )


def engine(wire: models_pb2.Engine) -> models.Engine:
    return models.Engine(
        state=values.word(models_pb2.EngineState, wire.state),
        model=wire.model,
        activity=wire.activity,
        progress=wire.progress,
        error=wire.error,
        restarts=wire.restarts,
        metrics=engine_metrics(wire.metrics) if wire.HasField("metrics") else None,
    )


def text_piece(wire: models_pb2.GenerateResponse) -> models.TextPiece:
    return models.TextPiece(
        text=wire.text,
        finish_reason=values.chosen(models_pb2.FinishReason, wire.finish_reason),
        prompt_tokens=wire.usage.prompt_tokens,
        completion_tokens=wire.usage.completion_tokens,
        cached_tokens=wire.usage.cached_tokens,
    )


def embedding(wire: models_pb2.Embedding) -> models.Embedding:
    return models.Embedding(values=tuple(wire.values))


def embeddings(wire: models_pb2.EmbedResponse) -> models.Embeddings:
    return models.Embeddings(model=wire.model, embeddings=tuple(map(embedding, wire.embeddings)))
