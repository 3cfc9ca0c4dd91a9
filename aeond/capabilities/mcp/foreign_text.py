"""Text of MCP servers: bounded, on one line, without control characters."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aeond.domain.values import short_line

_EXACT: Final = frozenset(
    {
        *("const", "default", "enum", "examples", "pattern", "required"),
        *("$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$ref"),
    }
)
"""The keywords of a schema whose texts are compared with others: altered, they would mean something else."""

_BY_NAME: Final = frozenset(
    {
        *("$defs", "definitions", "properties", "patternProperties"),
        *("dependencies", "dependentRequired", "dependentSchemas"),
    }
)
"""The keywords whose members are named by the author of a schema, also with names that are keywords elsewhere."""

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-_])")


def clean(text: object, most: int) -> str:
    """The text without escape sequences and invisible characters, cut after `most` characters."""
    plain = _ESCAPES.sub(" ", str(text)[: 4 * most])
    return short_line("".join(c if c.isprintable() else " " for c in plain), most)


def clean_schema(schema: Any, most: int) -> Any:
    """A JSON Schema with every text for readers cleaned. Names, patterns, references and values stay as they are."""
    if isinstance(schema, str):
        return clean(schema, most)
    if isinstance(schema, Mapping):
        return {keyword: _cleaned(keyword, part, most) for keyword, part in schema.items()}
    if isinstance(schema, Sequence):
        return [clean_schema(part, most) for part in schema]
    return schema


def _cleaned(keyword: str, part: Any, most: int) -> Any:
    if keyword in _EXACT:
        return part
    if keyword in _BY_NAME and isinstance(part, Mapping):
        return {
            name: clean_schema(one, most) if isinstance(one, Mapping) else one for name, one in part.items()
        }
    return clean_schema(part, most)
