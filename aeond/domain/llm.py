"""Requests to models and their answers."""

from collections.abc import Sequence
from dataclasses import field, replace
from enum import StrEnum

from aeond.domain.messages import Message, ModelToolCall
from aeond.domain.values import JsonObject
from aeond.frozen import frozen


class FinishReason(StrEnum):
    STOP = "stop"  # the model ended the answer, or a stop string occurred
    LENGTH = "length"  # max_tokens was reached: the text is cut


class Priority(StrEnum):
    INTERACTIVE = "interactive"
    BACKGROUND = "background"


@frozen
class TokenUsage:
    """Tokens of one or more calls; `cached_tokens` is the part of the prompt served from the prefix cache."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class ToolChoice(StrEnum):
    """Whether a model that is offered tools must call one."""

    AUTO = "auto"
    REQUIRED = "required"


@frozen
class ToolSchema:
    """A tool as it is offered to a model that calls tools natively: `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: JsonObject


@frozen
class LLMRequest:
    """One request to a model.

    With `schema` (JSON Schema) the text is JSON that satisfies it, unless cut by `max_tokens`. With `tools`, which
    exclude a schema, the model answers with calls, with text, or with both. `stop` strings
    end the answer and are not part of it. With `fixed` all messages but the last are the same in every request of this kind and hold
    nothing of a user's: an engine may keep what it has read of them. `likely` is for how many of the likeliest first tokens the probability is
    reported; a server that cannot report them answers without. `deadline_seconds` bounds the whole call from the time the engine
    is ready; the call waits for an engine that is starting as long as the caller's time allows.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 512
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: JsonObject | None = None
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: ToolChoice = ToolChoice.AUTO
    likely: int = 0
    fixed: bool = False
    priority: Priority = Priority.INTERACTIVE
    deadline_seconds: float = 300.0

    @property
    def reads_ahead(self) -> bool:
        """Whether the only purpose is that the engine has read the prompt."""
        return self.priority is Priority.BACKGROUND and self.max_tokens == 1


@frozen
class Timing:
    """Latency of an answer, from the start of the successful attempt: to the first token, and in total; and the wall clock's time of its
    end, in seconds since the epoch. 0: not measured.
    """

    first_token_seconds: float = 0.0
    engine_seconds: float = 0.0
    end_time: float = 0.0


@frozen
class LikelyToken:
    """A token that the answer could have begun with, and the natural logarithm of its probability. A schema is not
    taken into account."""

    text: str
    logprob: float


@frozen
class LLMResponse:
    """The complete answer with exact token counts. `likely` has the likeliest first tokens, if they were requested and
    the server reports them.
    """

    text: str
    usage: TokenUsage
    model: str
    finish_reason: FinishReason
    timing: Timing = Timing()
    tool_calls: tuple[ModelToolCall, ...] = ()
    likely: tuple[LikelyToken, ...] = ()


@frozen
class LLMChunk:
    """A part of an answer; the last chunk has `finish_reason`, `usage`, the tool calls and the likely first tokens, and
    may have no text. `pieces` is in how many pieces the engine sent its text: about its tokens."""

    text: str
    finish_reason: FinishReason | None = None
    usage: TokenUsage | None = None
    timing: Timing = Timing()
    tool_calls: tuple[ModelToolCall, ...] = ()
    likely: tuple[LikelyToken, ...] = ()
    pieces: int = 1


def response_of(chunks: Sequence[LLMChunk], model: str) -> LLMResponse:
    """The answer of which these are all chunks."""
    last = chunks[-1]
    assert last.usage is not None
    assert last.finish_reason is not None
    text = "".join(chunk.text for chunk in chunks)
    return LLMResponse(text, last.usage, model, last.finish_reason, last.timing, last.tool_calls, last.likely)


@frozen
class LLMCapabilities:
    """Abilities of an adapter. `context_length` is in tokens, for prompt and answer together. `tool_calls` is
    whether the loaded model calls tools natively, `likely` whether the probabilities of first tokens are reported."""

    schema: bool
    context_length: int
    tokenizer: bool = True
    tool_calls: bool = False
    likely: bool = False


class EngineState(StrEnum):
    """The lifecycle state of an engine."""

    COLD = "cold"
    STARTING = "starting"
    READY = "ready"
    ASLEEP = "asleep"
    DEAD = "dead"


@frozen
class EngineSnapshot:
    """The engine as clients see it: state, progress (0..1), current activity, and last error."""

    state: EngineState
    model: str = ""
    activity: str = ""  # "downloading", "verifying", "loading", "preparing"; in state READY "reading ahead"
    progress: float = 0.0
    error: str = ""
    restarts: int = 0

    def resembles(self, other: "EngineSnapshot") -> bool:
        """Whether nothing but the progress differs."""
        return replace(self, progress=0.0) == replace(other, progress=0.0)


@frozen
class EngineMetrics:
    """Metrics of an engine. Tokens are counted since the daemon started. `cached_tokens` is the part of the
    prompts served from the prefix cache. `read_tokens` is the number of prompt tokens that the engine
    processed, by its own count since it started, including prompts that were warmed up (0: not reported).
    `tokens_per_second` and `first_token_seconds` (a median) cover the most recent answers. `cache_fraction`
    is the fill level of the engine's cache (0..1).
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


@frozen
class ModelInfo:
    """A model of the catalogue. `size_bytes` is the size of its file, `digest` the sha256 of its content."""

    name: str
    digest: str = ""
    size_bytes: int = 0
    licence: str = ""
    description: str = ""
    context_length: int = 0
    present: bool = False
    loaded: bool = False
    default: bool = False
    base_model: str = ""  # the base model of a LoRA adapter; "" for a base model
    metadata: JsonObject = field(default_factory=dict)


@frozen
class Embedding:
    """A text as a unit vector."""

    values: tuple[float, ...]


@frozen
class Embeddings:
    """The vectors of several texts, in order, by the model of this name."""

    model: str
    embeddings: tuple[Embedding, ...] = ()
