"""Models and their engine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model of the catalogue; `digest` is the sha256 of its content, `size_bytes` the size of its file."""

    name: str
    description: str
    licence: str
    size_bytes: int
    context_length: int
    digest: str
    present: bool = False
    loaded: bool = False
    default: bool = False
    base_model: str = ""  # the base model of a LoRA adapter


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """Metrics of an engine. Token counts are since the daemon started: `cached_tokens` is the part of the
    prompts served from the prefix cache, `read_tokens` the engine's own count of prompt tokens processed. The
    other values are recent or current.
    """

    running_requests: int = 0
    waiting_requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    tokens_per_second: float = 0.0
    first_token_seconds: float = 0.0
    cache_fraction: float = 0.0
    read_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine: its state, its `activity` and its `progress` (0..1)."""

    state: str
    model: str = ""
    activity: str = ""
    progress: float = 0.0
    error: str = ""
    restarts: int = 0
    metrics: EngineMetrics | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of generated text; the last one has `finish_reason` and the token counts."""

    text: str
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
