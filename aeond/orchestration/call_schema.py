"""The JSON schemas of routing: what may be said to a request, and to the result of a call.

They are unions in which each tool is tied to its own arguments, compiled from the tools of the moment as
`plan_schema` says.
"""

from collections.abc import Sequence
from typing import Final

from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, canonical_json
from aeond.orchestration.plan_schema import closed_object, compile_arguments

MAX_FINAL_CHARS: Final = 800
MAX_CALL_TOKENS: Final = 400  # of one decision; what needs more is planned

_ROUTES: Final = tuple(closed_object({"route": {"const": route}}) for route in ("reply", "plan"))
_ENDS: Final = (
    closed_object({"done": {"const": True}}),
    closed_object({"answer": {"type": "string", "minLength": 1, "maxLength": MAX_FINAL_CHARS}}),
)


class CallSchemas:
    """Compiles both schemas for the tools of the moment; keeps the last ones until they change."""

    def __init__(self) -> None:
        self._key = ""
        self._calls: tuple[JsonObject, ...] = ()

    def route(self, specs: Sequence[ToolSpec]) -> JsonObject:
        """`{"route": "reply"}`, `{"route": "plan"}` or `{"route": "direct", "tool", "arguments"}`."""
        return {"anyOf": [*_ROUTES, *self._compile(specs)]}

    def following(self, specs: Sequence[ToolSpec]) -> JsonObject:
        """`{"done": true}`, `{"answer": ...}` or the next call; without tools only the first two."""
        return {"anyOf": [*_ENDS, *self._compile(specs)]}

    def _compile(self, specs: Sequence[ToolSpec]) -> tuple[JsonObject, ...]:
        if not specs:
            return ()
        key = canonical_json([[spec.name, spec.input_schema] for spec in specs])
        if key != self._key:
            self._calls = tuple(_call(spec) for spec in specs)
            self._key = key
        return self._calls


def _call(spec: ToolSpec) -> JsonObject:
    return closed_object(
        {
            "route": {"const": "direct"},
            "tool": {"const": spec.name},
            "arguments": compile_arguments(spec),
        }
    )
