"""Every call of the contract as data, except those of RunService and SessionService."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from aeond.api.v1 import daemon_pb2, memory_pb2, models_pb2, policy_pb2, sessions_pb2, tools_pb2
from aeond_client.calls.call_spec import (
    CHANGE_SECONDS,
    GRACE_SECONDS,
    Call,
    PageCall,
    check_unicode,
    json_text,
    methods_of,
    nothing,
    pages,
)
from aeond_client.calls.reading import read
from aeond_client.errors import InvalidInputError
from aeond_client.records.daemon import ConfigChanges, DaemonStatus
from aeond_client.records.memory import MemoryEntry
from aeond_client.records.models import Embeddings, Engine, ModelInfo, TextPiece
from aeond_client.records.policy import HypotheticalDecision, PolicyInForce, PolicyReplay
from aeond_client.records.tools import ToolResult, ToolSpec

EMBED_SECONDS = 60.0
_TOOLS = methods_of(tools_pb2.DESCRIPTOR)
_MEMORY = methods_of(memory_pb2.DESCRIPTOR)
_MODELS = methods_of(models_pb2.DESCRIPTOR)
_DAEMON = methods_of(daemon_pb2.DESCRIPTOR)
_POLICY = methods_of(policy_pb2.DESCRIPTOR)


def get_status() -> Call[DaemonStatus]:
    return Call(_DAEMON["GetStatus"], daemon_pb2.GetStatusRequest(), partial(read, DaemonStatus))


def reload_config() -> Call[ConfigChanges]:
    request = daemon_pb2.ReloadRequest()
    return Call(_DAEMON["Reload"], request, partial(read, ConfigChanges), seconds=CHANGE_SECONDS)


# ---------------------------------------------------------------- tools


def list_tools() -> PageCall[ToolSpec]:
    return pages(_TOOLS["ListTools"], tools_pb2.ListToolsRequest, "tools", partial(read, ToolSpec))


def get_tool(name: str) -> Call[ToolSpec]:
    request = tools_pb2.GetToolRequest(name=name)
    return Call(_TOOLS["GetTool"], request, lambda reply: read(ToolSpec, reply.tool))


def call_tool(name: str, arguments: dict[str, Any], workspace: str, seconds: float) -> Call[ToolResult]:
    check_unicode("workspace", workspace)
    call = tools_pb2.ToolCall(tool=name, arguments_json=json_text(arguments))
    request = tools_pb2.InvokeToolRequest(call=call, workspace=workspace)
    return Call(_TOOLS["InvokeTool"], request, lambda reply: read(ToolResult, reply.result), False, seconds)


# ---------------------------------------------------------------- memory


def write_memory(key: str, value: Any, uid: int | None = None) -> Call[None]:
    check_unicode("key", key)
    request = memory_pb2.WriteMemoryRequest(key=key, value_json=json_text(value), uid=uid)
    return Call(_MEMORY["WriteMemory"], request, nothing, seconds=CHANGE_SECONDS)


def read_fact(key: str, uid: int | None = None) -> Call[MemoryEntry]:
    check_unicode("key", key)
    request = memory_pb2.ReadMemoryRequest(key=key, uid=uid)
    return Call(_MEMORY["ReadMemory"], request, lambda reply: read(MemoryEntry, reply.entry))


def search_facts(prefix: str, uid: int | None = None) -> PageCall[MemoryEntry]:
    check_unicode("prefix", prefix)
    request = partial(memory_pb2.SearchMemoryRequest, prefix=prefix, uid=uid)
    return pages(_MEMORY["SearchMemory"], request, "entries", partial(read, MemoryEntry))


def delete_memory(key: str, uid: int | None = None) -> Call[bool]:
    check_unicode("key", key)
    request = memory_pb2.DeleteMemoryRequest(key=key, uid=uid)
    # A repeat would report a missing key although this very call had deleted it.
    return Call(_MEMORY["DeleteMemory"], request, lambda reply: bool(reply.existed), False, CHANGE_SECONDS)


# ---------------------------------------------------------------- policy


def get_policy() -> Call[PolicyInForce]:
    return Call(_POLICY["GetPolicy"], policy_pb2.GetPolicyRequest(), partial(read, PolicyInForce))


def test_policy(
    name: str, arguments: dict[str, Any], workspace: str, taint: tuple[str, ...]
) -> Call[HypotheticalDecision]:
    check_unicode("workspace", workspace)
    call = tools_pb2.ToolCall(tool=name, arguments_json=json_text(arguments))
    request = policy_pb2.TestPolicyRequest(call=call, workspace=workspace, taint=taint)
    return Call(_POLICY["TestPolicy"], request, partial(read, HypotheticalDecision))


def replay_policy(run_id: str, policy: str) -> Call[PolicyReplay]:
    check_unicode("policy", policy)
    request = policy_pb2.ReplayPolicyRequest(run_id=run_id, policy=policy)
    return Call(_POLICY["ReplayPolicy"], request, partial(read, PolicyReplay), seconds=CHANGE_SECONDS)


# ---------------------------------------------------------------- models


def list_models() -> PageCall[ModelInfo]:
    return pages(_MODELS["ListModels"], models_pb2.ListModelsRequest, "models", partial(read, ModelInfo))


def load_model(name: str) -> Call[Engine]:
    request = models_pb2.LoadModelRequest(model=name)
    return Call(_MODELS["LoadModel"], request, _engine_of, seconds=CHANGE_SECONDS)


def unload_model() -> Call[Engine]:
    request = models_pb2.UnloadModelRequest()
    return Call(_MODELS["UnloadModel"], request, _engine_of, seconds=CHANGE_SECONDS)


def sleep_model() -> Call[Engine]:
    request = models_pb2.SleepModelRequest()
    return Call(_MODELS["SleepModel"], request, _engine_of, seconds=CHANGE_SECONDS)


def wake_model() -> Call[Engine]:
    request = models_pb2.WakeModelRequest()
    return Call(_MODELS["WakeModel"], request, _engine_of, seconds=CHANGE_SECONDS)


def generate(
    messages: Sequence[tuple[str, str]],
    *,
    max_tokens: int,
    temperature: float,
    schema: Any,
    seconds: float,
    model: str,
    stop: Sequence[str] = (),
    seed: int | None = None,
) -> Call[TextPiece]:
    """The one streaming call here: `read` reads each message. `messages` are roles with their texts."""
    check_unicode("messages", *(text for _, text in messages))
    check_unicode("stop", *stop)
    request = models_pb2.GenerateRequest(
        messages=[
            sessions_pb2.Message(role=_role(role), content_json=json_text(text)) for role, text in messages
        ],
        max_tokens=max_tokens,
        temperature=temperature,
        schema_json="" if schema is None else json_text(schema),
        deadline_seconds=seconds,
        model=model,
        stop=stop,
        seed=seed,
    )
    return Call(_MODELS["Generate"], request, partial(read, TextPiece), False, seconds + GRACE_SECONDS)


def embed(texts: Sequence[str]) -> Call[Embeddings]:
    check_unicode("texts", *texts)
    request = models_pb2.EmbedRequest(texts=texts)
    return Call(_MODELS["Embed"], request, partial(read, Embeddings), seconds=EMBED_SECONDS)


def _role(role: str) -> "sessions_pb2.Role.ValueType":
    try:
        return sessions_pb2.Role.Value(f"ROLE_{role.upper()}")
    except ValueError as error:
        raise InvalidInputError(
            f"There is no role {role!r}: use user, agent, system or tool.", field="messages"
        ) from error


def _engine_of(reply: Any) -> Engine:
    return read(Engine, reply.engine)
