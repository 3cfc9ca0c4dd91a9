"""Repairs the form of tool calls by rule: other models' names for the parts, values of the wrong type."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, JsonValue, display_json
from aeond.orchestration.planning.step_references import refers
from aeond.orchestration.repair.strict_json import read_json
from aeond.ports import Validator
from aeond.schemas.parts import as_object, is_list, part_at

_STEP_LISTS: Final = ("steps", "plan", "actions", "tasks", "tool_calls")
_TOOL_KEYS: Final = ("tool", "name", "tool_name", "function", "action")
_ARGUMENT_KEYS: Final = ("arguments", "args", "parameters", "params", "input")
_TASK_KEYS: Final = ("task", "description", "prompt", "goal")


def repair_plan_shape(value: JsonValue) -> JsonValue:
    """`{"steps": [...]}` from a bare list, a bare step, or a plan under another name."""
    if is_list(value):
        return {"steps": [repair_step_shape(item) for item in value]}
    whole = as_object(value)
    for key in _STEP_LISTS:
        steps = whole.get(key)
        if is_list(steps):
            return {"steps": [repair_step_shape(item) for item in steps]}
        if isinstance(steps, Mapping):
            return repair_plan_shape(steps)
    return {"steps": [repair_step_shape(value)]} if whole else value


def repair_step_shape(value: JsonValue) -> JsonValue:
    """A call as `{"tool", "arguments"}` or a task as `{"agent", "task"}`; else the value as it is."""
    if not isinstance(value, Mapping):
        return value
    nested = value.get("function") or value.get("tool_call")
    if isinstance(nested, Mapping):
        return repair_step_shape(nested)
    if isinstance(value.get("agent"), str) and "tool" not in value:
        task = next((value[key] for key in _TASK_KEYS if key in value), None)
        return {"agent": value["agent"]} | ({} if task is None else {"task": task})
    name = next((value[key] for key in _TOOL_KEYS if isinstance(value.get(key), str)), None)
    if name is None:
        return value
    arguments = next((value[key] for key in _ARGUMENT_KEYS if key in value), {})
    if isinstance(arguments, str):
        read = read_json(arguments)
        arguments = read.value if read.ok else arguments
    return {"tool": name, "arguments": arguments}


def repair_arguments(arguments: JsonObject, spec: ToolSpec, validator: Validator) -> JsonObject:
    """The same values under the schema's own names, in the types it asks for, wherever that is plain.

    A name that differs only in case and separators is set right; "5" becomes 5, 5 becomes "5", "true"
    becomes true, and a single value a list of one, each only where the schema refuses the one and takes
    the other.
    """
    known = {_plain(name): name for name in as_object(spec.input_schema.get("properties"))}
    repaired: dict[str, JsonValue] = {}
    for name, value in arguments.items():
        proper = name if name in known.values() else known.get(_plain(name), name)
        if proper in repaired or (proper != name and proper in arguments):
            proper = name  # two values for one name: not ours to choose
        repaired[proper] = _typed(value, part_at(spec.input_schema, (proper,)), validator)
    return repaired


def _typed(value: JsonValue, schema: JsonObject, validator: Validator) -> JsonValue:
    if not schema or refers(value, ()):
        return value
    for candidate in (value, *_others(value)):
        if not validator.validate_output(candidate, schema):
            return candidate
    return value


def _others(value: JsonValue) -> Sequence[JsonValue]:
    """The same value in other types."""
    if isinstance(value, str):
        lowered = {"true": True, "false": False}.get(value.strip().lower())
        read = read_json(value)
        number = read.value if read.ok and isinstance(read.value, int | float | list | dict) else None
        return [other for other in (lowered, number, [value]) if other is not None]
    if isinstance(value, bool) or value is None:
        return ()
    if isinstance(value, float) and value.is_integer():
        return (int(value), display_json(value), [value])
    return (display_json(value), [value])


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
