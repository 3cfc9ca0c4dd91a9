"""Converts single values of wire messages: JSON text to values, times to seconds."""

import json
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp


def value(text: str) -> Any:
    """A JSON value from its text; None for empty text."""
    return json.loads(text) if text else None


def json_object(text: str) -> dict[str, Any]:
    """A JSON object from its text; empty for empty text."""
    return dict(json.loads(text)) if text else {}


def text(json_text: str) -> str:
    """The content of a message: its text, or its JSON text if it is another value."""
    content = value(json_text)
    return content if isinstance(content, str) else json_text


def seconds(timestamp: Timestamp) -> float:
    """Unix time in seconds."""
    return timestamp.seconds + timestamp.nanos / 1e9
