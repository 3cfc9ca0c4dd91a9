"""The stored form of events: kind, version of the logic that wrote it, and JSON body.

Data that JSON or its parser cannot represent is rejected before it is written, so everything encoded can be
decoded. A body of an older version is upgraded when it is read, one version at a time; the stored text stays
unchanged.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from aeond.domain.runs.events import LOGIC_VERSION, Event, EventKind
from aeond.errors import InvalidInputError, ReplayError

# Limits one row; the limit of a tool's output is far lower.
MAX_BODY_BYTES = 16 << 20
MAX_RUN_ID_CHARS = 256

# Deep nesting and very large integers can be written as JSON but not parsed: a body that might contain either
# is parsed once before it is stored.
_SAFE_BRACKETS = 150
_SAFE_BYTES = 4_000

KINDS: Mapping[str, type[EventKind]] = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in get_args(EventKind)
}
_NAMES: Mapping[type, str] = {kind: name for name, kind in KINDS.items()}


class StoredEvent(NamedTuple):
    """An event as a row, in the order of the table's columns."""

    run_id: str
    seq: int
    time: float
    elapsed_seconds: float
    kind: str
    version: int
    body: str


Body = dict[str, Any]
Upcast = Callable[[str, Body], tuple[str, Body]]
"""Upgrades kind and body from one version to the next."""

# By version: the upgrade to the next one. Added fields with a default need none.
UPCASTS: Mapping[int, Upcast] = {}


def encode(event: Event) -> StoredEvent:
    """The event as a row. InvalidInputError (reason EVENT_NOT_JSON, EVENT_TOO_LARGE, RUN_ID_INVALID) if it
    cannot be stored and read back.
    """
    if not (math.isfinite(event.time) and math.isfinite(event.elapsed_seconds)):
        raise InvalidInputError(
            "an event's times must be numbers of seconds", reason="EVENT_NOT_JSON", field="time"
        )
    if not 0 < len(event.run_id) <= MAX_RUN_ID_CHARS or not event.run_id.isprintable():
        raise InvalidInputError(
            f"a run id must have 1 to {MAX_RUN_ID_CHARS} printable characters",
            reason="RUN_ID_INVALID",
            field="run_id",
        )
    try:
        body = to_json(event.kind, inf_nan_mode="constants")
        if len(body) > _SAFE_BYTES or body.count(b"{") + body.count(b"[") > _SAFE_BRACKETS:
            from_json(body, cache_strings="none")
    except (PydanticSerializationError, ValueError) as error:
        raise InvalidInputError(
            f"event {event.seq} of run {event.run_id} cannot be stored as JSON: {error}",
            reason="EVENT_NOT_JSON",
        ) from error
    if len(body) > MAX_BODY_BYTES:
        raise InvalidInputError(
            f"event {event.seq} of run {event.run_id} has {len(body)} bytes, the limit is"
            f" {MAX_BODY_BYTES}: reduce the output",
            reason="EVENT_TOO_LARGE",
        )
    kind = _NAMES[type(event.kind)]
    return StoredEvent(
        event.run_id, event.seq, event.time, event.elapsed_seconds, kind, LOGIC_VERSION, body.decode()
    )


def decode(stored: StoredEvent, upcasts: Mapping[int, Upcast] = UPCASTS) -> Event:
    """The event of a row. ReplayError (reason EVENT_NEWER, EVENT_UNKNOWN, EVENT_UNREADABLE) if this program
    cannot read it.
    """
    where = f"event {stored.seq} of run {stored.run_id}"
    if stored.version > LOGIC_VERSION:
        raise ReplayError(
            f"{where} was written by a newer version: update this program", reason="EVENT_NEWER"
        )
    try:
        kind, body = stored.kind, stored.body
        if any(version in upcasts for version in range(stored.version, LOGIC_VERSION)):
            kind, body = _bring_up_to_date(stored, upcasts)
        if kind not in KINDS:
            raise ReplayError(f"{where} has unknown type {kind}", reason="EVENT_UNKNOWN")
        content = _adapter(kind).validate_json(body)
    except (ValidationError, ValueError, KeyError) as error:
        raise ReplayError(f"{where} cannot be read: {error}", reason="EVENT_UNREADABLE") from error
    return Event(stored.run_id, stored.seq, stored.time, stored.elapsed_seconds, content)


def _bring_up_to_date(stored: StoredEvent, upcasts: Mapping[int, Upcast]) -> tuple[str, str]:
    kind, body = stored.kind, json.loads(stored.body)
    for version in range(stored.version, LOGIC_VERSION):
        if version in upcasts:
            kind, body = upcasts[version](kind, body)
    return kind, json.dumps(body, ensure_ascii=False)


# Built when first used: all of them together take a third of a second and 8 MB.
@cache
def _adapter(kind: str) -> TypeAdapter[EventKind]:
    return TypeAdapter(KINDS[kind])
