"""The effects that a tool reports, checked and bounded before they are recorded."""

import re
from typing import Final

from aeond.domain.tools import MAX_EFFECTS, RecordedEffect, ToolOutput, bounded
from aeond.domain.values import JsonValue, short_line
from aeond.errors import ToolError

MAX_TARGET_CHARS: Final = 1_024
MAX_DETAIL_CHARS: Final = 256

_KIND: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


def split_output(
    tool: str, output: JsonValue | ToolOutput[JsonValue]
) -> tuple[JsonValue, tuple[RecordedEffect, ...]]:
    """The data and the effects of an output. ToolError (reason OUTPUT_INVALID) when an effect has no kind or no
    target; texts that are too long are cut, and so is the list."""
    if not isinstance(output, ToolOutput):
        return output, ()
    effects = tuple(_checked(tool, effect) for effect in output.effects)
    return output.data, bounded(effects, MAX_EFFECTS)


def _checked(tool: str, effect: RecordedEffect) -> RecordedEffect:
    if not _KIND.fullmatch(str(effect.kind)) or not effect.target:
        raise ToolError(
            f"{tool} reported an effect without a kind such as file.created, or without a target: {effect!r:.200}",
            reason="OUTPUT_INVALID",
        )
    return RecordedEffect(
        effect.kind, _text(effect.target, MAX_TARGET_CHARS), _text(effect.detail, MAX_DETAIL_CHARS)
    )


def _text(text: str, most: int) -> str:
    """The text on one line, as JSON and the wire can carry it."""
    return short_line(str(text).encode("utf-8", "backslashreplace").decode(), most)
