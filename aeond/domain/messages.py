"""Messages: what agents answer and models read."""

from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum

from aeond.domain.values import JsonValue
from aeond.frozen import frozen


class Role(StrEnum):
    """Who speaks. Adapters map `agent` to what a model's chat template calls it."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"
    TOOL = "tool"


@frozen
class Message:
    """One thing said: immutable, with its UTC time and free metadata."""

    role: Role
    content: JsonValue
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))  # noqa: TID251 - a label for people, no bound rests on it
