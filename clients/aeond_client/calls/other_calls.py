"""Every unary call of the contract as data, except those of RunService."""

from typing import Any

from aeond.api.v1 import (
    daemon_pb2,
    memory_pb2,
    models_pb2,
    sessions_pb2,
    tools_pb2,
)
from aeond_client.calls import reading, values
from aeond_client.calls.call_spec import (
    CHANGE_SECONDS,
    GRACE_SECONDS,
    LOOK_SECONDS,
    Call,
    Page,
    PageCall,
    check_unicode,
    json_text,
    page_of,
)
from aeond_client.daemon import ConfigChanges, DaemonStatus
from aeond_client.models import Engine, ModelInfo, TextPiece
from aeond_client.tools import ToolResult, ToolSpec

_TOOLS = tools_pb2.DESCRIPTOR.services_by_name["ToolService"].methods_by_name
_MEMORY = memory_pb2.DESCRIPTOR.services_by_name["MemoryService"].methods_by_name
_MODELS = models_pb2.DESCRIPTOR.services_by_name["ModelService"].methods_by_name
_DAEMON = daemon_pb2.DESCRIPTOR.services_by_name["DaemonService"].methods_by_name


def get_status() -> Call[DaemonStatus]:
    request = daemon_pb2.GetStatusRequest()
    return Call(
        _DAEMON["GetStatus"],
        request,
        daemon_pb2.GetStatusResponse,
        reading.daemon_status,
        True,
        LOOK_SECONDS,
    )


def reload_config() -> Call[ConfigChanges]:
    request = daemon_pb2.ReloadRequest()
    return Call(
        _DAEMON["Reload"], request, daemon_pb2.ReloadResponse, reading.config_changes, True, CHANGE_SECONDS
    )


# ---------------------------------------------------------------- tools


def list_tools() -> PageCall[ToolSpec]:
    def page(token: str, size: int) -> Call[Page[ToolSpec]]:
        request = tools_pb2.ListToolsRequest(page_size=size, page_token=token)
        read = page_of("tools", reading.tool_spec)
        return Call(_TOOLS["ListTools"], request, tools_pb2.ListToolsResponse, read, True, LOOK_SECONDS)

    return page


def get_tool(name: str) -> Call[ToolSpec]:
    request = tools_pb2.GetToolRequest(name=name)

    def read(reply: tools_pb2.GetToolResponse) -> ToolSpec:
        return reading.tool_spec(reply.tool)

    return Call(_TOOLS["GetTool"], request, tools_pb2.GetToolResponse, read, True, LOOK_SECONDS)


def call_tool(name: str, arguments: dict[str, Any], workspace: str, seconds: float) -> Call[ToolResult]:
    check_unicode("workspace", workspace)
    request = tools_pb2.InvokeToolRequest(
        call=tools_pb2.ToolCall(tool=name, arguments_json=json_text(arguments)), workspace=workspace
    )

    def read(reply: tools_pb2.InvokeToolResponse) -> ToolResult:
        return reading.tool_result(reply.result)

    return Call(_TOOLS["InvokeTool"], request, tools_pb2.InvokeToolResponse, read, False, seconds)


# ---------------------------------------------------------------- memory


def write_memory(key: str, value: Any) -> Call[None]:
    check_unicode("key", key)
    request = memory_pb2.WriteMemoryRequest(key=key, value_json=json_text(value))
    reply = memory_pb2.WriteMemoryResponse
    return Call(_MEMORY["WriteMemory"], request, reply, _nothing, True, CHANGE_SECONDS)


def read_memory(key: str) -> Call[Any]:
    check_unicode("key", key)
    request = memory_pb2.ReadMemoryRequest(key=key)

    def read(reply: memory_pb2.ReadMemoryResponse) -> Any:
        return values.value(reply.entry.value_json)

    return Call(_MEMORY["ReadMemory"], request, memory_pb2.ReadMemoryResponse, read, True, LOOK_SECONDS)


def search_memory(prefix: str) -> PageCall[tuple[str, Any]]:
    check_unicode("prefix", prefix)

    def page(token: str, size: int) -> Call[Page[tuple[str, Any]]]:
        request = memory_pb2.SearchMemoryRequest(prefix=prefix, page_size=size, page_token=token)
        read = page_of("entries", _entry)
        reply = memory_pb2.SearchMemoryResponse
        return Call(_MEMORY["SearchMemory"], request, reply, read, True, LOOK_SECONDS)

    return page


def _entry(wire: memory_pb2.MemoryEntry) -> tuple[str, Any]:
    return wire.key, values.value(wire.value_json)


def delete_memory(key: str) -> Call[bool]:
    check_unicode("key", key)
    request = memory_pb2.DeleteMemoryRequest(key=key)

    def read(reply: memory_pb2.DeleteMemoryResponse) -> bool:
        return reply.existed

    # A repeat would report a missing key although this very call had deleted it.
    return Call(
        _MEMORY["DeleteMemory"], request, memory_pb2.DeleteMemoryResponse, read, False, CHANGE_SECONDS
    )


# ---------------------------------------------------------------- models


def list_models() -> PageCall[ModelInfo]:
    def page(token: str, size: int) -> Call[Page[ModelInfo]]:
        request = models_pb2.ListModelsRequest(page_size=size, page_token=token)
        read = page_of("models", reading.model_info)
        reply = models_pb2.ListModelsResponse
        return Call(_MODELS["ListModels"], request, reply, read, True, LOOK_SECONDS)

    return page


def load_model(name: str) -> Call[Engine]:
    request = models_pb2.LoadModelRequest(model=name)
    return Call(_MODELS["LoadModel"], request, models_pb2.LoadModelResponse, _engine_of, True, CHANGE_SECONDS)


def unload_model() -> Call[Engine]:
    request = models_pb2.UnloadModelRequest()
    return Call(
        _MODELS["UnloadModel"], request, models_pb2.UnloadModelResponse, _engine_of, True, CHANGE_SECONDS
    )


def sleep_model() -> Call[Engine]:
    request = models_pb2.SleepModelRequest()
    reply = models_pb2.SleepModelResponse
    return Call(_MODELS["SleepModel"], request, reply, _engine_of, True, CHANGE_SECONDS)


def wake_model() -> Call[Engine]:
    request = models_pb2.WakeModelRequest()
    return Call(_MODELS["WakeModel"], request, models_pb2.WakeModelResponse, _engine_of, True, CHANGE_SECONDS)


def generate(
    text: str,
    *,
    system: str,
    max_tokens: int,
    temperature: float,
    schema: Any,
    seconds: float,
    model: str = "",
) -> Call[TextPiece]:
    """The one streaming call here: `read` reads each message."""
    said = [(sessions_pb2.ROLE_SYSTEM, system)] if system else []
    check_unicode("messages", text)
    request = models_pb2.GenerateRequest(
        messages=[
            sessions_pb2.Message(role=role, content_json=json_text(words))
            for role, words in (*said, (sessions_pb2.ROLE_USER, text))
        ],
        max_tokens=max_tokens,
        temperature=temperature,
        schema_json="" if schema is None else json_text(schema),
        deadline_seconds=seconds,
        model=model,
    )
    reply = models_pb2.GenerateResponse
    return Call(_MODELS["Generate"], request, reply, reading.text_piece, False, seconds + GRACE_SECONDS)


def _engine_of(reply: Any) -> Engine:
    return reading.engine(reply.engine)


def _nothing(_reply: Any) -> None:
    return None
