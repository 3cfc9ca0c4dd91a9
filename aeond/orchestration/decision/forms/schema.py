"""The JSON schema of one decision: a union of actions, each an object with a single key.

`{"read_file":{"path":"a.txt"}}`, `{"answer":"..."}`, `{"cannot":"..."}` or `{"plan":true}`. A single key costs
fewer tokens than a tagged object, and ties each tool to its own arguments.
"""

from collections.abc import Mapping
from typing import Final

from aeond.domain.tools import Effect, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.decision.interfaces import Offer
from aeond.orchestration.planning.plan_schema import compile_arguments
from aeond.schemas.parts import as_object, closed_object, required_of

ANSWER: Final = "answer"
CANNOT: Final = "cannot"
PLAN: Final = "plan"
MAX_VALUES: Final = 60  # of one argument: a longer enumeration is not quicker to choose from

_TEXT: Final[JsonObject] = {"type": "string", "minLength": 1}
# One question: without this limit, a small model repeats questions until the token limit of the call. A quotation mark would end the string:
# grammars that llama.cpp makes of a schema have the pattern as it stands.
_QUESTION: Final[JsonObject] = {"type": "string", "pattern": r'^[^?？؟"\\\n]+[?？؟]$'}


def decision_schema(offer: Offer) -> JsonObject:
    """The actions of an offer. Strings have no upper length: large bounds expand the engines' grammars,
    and the token limit of the call bounds the text."""
    actions = [closed_object({spec.name: decision_arguments(spec, offer)}) for spec in offer.tools]
    if offer.answer:
        actions.append(closed_object({ANSWER: _TEXT}))
    if offer.answer or offer.refusal:
        actions.append(closed_object({CANNOT: _TEXT}))
    if offer.plan:
        actions.append(closed_object({PLAN: {"const": True}}))
    return {"anyOf": actions}


def decision_arguments(spec: ToolSpec, offer: Offer) -> JsonObject:
    """The schema of a tool's arguments, with the values that exist. Of a question to the user only what it needs: the answers that a
    small model proposes are made up."""
    compiled = compile_arguments(spec)
    parts = as_object(compiled.get("properties"))
    if spec.asks_user:
        needed = required_of(compiled)
        asked = {
            name: _QUESTION if _is_text(part) else part for name, part in parts.items() if name in needed
        }
        return {**compiled, "properties": asked}
    properties = {
        name: _with_values(
            as_object(part),
            offer.values.get((spec.name, name), ()),
            closed=spec.effect is Effect.READ or name in spec.only_existing,
        )
        for name, part in parts.items()
    }
    return {**compiled, "properties": properties}


def _is_text(part: JsonValue) -> bool:
    """Whether a schema is that of a text."""
    return as_object(part).get("type") == "string"


def _with_values(part: JsonObject, values: tuple[str, ...], *, closed: bool) -> JsonObject:
    """The existing values first. Where it is `closed` there are no others, as long as the list is complete: a tool
    that only looks finds nothing under a name that does not exist."""
    free = _unbounded(part)
    if not values or part.get("type") not in (None, "string"):
        return free
    if closed and len(values) < MAX_VALUES:
        return {"enum": list(values)}
    return {"anyOf": [{"enum": list(values)}, free]}


def _unbounded(part: JsonValue) -> JsonObject:
    """The part without upper bounds on the length of texts."""
    if not isinstance(part, Mapping):
        return {}
    kept: dict[str, JsonValue] = {}
    for key, value in part.items():
        if key == "maxLength":
            continue
        if key == "properties" and isinstance(value, Mapping):
            kept[key] = {name: _unbounded(member) for name, member in value.items()}
        elif key == "items" and isinstance(value, Mapping):
            kept[key] = _unbounded(value)
        elif key == "anyOf" and isinstance(value, (list, tuple)):
            kept[key] = [_unbounded(member) for member in value]
        else:
            kept[key] = value
    return kept
