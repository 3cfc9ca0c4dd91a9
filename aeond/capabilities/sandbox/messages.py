"""What daemon and runner say to each other: a line of JSON, and the bytes that it announces.

One connection carries one request and one reply. The daemon keeps its end open for as long as it wants
the answer: a runner whose connection closes ends. The runner imports this file, so it imports little.
"""

import json
from dataclasses import asdict, field
from enum import StrEnum
from typing import Any, BinaryIO, Final

from aeond.domain.tools import ToolContext
from aeond.domain.values import NO_ARGUMENTS, JsonObject, JsonValue
from aeond.frozen import frozen

MAX_PARCEL_BYTES: Final = 64 << 20
"""The most that a workspace which travels may hold."""


class Errand(StrEnum):
    """What a runner is to do with a tool file."""

    DESCRIBE = "describe"  # tell the specs of its tools
    EXECUTE = "execute"
    RECONCILE = "reconcile"


class Outcome(StrEnum):
    """What a tool may return: data, or what must happen first."""

    DATA = "data"
    INPUT = "input"  # an InputRequest
    SUBTASK = "subtask"  # a SubtaskRequest


@frozen
class Limits:
    """What one errand may use: seconds, and bytes of memory for each of its processes."""

    seconds: float
    memory_bytes: int


@frozen
class Request:
    """A tool file, and what is wanted of it. `parcel` is the workspace where it has to travel."""

    errand: Errand
    path: str
    source: bytes
    limits: Limits
    tool: str = ""
    arguments: JsonObject = field(default_factory=lambda: NO_ARGUMENTS)
    context: ToolContext = field(default_factory=lambda: ToolContext("", "", "", ""))
    parcel: bytes | None = None

    def encoded(self) -> bytes:
        head = {
            "errand": self.errand,
            "path": self.path,
            "source_bytes": len(self.source),
            "limits": asdict(self.limits),
            "tool": self.tool,
            "arguments": self.arguments,
            "context": asdict(self.context),
            "parcel_bytes": None if self.parcel is None else len(self.parcel),
        }
        return json.dumps(head).encode() + b"\n" + self.source + (self.parcel or b"")

    @classmethod
    def read(cls, wire: BinaryIO) -> "Request":
        """The request that comes on a wire. EOFError when the daemon left before it was complete."""
        head = json.loads(wire.readline() or _cut())
        source = exactly(wire, head["source_bytes"])
        parcel = None if head["parcel_bytes"] is None else exactly(wire, head["parcel_bytes"])
        return cls(
            errand=Errand(head["errand"]),
            path=head["path"],
            source=source,
            limits=Limits(**head["limits"]),
            tool=head["tool"],
            arguments=head["arguments"],
            context=ToolContext(**head["context"]),
            parcel=parcel,
        )


@frozen
class Reply:
    """What came of an errand: a value, or why there is none. Nothing in it is to be believed.

    `outcome` says what the value stands for; a request travels as the object of its fields. `parcel` holds the files of a travelled workspace that are new or changed, `removed` those that are gone.
    """

    value: JsonValue = None
    outcome: Outcome = Outcome.DATA
    error: str = ""
    reason: str = ""
    retryable: bool = False
    removed: tuple[str, ...] = ()
    parcel: bytes = b""

    def encoded(self) -> bytes:
        head = {
            "value": self.value,
            "outcome": self.outcome,
            "error": self.error,
            "reason": self.reason,
            "retryable": self.retryable,
            "removed": self.removed,
            "parcel_bytes": len(self.parcel),
        }
        return json.dumps(head).encode() + b"\n" + self.parcel


@frozen
class ReplyHead:
    """The line of a reply, checked: the shape is right, whatever the contents."""

    value: JsonValue
    outcome: Outcome
    error: str
    reason: str
    retryable: bool
    removed: tuple[str, ...]
    parcel_bytes: int

    @classmethod
    def read(cls, line: bytes) -> "ReplyHead":
        """Raises ValueError for anything but the line of a reply."""
        try:
            head: Any = json.loads(line)
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        if not isinstance(head, dict):
            raise ValueError("it is no object")  # noqa: TRY004 - one class for whatever is wrong with it
        size, removed = head.get("parcel_bytes"), head.get("removed")
        if type(size) is not int or not 0 <= size <= MAX_PARCEL_BYTES:
            raise ValueError("its parcel has no size")
        if not isinstance(removed, list) or not all(isinstance(name, str) for name in removed):
            raise ValueError("what it removed are no names")
        said, reason = head.get("error"), head.get("reason")
        if not isinstance(said, str) or not isinstance(reason, str):
            raise ValueError("its error is no text")  # noqa: TRY004 - the same
        outcome = Outcome(str(head.get("outcome")))
        retryable = head.get("retryable") is True
        return cls(head.get("value"), outcome, said, reason, retryable, tuple(removed), size)

    def reply(self, parcel: bytes) -> Reply:
        return Reply(self.value, self.outcome, self.error, self.reason, self.retryable, self.removed, parcel)


def exactly(wire: BinaryIO, count: int) -> bytes:
    """The next `count` bytes; EOFError when fewer come."""
    read = wire.read(count)
    if len(read) != count:
        _cut()
    return read


def _cut() -> bytes:
    raise EOFError("the daemon left before its request was complete")
