"""Tools as a client sees them."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The name, arguments, result and effect of a tool. Schemas are JSON Schema; `source` is its provider (""
    for the daemon itself).
    """

    name: str
    description: str
    effect: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    example: dict[str, Any] | None = None
    idempotent: bool = False
    timeout_seconds: float = 0.0
    max_output_bytes: int = 0
    source: str = ""


@dataclass(frozen=True, slots=True)
class RecordedEffect:
    """A change made by a call: `kind` is dotted words such as `file.created`, `target` the changed thing."""

    kind: str
    target: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call. A failing tool is a result: `error` for people, `reason` for programs. `effects` are
    the changes made by the call."""

    success: bool
    data: Any = None
    error: str = ""
    reason: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    effects: tuple[RecordedEffect, ...] = ()

    @property
    def duration_seconds(self) -> float:
        return float(self.metadata.get("duration_seconds", 0.0))
