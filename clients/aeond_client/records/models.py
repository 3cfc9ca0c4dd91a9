# Generated from protos/ by `make proto`; never edited.
"""Models and their engine."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model of the catalogue."""

    name: str
    """Its name; unique."""
    description: str
    """A description for people."""
    licence: str
    """Its licence."""
    size_bytes: int
    """The size of its file."""
    context_length: int
    """In tokens, prompt and answer together."""
    digest: str
    """The sha256 of its content."""
    present: bool = False
    """Whether it is downloaded."""
    loaded: bool = False
    """Whether it is resident."""
    default: bool = False
    """Whether it is used for requests that name no model."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Free additions, a JSON object. Empty: none."""
    base_model: str = ""
    """The base model of a LoRA adapter. Empty: not an adapter."""


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """Metrics of an engine, since the daemon started unless stated otherwise."""

    running_requests: int = 0
    """Requests in progress."""
    waiting_requests: int = 0
    """Waiting requests."""
    prompt_tokens: int = 0
    """Prompt tokens."""
    cached_tokens: int = 0
    """Prompt tokens served from the prefix cache."""
    completion_tokens: int = 0
    """Generated tokens."""
    tokens_per_second: float = 0.0
    """Generated tokens per second, recently."""
    first_token_seconds: float = 0.0
    """Median time to the first token of recent answers."""
    cache_fraction: float = 0.0
    """Fill level of the engine's cache, 0 to 1."""
    read_tokens: int = 0
    """Prompt tokens processed by the engine, by its own count since it started, including warm-up. 0:
    not reported."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine as clients see it."""

    state: str
    """The lifecycle state."""
    model: str = ""
    """The resident or loading model. Empty: none."""
    activity: str = ""
    """The current activity besides requests: waiting to load (until requests of another model end),
    downloading, verifying, loading, preparing or waking in state STARTING, reading ahead in state
    READY. Empty: none."""
    progress: float = 0.0
    """Progress of the activity, 0 to 1. 0 also if unknown."""
    error: str = ""
    """The cause of its death, for people. Empty: none."""
    restarts: int = 0
    """The number of restarts after a death."""
    metrics: EngineMetrics | None = None
    """Metrics of the engine. Not set: none."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of an answer."""

    text: str
    """The piece. Empty: only in the last response."""
    finish_reason: str = ""
    """Why the answer ended; set in the last response."""
    prompt_tokens: int = 0
    """Tokens of the prompt."""
    completion_tokens: int = 0
    """Tokens of the answer."""
    cached_tokens: int = 0
    """Prompt tokens served from the prefix cache."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vector of a text."""

    values: tuple[float, ...] = ()
    """The coordinates; the vector has the length 1."""


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of the texts."""

    model: str
    """The embedding model. Vectors of models of different names must not be compared."""
    embeddings: tuple[Embedding, ...] = ()
    """One for each text, in order. Empty: there were no texts."""
