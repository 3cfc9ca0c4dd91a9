"""What is asked of a model and what it answers."""

from dataclasses import field
from enum import StrEnum

from aeond.domain.messages import Message
from aeond.domain.values import JsonObject
from aeond.frozen import frozen


class FinishReason(StrEnum):
    STOP = "stop"  # the model ended, or a stop text came
    LENGTH = "length"  # max_tokens came first: the text is cut


class Priority(StrEnum):
    INTERACTIVE = "interactive"
    BACKGROUND = "background"


@frozen
class TokenUsage:
    """Tokens of one or more calls; `cached_tokens` is the part of the prompt that cost nothing."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@frozen
class LLMRequest:
    """One question to a model.

    With `schema` (JSON Schema) the text is JSON that satisfies it, unless cut by `max_tokens`. `stop`
    texts end the answer and are not part of it. `deadline_seconds` bounds the whole call from the moment
    that the engine is up; an engine that is starting is waited for, as far as the caller's time allows.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 512
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: JsonObject | None = None
    priority: Priority = Priority.INTERACTIVE
    deadline_seconds: float = 300.0


@frozen
class Timing:
    """How long an answer took, from when it was asked for in the attempt that succeeded: to its first token, and
    as a whole. 0: nobody measured."""

    first_token_seconds: float = 0.0
    engine_seconds: float = 0.0


@frozen
class LLMResponse:
    """The whole answer, with exact token counts."""

    text: str
    usage: TokenUsage
    model: str
    finish_reason: FinishReason
    timing: Timing = Timing()


@frozen
class LLMChunk:
    """A piece of an answer; the last one has `finish_reason` and `usage` set, and may have no text."""

    text: str
    finish_reason: FinishReason | None = None
    usage: TokenUsage | None = None
    timing: Timing = Timing()


@frozen
class LLMCapabilities:
    """What an adapter can do. `context_length` is in tokens, prompt and answer together."""

    streaming: bool
    schema: bool
    context_length: int
    tokenizer: bool = True
    embeddings: bool = False
    sleep: bool = False
    priority: bool = False


class EngineState(StrEnum):
    """The place of an engine in its life."""

    COLD = "cold"
    STARTING = "starting"
    READY = "ready"
    ASLEEP = "asleep"
    DEAD = "dead"


@frozen
class EngineSnapshot:
    """What clients see of the engine: its state, how far (0..1) and with what, and the last error."""

    state: EngineState
    model: str = ""
    activity: str = ""  # "downloading", "verifying", "loading", "preparing"; when READY "reading ahead"
    progress: float = 0.0
    error: str = ""
    restarts: int = 0


@frozen
class EngineMetrics:
    """What is measured of an engine. Tokens are counted since the daemon started; `cached_tokens` is the part of the
    prompts that was read before, `read_tokens` what the engine had to read by its own count since it started,
    prompts that were read ahead included (0: it does not say). `tokens_per_second` and `first_token_seconds` (the
    middle one) are of the last answers; `cache_fraction` is how full the engine's cache is (0..1)."""

    running_requests: int = 0
    waiting_requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    tokens_per_second: float = 0.0
    first_token_seconds: float = 0.0
    cache_fraction: float = 0.0
    read_tokens: int = 0


@frozen
class ModelInfo:
    """A model of the catalogue. `size_bytes` is its file on disk, `digest` the sha256 of its content."""

    name: str
    digest: str
    size_bytes: int
    licence: str
    description: str
    context_length: int
    present: bool = False
    loaded: bool = False
    default: bool = False
    base_model: str = ""  # that this one is a LoRA adapter of; "" for a model of its own
    metadata: JsonObject = field(default_factory=dict)
