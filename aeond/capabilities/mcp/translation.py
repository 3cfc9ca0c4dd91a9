"""The tools and results of MCP servers in our terms: names, bounded descriptions, and one value for each result."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import mcp_types as types

from aeond.capabilities.mcp.foreign_text import clean, clean_schema
from aeond.capabilities.mcp.settings import ServerSettings
from aeond.domain.tools import Effect, ToolOutput, ToolSpec, description_digest
from aeond.domain.values import JsonObject, JsonValue, canonical_json, storable
from aeond.errors import ToolError

MAX_NAME_CHARS: Final = 64
MAX_DESCRIPTION_CHARS: Final = 600
MAX_SCHEMA_TEXT_CHARS: Final = 200
MAX_SCHEMA_BYTES: Final = 16 * 1024
MAX_ERROR_CHARS: Final = 1_000
_REMARK_BYTES: Final = 80  # of the remark that a text was cut, at most
TEXT_RESULT: Final[JsonObject] = {"type": "string"}


def tool_name(server: str, name: str) -> str:
    """Our name of a server's tool: the server's name and the tool's in lower case, joined by `_`."""
    return f"{server}_{re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')}"[:MAX_NAME_CHARS]


def spec_of(
    tool: types.Tool, settings: ServerSettings, accepted: Sequence[str], unavailable: str
) -> ToolSpec:
    """The description of a server's tool. The hints of the server are not believed: until a person has accepted the
    description and classified the tool, its effect is undeclared.

    ValueError if a schema is too large.
    """
    described = clean(tool.description or tool.title or tool.name, MAX_DESCRIPTION_CHARS)
    spec = ToolSpec(
        name=tool_name(settings.name, tool.name),
        description=f"{described} (by the MCP server {settings.name})",
        input_schema={**_bounded(tool.input_schema), "type": "object", "additionalProperties": False},
        output_schema=_bounded(tool.output_schema) if tool.output_schema else TEXT_RESULT,
        timeout_seconds=settings.timeout_seconds,
        max_output_bytes=settings.max_output_bytes,
        source=settings.source,
        unavailable=unavailable,
    )
    if description_digest(spec) not in accepted:
        return spec
    return replace(spec, effect=settings.effects.get(tool.name, Effect.UNDECLARED))


def _bounded(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    cleaned: Mapping[str, Any] = clean_schema(schema, MAX_SCHEMA_TEXT_CHARS)
    size = len(canonical_json(cleaned))
    if size > MAX_SCHEMA_BYTES:
        raise ValueError(f"its schema has {size} characters, more than {MAX_SCHEMA_BYTES}")
    return cleaned


def output_of(result: types.CallToolResult, spec: ToolSpec) -> ToolOutput[JsonValue]:
    """The value of a successful result, with its taint: structured content for a tool that declares its results, text
    for any other. Text that is longer than the result may be is cut, because the call may have had an effect."""
    if spec.output_schema != TEXT_RESULT:
        return ToolOutput(result.structured_content, taint=(spec.source,))
    text = text_of(result.content)
    kept = _fitting(text, spec.max_output_bytes)
    if kept < len(text):
        kept = _fitting(text, spec.max_output_bytes - _REMARK_BYTES)
        text = f"{text[:kept]}\n[cut off: {kept} of {len(text)} characters]"
    return ToolOutput(text, taint=(spec.source,))


def _fitting(text: str, limit: int) -> int:
    """How many of its first characters have so many bytes at most as JSON text."""
    lengths = range(1, min(len(text), limit) + 1)  # none has less than a byte
    return bisect_right(lengths, limit, key=lambda length: len(canonical_json(text[:length]).encode()))


def text_of(content: Sequence[types.ContentBlock]) -> str:
    """The text of a result; other content is named in brackets."""
    return storable("\n".join(map(_text, content)))


def _text(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent(text=text):
            return text
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
        case types.EmbeddedResource(resource=resource):
            return f"[resource {resource.uri}]"
        case types.ResourceLink(uri=uri, name=name):
            return f"[resource {name}: {uri}]"
        case _:
            return f"[{block.type}]"


def failure_of(
    result: types.CallToolResult, name: str, field: str = "", candidates: Sequence[str] = ()
) -> ToolError:
    """The error that a result reports, with existing values for the argument at fault."""
    said = clean(text_of(result.content), MAX_ERROR_CHARS) or "it gave no reason"
    known = f"; {field} can be {', '.join(map(repr, candidates))}" if candidates else ""
    return ToolError(
        f"{name} failed: {said}{known}", reason="MCP_TOOL_FAILED", field=field, candidates=candidates
    )
