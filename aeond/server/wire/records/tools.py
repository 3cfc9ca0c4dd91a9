"""Translates tools and tool calls, in both directions."""

from aeond.api.v1 import tools_pb2 as pb
from aeond.domain.tools import RecordedEffect, ToolCall, ToolResult, ToolSpec
from aeond.server.wire import checks
from aeond.server.wire.enums import EFFECTS, RECOVERIES
from aeond.server.wire.json_text import json_object, json_text, plain_text

MAX_ARGUMENTS_BYTES = 256 * 1024


def tool_call_from_wire(call: pb.ToolCall, field: str) -> ToolCall:
    return ToolCall(
        tool=checks.word(call.tool, f"{field}.tool", checks.MAX_NAME_CHARS),
        arguments=json_object(call.arguments_json, f"{field}.arguments_json", MAX_ARGUMENTS_BYTES),
        call_id=checks.word(call.call_id, f"{field}.call_id", optional=True),
    )


def tool_call_to_wire(call: ToolCall) -> pb.ToolCall:
    return pb.ToolCall(
        tool=plain_text(call.tool), arguments_json=json_text(call.arguments), call_id=call.call_id
    )


def tool_spec_to_wire(spec: ToolSpec) -> pb.ToolSpec:
    return pb.ToolSpec(
        name=spec.name,
        description=plain_text(spec.description),
        input_schema_json=json_text(spec.input_schema),
        output_schema_json=json_text(spec.output_schema),
        effect=EFFECTS.wire(spec.effect),
        idempotent=spec.idempotent,
        example_json=json_text(spec.example) if spec.example is not None else "",
        timeout_seconds=spec.timeout_seconds,
        max_output_bytes=spec.max_output_bytes,
        recovery=RECOVERIES.wire(spec.recovery),
    )


def tool_result_to_wire(result: ToolResult) -> pb.ToolResult:
    return pb.ToolResult(
        success=result.success,
        data_json=json_text(result.data) if result.success else "",
        error=plain_text(result.error),
        reason=result.reason,
        metadata_json=json_text(result.metadata),
        effects=effects_to_wire(result.effects),
    )


def effects_to_wire(effects: tuple[RecordedEffect, ...]) -> list[pb.RecordedEffect]:
    return [
        pb.RecordedEffect(
            kind=effect.kind, target=plain_text(effect.target), detail=plain_text(effect.detail)
        )
        for effect in effects
    ]
