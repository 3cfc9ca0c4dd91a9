"""The protocol between daemon and runner: a line of JSON, followed by the bytes that it announces.

One connection carries one request, then lines with live text, if any, and one reply. The daemon keeps its end open while it waits for the reply;
a runner whose connection closes exits. The runner imports this file, so it imports little itself.
"""

import json
from dataclasses import asdict, field, replace
from enum import StrEnum
from typing import Any, BinaryIO, Final

from aeond.domain.tools import ToolContext, ignore_effect
from aeond.domain.values import NO_ARGUMENTS, JsonObject, JsonValue
from aeond.frozen import frozen

MAX_PARCEL_BYTES: Final = 64 << 20
"""Maximum content of a workspace that is transferred."""


class Errand(StrEnum):
    """The operation that a runner performs with a tool file."""

    DESCRIBE = "describe"  # describe the tools of the file
    EXECUTE = "execute"
    RECONCILE = "reconcile"


class Outcome(StrEnum):
    """What a tool may return: data, or a request."""

    DATA = "data"
    INPUT = "input"  # an InputRequest
    SUBTASK = "subtask"  # a SubtaskRequest


@frozen
class Limits:
    """Resource limits of one errand: seconds, and bytes of memory for each of its processes."""

    seconds: float
    memory_bytes: int


@frozen
class Request:
    """A tool file and an operation. `parcel` is an archive of the workspace, if it must be transferred."""

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
            "context": {
                name: value
                for name, value in asdict(replace(self.context, grant=None, record=ignore_effect)).items()
                if name not in ("grant", "record")
            },
            "parcel_bytes": None if self.parcel is None else len(self.parcel),
        }
        return json.dumps(head).encode() + b"\n" + self.source + (self.parcel or b"")

    @classmethod
    def read(cls, wire: BinaryIO) -> "Request":
        """Reads the request from the connection. EOFError if the daemon disconnects before it is complete."""
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
    """The result of an errand: a value or an error. Its content is untrusted.

    `outcome` is the kind of value; a request is transferred as the object of its fields. `parcel` contains
    the new and changed files of a transferred workspace, `removed` the names of deleted ones. Each of `effects`
    is the kind, target and detail of a change reported by the tool, also by one that failed.
    """

    value: JsonValue = None
    outcome: Outcome = Outcome.DATA
    effects: tuple[tuple[str, ...], ...] = ()
    error: str = ""
    reason: str = ""
    retryable: bool = False
    removed: tuple[str, ...] = ()
    parcel: bytes = b""

    def encoded(self) -> bytes:
        head = {
            "value": self.value,
            "outcome": self.outcome,
            "effects": self.effects,
            "error": self.error,
            "reason": self.reason,
            "retryable": self.retryable,
            "removed": self.removed,
            "parcel_bytes": len(self.parcel),
        }
        return json.dumps(head).encode() + b"\n" + self.parcel


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; ValueError if it has a key twice."""
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("an object has a key twice")
    return unique


def read_head(line: bytes) -> tuple[Reply, int]:
    """The reply of a header line, without its parcel, and the size of that. The form has been validated, the content has not.

    Raises ValueError if the line is not a valid header.
    """
    try:
        head: Any = json.loads(line, object_pairs_hook=_unique_keys)
    except RecursionError as error:
        raise ValueError("header is nested too deeply") from error
    if not isinstance(head, dict):
        raise ValueError("header must be a JSON object")  # noqa: TRY004 - one class for whatever is wrong with it
    size, removed = head.get("parcel_bytes"), head.get("removed")
    if type(size) is not int or not 0 <= size <= MAX_PARCEL_BYTES:
        raise ValueError("header is missing the size of the workspace archive")
    if not isinstance(removed, list) or not all(isinstance(name, str) for name in removed):
        raise ValueError("`removed` must be a list of file names")
    said, reason = head.get("error"), head.get("reason")
    if not isinstance(said, str) or not isinstance(reason, str):
        raise ValueError("`error` must be a string")  # noqa: TRY004 - the same
    outcome = Outcome(str(head.get("outcome")))
    retryable = head.get("retryable") is True
    effects = _effects(head.get("effects"))
    return Reply(head.get("value"), outcome, effects, said, reason, retryable, tuple(removed)), size


def _effects(given: Any) -> tuple[tuple[str, ...], ...]:
    """The effects of a reply. ValueError when one is not a list of three texts."""
    if not isinstance(given, list):
        raise ValueError("`effects` must be a list")  # noqa: TRY004 - the same
    for effect in given:
        if not isinstance(effect, list) or len(effect) != 3 or not all(isinstance(t, str) for t in effect):
            raise ValueError("an effect must be a list of three texts")
    return tuple(tuple(effect) for effect in given)


def live_line(text: str) -> bytes:
    """A line with text that is shown while the errand continues."""
    return b'{"live":' + json.dumps(text).encode() + b"}\n"


def live_text(line: bytes) -> str | None:
    """The text of a line of live text; None for any other line. ValueError if it has another form."""
    if not line.startswith(b'{"live":'):
        return None
    try:
        text: Any = json.loads(line)["live"]
    except RecursionError as error:
        raise ValueError("live text is nested too deeply") from error
    if not isinstance(text, str):
        raise ValueError("live text must be a string")  # noqa: TRY004 - one class for whatever is wrong with it
    return text


def exactly(wire: BinaryIO, count: int) -> bytes:
    """The next `count` bytes; EOFError if fewer arrive."""
    read = wire.read(count)
    if len(read) != count:
        _cut()
    return read


def _cut() -> bytes:
    raise EOFError("the daemon disconnected before its request was complete")
