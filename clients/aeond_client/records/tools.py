# Generated from protos/ by `make proto`; never edited.
"""Tools as a client sees them."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class RecordedEffect:
    """A change made by a call, as reported by its tool."""

    kind: str
    """Dotted lower-case words, the last one a past participle, such as file.created or fact.remembered;
    never empty. effects.omitted ends a list that was too long; its target is the number of effects left
    out. Clients show unknown kinds too."""
    target: str
    """The changed thing: a path, a key; never empty."""
    detail: str = ""
    """More details, such as "120 bytes". Empty: none."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call."""

    tool: str
    """The tool's name; never empty."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The arguments object. Empty: no arguments."""
    call_id: str = ""
    """Identifies the call. Empty: the daemon creates an id."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The description of a tool for models and clients."""

    name: str
    """Unique among the tools; never empty."""
    description: str
    """Its purpose, for models and people."""
    effect: str
    """The effect of a call."""
    input_schema: dict[str, Any]
    """JSON Schema of the arguments; never empty."""
    output_schema: dict[str, Any]
    """JSON Schema of the result's data; never empty."""
    idempotent: bool = False
    """Whether two equal calls have the effect of one. False: unknown."""
    example: dict[str, Any] | None = None
    """One valid arguments object. Empty: no example."""
    timeout_seconds: float = 0.0
    """The time limit of one call in seconds. 0 in an offer: the daemon's default."""
    max_output_bytes: int = 0
    """The size limit of a result as JSON text in bytes. 0 in an offer: the daemon's default."""
    recovery: str = ""
    """How a restart treats an interrupted call. Ignored in an offer: follows from effect and
    idempotent."""
    source: str = ""
    """The provider: empty for the daemon itself, else the name of the client or server that offers
    it."""
    offered: bool = False
    """Whether models see the tool in every run. Ignored in an offer."""
    digest: str = ""
    """What tools.accepted must contain before models see the tool: its name and a digest of its
    description. Empty: the daemon's own tool. Ignored in an offer."""
    unavailable: str = ""
    """Why the tool cannot be called now, for people. Empty: it can. Ignored in an offer."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: errors are data."""

    success: bool
    """Whether the call succeeded."""
    data: Any = None
    """The result. Empty: none, because the call failed."""
    error: str = ""
    """The cause of a failure, for people. Empty: it did not fail."""
    reason: str = ""
    """The cause of a failure, for programs: a stable UPPER_SNAKE word. Empty: it did not fail."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Timing and resources, a JSON object; contains at least duration_seconds."""
    effects: tuple[RecordedEffect, ...] = ()
    """The changes made by the call, in order. Empty: the tool reported none."""
    taint: tuple[str, ...] = ()
    """Untrusted sources of the result. Empty: none."""

    @property
    def duration_seconds(self) -> float:
        return float(self.metadata.get("duration_seconds", 0.0))
