# Generated from protos/ by `make proto`; never edited.
"""Converts messages of tools.proto to records."""

from aeond.api.v1 import tools_pb2
from aeond_client.calls import values
from aeond_client.records import tools


def recorded_effect(wire: tools_pb2.RecordedEffect) -> tools.RecordedEffect:
    return tools.RecordedEffect(kind=wire.kind, target=wire.target, detail=wire.detail)


def tool_call(wire: tools_pb2.ToolCall) -> tools.ToolCall:
    return tools.ToolCall(
        tool=wire.tool, arguments=values.json_object(wire.arguments_json), call_id=wire.call_id
    )


def tool_spec(wire: tools_pb2.ToolSpec) -> tools.ToolSpec:
    return tools.ToolSpec(
        name=wire.name,
        description=wire.description,
        effect=values.word(tools_pb2.Effect, wire.effect),
        input_schema=values.json_object(wire.input_schema_json),
        output_schema=values.json_object(wire.output_schema_json),
        idempotent=wire.idempotent,
        example=values.json_object(wire.example_json) if wire.example_json else None,
        timeout_seconds=wire.timeout_seconds,
        max_output_bytes=wire.max_output_bytes,
        recovery=values.chosen(tools_pb2.Recovery, wire.recovery),
        source=wire.source,
        offered=wire.offered,
        digest=wire.digest,
        unavailable=wire.unavailable,
    )


def tool_result(wire: tools_pb2.ToolResult) -> tools.ToolResult:
    return tools.ToolResult(
        success=wire.success,
        data=values.value(wire.data_json),
        error=wire.error,
        reason=wire.reason,
        metadata=values.json_object(wire.metadata_json),
        effects=tuple(map(recorded_effect, wire.effects)),
        taint=tuple(wire.taint),
    )
