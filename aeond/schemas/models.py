"""Plain JSON Schemas from pydantic models: what a constrained decoder and a small model can take.

References are written out where they are used, titles go, and defaults become part of the description: a
decoder compiles what is left, and a model reads one sentence per field.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel

from aeond.domain.values import JsonObject, display_json
from aeond.errors import InvalidInputError
from aeond.schemas.parts import Schema, closed, with_subschemas

MAX_KEPT: Final = 256  # models whose schemas are kept
_MAX_NESTING: Final = 16
_DROPPED: Final = ("title", "default", "discriminator", "$defs")


# pydantic takes longer to write a schema than all checks of it; several tools have the same models.
@lru_cache(maxsize=MAX_KEPT)
def model_schema(model: type[BaseModel]) -> JsonObject:
    """The closed schema of a model, without references; shared by all who ask for it, and never to be changed.

    Raises InvalidInputError (SCHEMA_INVALID) when the model contains itself."""
    schema = model.model_json_schema()
    plain = _plain(schema, schema.get("$defs", {}), _MAX_NESTING)
    plain.pop("description", None)  # the tool has its own
    return closed(plain)


def _plain(schema: Schema, definitions: Mapping[str, Schema], nesting: int) -> dict[str, Any]:
    if nesting == 0:
        raise InvalidInputError(
            f"a model for tools nests at most {_MAX_NESTING} deep and must not contain itself",
            reason="SCHEMA_INVALID",
        )
    if "$ref" in schema:
        here = {keyword: part for keyword, part in schema.items() if keyword != "$ref"}
        referred = definitions[schema["$ref"].removeprefix("#/$defs/")]
        return _plain({**referred, **here}, definitions, nesting - 1)
    plain = {keyword: part for keyword, part in schema.items() if keyword not in _DROPPED}
    if schema.get("default") not in (None, ""):
        default = f"(default: {display_json(schema['default'])})"
        plain["description"] = f"{schema.get('description', '')} {default}".strip()
    return with_subschemas(plain, lambda part: _plain(part, definitions, nesting - 1))
