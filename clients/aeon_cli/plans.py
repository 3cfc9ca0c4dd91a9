"""Parses plans and tool arguments written by the user: JSON or TOML, from a file or standard input."""

import json
from pathlib import Path
from typing import Any

import click

from aeon_cli.standard_input import read_text
from aeond_client.records.runs import Plan, PlanStep

_PLAN_KEYS = {"goal", "steps"}
_STEP_KEYS = {
    "step_id",
    "description",
    "tool",
    "arguments",
    "agent",
    "depends_on",
    "provides",
    "handoff_to_next",
}
_LISTS = ("depends_on", "provides")


def read_plan(name: str) -> Plan:
    """Reads the plan in a file, `-` for standard input. Raises UsageError with the position of the
    problem.
    """
    where = "standard input" if name == "-" else name
    try:
        text = read_text("The plan") if name == "-" else Path(name).read_text(encoding="utf-8")
        return plan_of(_parsed(text, Path(name).suffix))
    except OSError as error:
        raise click.UsageError(f"Cannot read the plan {where}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"The plan in {where} is not valid UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"Invalid plan in {where}: {error}.") from error


def _parsed(text: str, suffix: str) -> Any:
    """Parses JSON or TOML; without a known file suffix, text that starts like JSON is JSON."""
    import tomllib

    begins_like_json = text.lstrip().startswith("{") and suffix != ".toml"
    return json.loads(text) if begins_like_json or suffix == ".json" else tomllib.loads(text)


def plan_of(value: Any) -> Plan:
    """Builds a plan from its JSON form; ValueError describes the problem. The daemon validates the
    content.
    """
    _check_keys(value, _PLAN_KEYS, "the plan")
    steps = value.get("steps")
    if not isinstance(steps, list):
        raise _wrong("`steps` must be a list")
    return Plan(
        _text(value, "goal", "the plan"), tuple(_step(step, f"steps[{i}]") for i, step in enumerate(steps))
    )


def _step(value: Any, where: str) -> PlanStep:
    _check_keys(value, _STEP_KEYS, where)
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        raise _wrong(f"{where}.arguments must be a table of names and values")
    try:
        # TOML has dates, and both formats have numbers that JSON lacks.
        json.dumps(arguments, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise _wrong(f"{where}.arguments cannot be converted to JSON: {error}") from error
    lists = {name: value.get(name, []) for name in _LISTS}
    for name, items in lists.items():
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise _wrong(f"{where}.{name} must be a list of strings")
    return PlanStep(
        step_id=_text(value, "step_id", where),
        description=_text(value, "description", where),
        tool=_text(value, "tool", where),
        arguments=arguments,
        agent=_text(value, "agent", where),
        depends_on=tuple(lists["depends_on"]),
        provides=tuple(lists["provides"]),
        handoff_to_next=_text(value, "handoff_to_next", where),
    )


def _check_keys(value: Any, known: set[str], where: str) -> None:
    if not isinstance(value, dict):
        raise _wrong(f"{where} must be a table of names and values")
    unknown = sorted(set(value) - known)
    if unknown:
        raise _wrong(f"{where} has unknown key `{unknown[0]}`; known keys are {', '.join(sorted(known))}")


def _wrong(words: str) -> ValueError:
    return ValueError(words)


def _text(value: dict[str, Any], name: str, where: str) -> str:
    text = value.get(name, "")
    if not isinstance(text, str):
        raise _wrong(f"{where}.{name} must be a string")
    return text


def arguments_of(words: tuple[str, ...]) -> dict[str, Any]:
    """Arguments of a tool: one JSON object, or words `key=value`.

    A value is parsed as JSON if possible, otherwise it is text; `key:=value` requires JSON.
    """
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return _json_object(words[0])
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise click.UsageError(f"Expected one JSON object or words key=value, not {word!r}.")
        strict = name.endswith(":")
        arguments[name.removesuffix(":")] = json_value(text, strict=strict)
    return arguments


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"The arguments are not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise click.UsageError("The arguments must be a JSON object.")
    return value


def json_value(text: str, *, strict: bool = False) -> Any:
    """A value from the command line: JSON, or the text itself if it is not JSON (UsageError if JSON is
    required).
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        if strict:
            raise click.UsageError(f"{text!r} is not valid JSON: {error}.") from error
        return text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a valid JSON number")
