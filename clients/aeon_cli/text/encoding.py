"""Converts records to JSON values for `--json`."""

import re
from dataclasses import fields, is_dataclass
from typing import Any

from aeond_client.events import Event, UnknownKind

_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


def plain(record: Any) -> Any:
    """A record as a JSON value with its field names; an event gets its kind as a name."""
    if isinstance(record, Event):
        return {
            "run_id": record.run_id,
            "seq": record.seq,
            "time": record.time,
            "elapsed_seconds": record.elapsed_seconds,
            "kind": kind_of(record),
            "data": plain(record.kind),
        }
    if is_dataclass(record):
        return {field.name: plain(getattr(record, field.name)) for field in fields(record)}
    if isinstance(record, dict):
        return {key: plain(value) for key, value in record.items()}
    if isinstance(record, (list, tuple)):
        return [plain(value) for value in record]
    return record


def kind_of(event: Event) -> str:
    """The name of an event's kind: StepEnded is `step_ended`."""
    if isinstance(event.kind, UnknownKind):
        return event.kind.name or "unknown"
    return _WORD_START.sub("_", type(event.kind).__name__).lower()
