"""Tools of other authors: only what they declare about their own calls is believed."""

import logging
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from aeond.domain.policy import Effect, worse
from aeond.domain.tools import ToolCode, ToolContext, ToolOutput, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import InvalidInputError
from aeond.ports import Tool, ToolAnswer
from aeond.ports.policy import StatesCode

SOURCE: Final = "tools.folders"
MAX_SECONDS: Final = 3_600.0
MAX_OUTPUT_BYTES: Final = 1 << 20
BELIEVED: Final = (
    "name",
    "description",
    "input_schema",
    "output_schema",
    "example",
    "idempotent",
    "timeout_seconds",
    "max_output_bytes",
    "offered",
)
"""The declarations of a tool that are believed, besides its effect. Any other would change what the daemon does with other tools, with
requests or with files that the tool does not see."""

log = logging.getLogger(__name__)


class ForeignTool:
    """A Tool of another author. `least` is the effect class of everything that its surroundings let it do.

    InvalidInputError (reason BOUND_INVALID) for one that may take more than MAX_SECONDS or return more than MAX_OUTPUT_BYTES.
    """

    def __init__(self, tool: Tool, least: Effect) -> None:
        self._tool = tool
        self.spec = _believed(tool.spec, least)

    @property
    def tool_code(self) -> ToolCode:
        return self._tool.tool_code if isinstance(self._tool, StatesCode) else ToolCode()

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        return await self._tool.execute(arguments, context)

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        return await self._tool.reconcile(arguments, context)


def _believed(declared: ToolSpec, least: Effect) -> ToolSpec:
    _check_bounds(declared)
    if ignored := _ignored(declared):
        log.warning(
            "tool %.80r is in a folder of tools.folders, where these declarations are ignored: %s",
            declared.name,
            ", ".join(ignored),
        )
    believed: dict[str, Any] = {name: getattr(declared, name) for name in BELIEVED}
    return ToolSpec(**believed, effect=worse(declared.effect, least), source=SOURCE)


def _ignored(declared: ToolSpec) -> Sequence[str]:
    """The names of the other fields that the tool has set."""
    others = [field for field in fields(ToolSpec) if field.name not in (*BELIEVED, "effect")]
    return [field.name for field in others if getattr(declared, field.name) != field.default]


def _check_bounds(declared: ToolSpec) -> None:
    for name, most in (("timeout_seconds", MAX_SECONDS), ("max_output_bytes", MAX_OUTPUT_BYTES)):
        if getattr(declared, name) > most:
            raise InvalidInputError(
                f"tool {declared.name!r:.80} in a folder of tools.folders declares {name} = {getattr(declared, name):g}: use at most {most:g}",
                reason="BOUND_INVALID",
                field="tools.folders",
            )
