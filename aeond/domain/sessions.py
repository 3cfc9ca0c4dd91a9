"""Sessions: conversations that own messages and runs and survive restarts."""

from collections.abc import Mapping
from dataclasses import field

from aeond.domain.messages import Role
from aeond.frozen import frozen

MAX_TITLE_CHARS = 200


@frozen
class Session:
    """A conversation. Times are Unix seconds; `uid` is its owner (-1: unknown)."""

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
        """The sort key in lists: keys compare as text, and the most recently changed session has the
        greatest.
        """
        return f"{self.changed_time:020.6f} {self.session_id}"


@frozen
class SessionMessage:
    """A request in the user's own words, the answer of its run, or (`of_question`) a question that the run asked
    the user, and the user's answer to it. Numbers increase in the order of recording; `time` is Unix seconds.
    """

    number: int
    run_id: str
    role: Role
    text: str
    time: float
    of_question: bool = False


@frozen
class AnsweredQuestion:
    """A question that a run asked the user, with the user's answer. Times are Unix seconds."""

    question: str
    asked_time: float
    answer: str
    answered_time: float


@frozen
class SessionDigest:
    """A summary of the oldest messages of a session, up to the request numbered `through`.

    `goal`, `kept` and `questions` quote the user and the model; `summary` may paraphrase. `taint` names the untrusted
    sources that the summarised runs had read.
    """

    through: int = 0
    exchange_count: int = 0
    goal: str = ""
    kept: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    summary: str = ""
    taint: tuple[str, ...] = ()


@frozen
class SessionPast:
    """The history before a point in time: the digest, the messages since then, and the unfinished runs of
    these requests. `taint` names the untrusted sources that all these runs have read.
    """

    digest: SessionDigest = field(default_factory=SessionDigest)
    messages: tuple[SessionMessage, ...] = ()
    open_runs: frozenset[str] = frozenset()
    taint: tuple[str, ...] = ()


@frozen
class SessionContext:
    """The session part of a prompt. `tokens` is the size of `text` by the model's own tokenizer, at most
    `max_tokens`. `kept` are lines quoted from exchanges that are no longer included in full, `standing` the
    user's latest statements, verbatim, `taint` the untrusted sources of `text`. The counts are of exchanges (a request
    and its
    answer).
    """

    text: str = ""
    tokens: int = 0
    max_tokens: int = 0
    kept: tuple[str, ...] = ()
    digested_count: int = 0
    whole_count: int = 0
    standing: tuple[str, ...] = ()
    taint: tuple[str, ...] = ()
