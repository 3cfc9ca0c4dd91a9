"""Sessions: conversations that own messages and runs."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation; times are Unix times in seconds, `uid` is whose it is (-1: not known)."""

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
    """Something said: `role` is "user" for a request, "agent" for the answer of its run."""

    role: str
    text: str
    run_id: str
    time: float


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What a model would be told of a session: `text`, which costs `tokens` of at most `max_tokens`.

    `kept` are its lines that are kept word for word from exchanges (a request and its answer) that are
    told only in short; `digested_count` is how many those are, `whole_count` how many are told as a whole.
    """

    text: str
    tokens: int
    max_tokens: int
    kept: tuple[str, ...] = ()
    digested_count: int = 0
    whole_count: int = 0
