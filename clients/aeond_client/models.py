"""Models and the engine that runs one of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model of the catalogue; `digest` is the sha256 of its content, `size_bytes` its file on disk."""

    name: str
    description: str
    licence: str
    size_bytes: int
    context_length: int
    digest: str
    present: bool = False
    loaded: bool = False
    default: bool = False
    base_model: str = ""  # that this one is a LoRA adapter of


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """What is measured of an engine, since the daemon started; `cached_tokens` is the part of the prompts that was
    read before, `read_tokens` what the engine read by its own count, the rest is of lately and of now."""

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
    """The engine: its state, what it does (`activity`) and how far it is (`progress`, 0..1)."""

    state: str
    model: str = ""
    activity: str = ""
    progress: float = 0.0
    error: str = ""
    restarts: int = 0
    metrics: EngineMetrics | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of generated text; the last one has `finish_reason` set and counts the tokens."""

    text: str
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
