"""Messages: the input of models and the output of agents."""

from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum

from aeond.domain.values import JsonValue
from aeond.frozen import frozen


class Role(StrEnum):
    """The author of a message. Adapters map `agent` to the name in the model's chat template."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"
    TOOL = "tool"


@frozen
class ModelToolCall:
    """A call that a model wrote. `arguments` is JSON text as written, which may be invalid; `call_id` connects the
    call with its result."""

    name: str
    arguments: str
    call_id: str = ""


@frozen
class Message:
    """One message: immutable, with its UTC time and free metadata.

    A message of the agent may have `tool_calls`. A message of a tool is the result of the call `call_id`.
    """

    role: Role
    content: JsonValue
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))  # noqa: TID251 - a label for people, no bound rests on it
    tool_calls: tuple[ModelToolCall, ...] = ()
    call_id: str = ""
