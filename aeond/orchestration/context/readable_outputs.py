"""The output of a step as people and models read it: plain lines instead of JSON."""

from collections.abc import Mapping, Sequence
from typing import Final

from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonObject, JsonValue, display_json
from aeond.schemas.parts import is_list

_OF_WHOLENESS: Final = ("truncated", "next_offset", "left_out")
_MIN_ROWS: Final = 2  # of a list that is shown as a table


def report(output: JsonValue) -> str:
    """What a step reports, as one text with the names of what it was about."""
    if not isinstance(output, Mapping):
        return readable(output)
    return ": ".join(map(_block, _informative_parts(output, {}).values()))


def readable(output: JsonValue, call: ToolCall | None = None) -> str:
    """The output as text: an object as the text or list that it holds and then `name: value` lines, or those
    alone; an argument of the call that the output repeats is left out."""
    if not isinstance(output, Mapping):
        return display_json(output)
    parts = _informative_parts(output, call.arguments if call else {})
    if not parts:
        return "done"
    if len(parts) == 1:
        return _block(next(iter(parts.values()))) or "(empty)"
    lines = [f"{name}: {_block(part)}" for name, part in parts.items() if not _is_block(part)]
    blocks = [(name, _block(part)) for name, part in parts.items() if _is_block(part)]
    if len(blocks) == 1:
        return "\n".join([blocks[0][1], f"({', '.join(lines)})"])
    return "\n".join([*lines, *(f"{name}:\n{block}" for name, block in blocks)])


def _informative_parts(output: JsonObject, arguments: JsonObject) -> dict[str, JsonValue]:
    whole = output.get("truncated") is False and not output.get("left_out")
    return {
        name: part
        for name, part in output.items()
        if not (whole and name in _OF_WHOLENESS)
        and not (name in arguments and arguments[name] == part)
        and part not in (None, "", [], ())
    }


def _is_block(part: JsonValue) -> bool:
    return (isinstance(part, str) and "\n" in part.strip()) or (is_list(part) and len(part) > 0)


def _block(part: JsonValue) -> str:
    if isinstance(part, str):
        return part.strip("\n")
    if is_list(part):
        return _table(part)
    return display_json(part)


def _table(items: Sequence[JsonValue]) -> str:
    """A list as lines: objects of one shape as a table whose first line names the columns."""
    rows = [item for item in items if isinstance(item, Mapping)]
    shapes = {tuple(row) for row in rows}
    if len(rows) == len(items) >= _MIN_ROWS and len(shapes) == 1 and len(rows[0]) > 1:
        lines = [", ".join(rows[0]), *(", ".join(map(display_json, row.values())) for row in rows)]
        return "\n".join(lines)
    if len(rows) == len(items):
        return "\n".join(", ".join(f"{k}: {display_json(v)}" for k, v in row.items()) for row in rows)
    return "\n".join(map(display_json, items))
