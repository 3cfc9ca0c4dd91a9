"""Repairs JSON text that strict reading refuses, by rule and without asking a model."""

import re
from typing import Final, TypeVar

from aeond.domain.outcome import Outcome
from aeond.domain.values import JsonValue
from aeond.frozen import frozen
from aeond.orchestration.repair.provenance import Material
from aeond.orchestration.repair.strict_json import check_value, nesting_exceeds, read_json
from aeond.schemas.json_size import MAX_DEPTH

MAX_REPAIRED_CHARS: Final = 64_000

_FENCE: Final = re.compile(r"```[a-zA-Z]*\s*\n(.*?)(?:```|\Z)", re.DOTALL)
T = TypeVar("T")

# The errors that a lenient parser may raise on untrusted text.
_STUMBLES: Final = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)


@frozen
class Reading(Outcome[T]):
    """What one text or value amounts to, with what was changed to read it, in plain words."""

    changes: tuple[str, ...] = ()


def repair_json(text: str) -> Reading[JsonValue]:
    """Reads JSON strictly; else out of a code fence; else by the repair library.

    The library's reading counts only if it is sound JSON and invents nothing: a value that it filled in
    is no repair. Text deeper or longer than the bounds is not given to it.
    """
    strict = read_json(text)
    if strict.ok:
        return Reading(True, strict.value)
    changes: tuple[str, ...] = ()
    fence = _FENCE.search(text)
    if fence is not None:
        changes = ("took the JSON out of a code fence",)
        strict = read_json(fence[1])
        if strict.ok:
            return Reading(True, strict.value, None, changes)
        text = fence[1]
    problem = strict.cause
    if problem.reason == "JSON_DUPLICATE_KEY":  # which of two values was meant must not be guessed
        return Reading(False, None, problem)
    if len(text) > MAX_REPAIRED_CHARS or nesting_exceeds(text, MAX_DEPTH):
        return Reading(False, None, problem)
    value = _guessed(text)
    if not isinstance(value, dict | list) or check_value(value) or Material(text).invented(value):
        return Reading(False, None, problem)
    return Reading(True, value, None, (*changes, f"repaired the JSON text ({problem.message})"))


def _guessed(text: str) -> JsonValue:
    # Imported when it is needed: a well-behaved model never costs the daemon this memory.
    import json_repair

    try:
        value: JsonValue = json_repair.loads(text, skip_json_loads=True)
    except _STUMBLES:
        return None
    return value
