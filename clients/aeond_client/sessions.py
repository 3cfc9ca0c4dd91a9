"""Sessions: conversations that own messages and runs."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation; times are Unix times in seconds, `uid` is its owner (-1: unknown)."""

    session_id: str
    title: str = ""
    created_time: float = 0.0
    changed_time: float = 0.0
    message_count: int = 0
    run_count: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    uid: int = -1


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message: `role` is "user" for a request, "agent" for the answer of its run."""

    role: str
    text: str
    run_id: str
    time: float


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The context that a model would see: `text`, with a size of `tokens` out of `max_tokens`.

    `kept` are lines quoted from exchanges (a request and its answer) that are otherwise summarised;
    `digested_count` is the number of those, `whole_count` the number of exchanges included in full.
    """

    text: str
    tokens: int
    max_tokens: int
    kept: tuple[str, ...] = ()
    digested_count: int = 0
    whole_count: int = 0
