"""Tools as a client sees them."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a tool is called, takes, gives and does to the world (`effect`). Schemas are JSON Schema;
    `source` is who serves it ("" for the daemon itself)."""

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
class ToolResult:
    """How a call went. A tool that fails is a result: `error` in plain words, `reason` for programs."""

    success: bool
    data: Any = None
    error: str = ""
    reason: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def duration_seconds(self) -> float:
        return float(self.metadata.get("duration_seconds", 0.0))
