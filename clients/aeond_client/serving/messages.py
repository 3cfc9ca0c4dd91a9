"""The messages of a stream that serves tools."""

from typing import Any

from aeond.api.v1 import tools_pb2
from aeond_client.calls.call_spec import json_text, methods_of
from aeond_client.errors import InvalidInputError
from aeond_client.records.tools import ToolResult, ToolSpec
from aeond_client.serving.client_tool import ClientTool, ToolFailure

METHOD = methods_of(tools_pb2.DESCRIPTOR)["ServeTools"]
MAX_ERROR_CHARS = 2_000
# As much as the daemon accepts; a message that is far larger would end the stream.
MAX_DATA_BYTES = 1 << 20


def offer(source: str, tools: list[ClientTool]) -> tools_pb2.ServeToolsRequest:
    specs = [_spec(tool.spec) for tool in tools]
    return tools_pb2.ServeToolsRequest(offer=tools_pb2.ToolOffer(source=source, tools=specs))


def _spec(spec: ToolSpec) -> tools_pb2.ToolSpec:
    try:
        effect = tools_pb2.Effect.Value(f"EFFECT_{spec.effect.upper()}")
    except ValueError:
        raise InvalidInputError(
            f"{spec.effect!r} is not an effect class, such as read or net",
            reason="UNKNOWN_VALUE",
            field="effect",
        ) from None
    return tools_pb2.ToolSpec(
        name=spec.name,
        description=spec.description,
        input_schema_json=json_text(spec.input_schema),
        output_schema_json=json_text(spec.output_schema),
        effect=effect,
        idempotent=spec.idempotent,
        example_json="" if spec.example is None else json_text(spec.example),
        timeout_seconds=spec.timeout_seconds,
        max_output_bytes=spec.max_output_bytes,
    )


def ended(call_id: str, result: ToolResult) -> tools_pb2.ServeToolsRequest:
    """ToolFailure (reason OUTPUT_TOO_LARGE) for a result that the daemon would not accept."""
    data = json_text(result.data) if result.success else ""
    if len(data.encode()) > MAX_DATA_BYTES:
        raise ToolFailure(f"the result has more than {MAX_DATA_BYTES} bytes of JSON", "OUTPUT_TOO_LARGE")
    wire = tools_pb2.ToolResult(
        success=result.success,
        data_json=data,
        error=result.error[:MAX_ERROR_CHARS]
        .encode(errors="replace")
        .decode(),  # a file name may not be UTF-8
        reason=result.reason,
        effects=[
            tools_pb2.RecordedEffect(kind=effect.kind, target=effect.target, detail=effect.detail)
            for effect in result.effects
        ],
        taint=result.taint,
    )
    return tools_pb2.ServeToolsRequest(ended=tools_pb2.ToolCallEnded(call_id=call_id, result=wire))


def result_of(returned: Any) -> ToolResult:
    """The result of a function that returned this: a ToolResult, a model of pydantic, or a JSON value."""
    if isinstance(returned, ToolResult):
        return returned
    return ToolResult(True, returned.model_dump(mode="json") if hasattr(returned, "model_dump") else returned)


def failure_of(error: BaseException) -> ToolResult:
    """The result of a function that raised this."""
    if isinstance(error, ToolFailure):
        return ToolResult(False, error=str(error), reason=error.reason)
    return ToolResult(False, error=f"{type(error).__name__}: {error}", reason="TOOL_RAISED")
