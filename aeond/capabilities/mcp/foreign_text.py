"""Text of MCP servers: bounded, on one line, without control characters."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aeond.domain.values import short_line

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-_])")


def clean(text: object, most: int) -> str:
    """The text without escape sequences and invisible characters, cut after `most` characters."""
    plain = _ESCAPES.sub(" ", str(text)[: 4 * most])
    return short_line("".join(c if c.isprintable() else " " for c in plain), most)


def clean_schema(value: Any, most: int) -> Any:
    """A JSON value with every text in it cleaned, those in names of fields excepted."""
    if isinstance(value, str):
        return clean(value, most)
    if isinstance(value, Mapping):
        return {name: clean_schema(part, most) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [clean_schema(part, most) for part in value]
    return value
