# Generated from protos/ by `make proto`; never edited.
"""Sessions: conversations that own messages and runs. Times are Unix times in seconds."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation."""

    session_id: str
    """The session's id; ids sort by creation."""
    title: str = ""
    """A line for lists. Empty: none yet."""
    created_time: float = 0.0
    """The time of its creation."""
    changed_time: float = 0.0
    """The time of its last change."""
    message_count: int = 0
    """The number of its messages."""
    run_count: int = 0
    """The number of its runs."""
    labels: dict[str, str] = field(default_factory=dict)
    """Free words chosen by the client."""
    uid: int = -1
    """The user id of its creator; -1 if unknown."""


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message."""

    role: str
    """The author."""
    text: str
    run_id: str
    """The run it came from. Empty: none."""
    time: float
    """Its time. Not set in a request: now."""


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The context of a session."""

    text: str
    """The context as the model reads it. Empty: there are no messages yet."""
    tokens: int
    """Its size in tokens of the resident model."""
    max_tokens: int
    """The maximum size."""
    kept: tuple[str, ...] = ()
    """Lines of the text that are quoted from exchanges that are no longer included in full: the first
    request, binding statements, open questions. Empty: all exchanges are included in full."""
    digested_count: int = 0
    """The number of exchanges (a request and its answer) that are summarised."""
    whole_count: int = 0
    """The number of exchanges included in full."""
    taint: tuple[str, ...] = ()
    """Untrusted sources that runs of the session have read: they taint a run that gets this context.
    Empty: none."""
