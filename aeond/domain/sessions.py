"""Sessions: conversations that own messages and runs and survive restarts."""

from collections.abc import Mapping
from dataclasses import field

from aeond.domain.messages import Role
from aeond.frozen import frozen

MAX_TITLE_CHARS = 200


@frozen
class Session:
    """A conversation. Times are Unix seconds; `uid` is whose it is (-1: not known)."""

    session_id: str
    title: str = ""
    created_time: float = 0.0
    changed_time: float = 0.0
    message_count: int = 0
    run_count: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    uid: int = -1

    @property
    def place(self) -> str:
        """Where it stands in lists: places compare as texts, and what changed last has the greatest."""
        return f"{self.changed_time:020.6f} {self.session_id}"


@frozen
class SessionMessage:
    """A request in the user's own words, or the answer of its run. Numbers rise in the order in which
    messages came; `time` is Unix seconds."""

    number: int
    run_id: str
    role: Role
    text: str
    time: float


@frozen
class SessionDigest:
    """What stands for the oldest messages of a session, up to the request numbered `through`.

    `goal`, `kept` and `questions` are the user's and the model's own words; `summary` need not be.
    """

    through: int = 0
    exchange_count: int = 0
    goal: str = ""
    kept: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    summary: str = ""


@frozen
class SessionPast:
    """What was said before a moment: the digest, the messages since it, and the runs of these requests that
    have not ended."""

    digest: SessionDigest = field(default_factory=SessionDigest)
    messages: tuple[SessionMessage, ...] = ()
    open_runs: frozenset[str] = frozenset()


@frozen
class SessionContext:
    """What a model is told of a session. `tokens` is what `text` costs as a prompt, by the model's own
    tokenizer, and never more than `max_tokens`; `kept` are the lines that are kept word for word from
    what is no longer there as a whole, `standing` the user's statements in `text` that hold for whatever is
    asked later; the counts are of exchanges (a request and its answer)."""

    text: str = ""
    tokens: int = 0
    max_tokens: int = 0
    kept: tuple[str, ...] = ()
    digested_count: int = 0
    whole_count: int = 0
    standing: tuple[str, ...] = ()
