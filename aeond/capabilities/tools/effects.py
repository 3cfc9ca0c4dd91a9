"""The effects that a tool reports, checked and bounded before they are recorded."""

import re
from typing import Final

from aeond.domain.tools import MAX_EFFECTS, RecordedEffect, ToolOutput, bounded
from aeond.domain.values import JsonValue, short_line
from aeond.errors import ToolError

MAX_TARGET_CHARS: Final = 1_024
MAX_DETAIL_CHARS: Final = 256

_KIND: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


class EffectLog:
    """The effects of one call in their order: those that it records while it runs, then those of its output."""

    def __init__(self, tool: str) -> None:
        self._tool = tool
        self._effects: list[RecordedEffect] = []

    def record(self, effect: RecordedEffect) -> None:
        """Keeps the effect; ToolError as `split_output` does."""
        self._effects.append(_checked(self._tool, effect))

    def completed(
        self, output: JsonValue | ToolOutput[JsonValue]
    ) -> tuple[JsonValue, tuple[RecordedEffect, ...]]:
        """The data of the call's output, and all effects, of which the output's are the last."""
        if not isinstance(output, ToolOutput):
            return output, self.effects
        for effect in output.effects:
            self.record(effect)
        return output.data, self.effects

    @property
    def effects(self) -> tuple[RecordedEffect, ...]:
        return bounded(tuple(self._effects), MAX_EFFECTS)


def split_output(
    tool: str, output: JsonValue | ToolOutput[JsonValue]
) -> tuple[JsonValue, tuple[RecordedEffect, ...]]:
    """The data and the effects of an output. ToolError (reason OUTPUT_INVALID) when an effect has no kind or no
    target; texts that are too long are cut, and so is the list."""
    return EffectLog(tool).completed(output)


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
