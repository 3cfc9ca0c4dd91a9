"""The scripted daemon's tools, memory and models, and what all its services share: pages and refusals."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeVar

import grpc
import grpc.aio

from aeond.api.v1 import (
    memory_pb2,
    memory_pb2_grpc,
    models_pb2,
    models_pb2_grpc,
    tools_pb2,
    tools_pb2_grpc,
)

T = TypeVar("T")


async def refuse(context: Any, code: grpc.StatusCode, reason: str, *metadata: tuple[str, str]) -> None:
    """Ends a call with a status, as the daemon does."""
    await context.abort(code, f"Refused: {reason}.", (("reason", reason), *metadata))


def page(items: Sequence[T], size: int, token: str) -> tuple[Sequence[T], str]:
    """A page of at most two items, however many are asked for, and the token of the next one."""
    start = int(token or 0)
    end = start + min(size or 50, 2)
    return items[start:end], str(end) if end < len(items) else ""


class ScriptedTools(tools_pb2_grpc.ToolServiceServicer):
    """A tool that echoes and one that fails."""

    def __init__(self) -> None:
        self.calls: list[tools_pb2.InvokeToolRequest] = []
        self.specs = [
            tools_pb2.ToolSpec(
                name=name,
                description=f"The tool {name}.",
                input_schema_json='{"type": "object"}',
                output_schema_json="{}",
                effect=tools_pb2.EFFECT_PURE,
                example_json='{"text": "hello"}',
                timeout_seconds=30,
            )
            for name in ("echo", "fail", "loud")
        ]

    def add_to(self, server: grpc.aio.Server) -> None:
        tools_pb2_grpc.add_ToolServiceServicer_to_server(self, server)

    async def ListTools(self, request: tools_pb2.ListToolsRequest, context: Any) -> Any:  # noqa: N802 - the contract's
        shown, token = page(self.specs, request.page_size, request.page_token)
        return tools_pb2.ListToolsResponse(tools=shown, next_page_token=token)

    async def GetTool(self, request: tools_pb2.GetToolRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        for spec in self.specs:
            if spec.name == request.name:
                return tools_pb2.GetToolResponse(tool=spec)
        return await refuse(context, grpc.StatusCode.NOT_FOUND, "TOOL_NOT_FOUND")

    async def InvokeTool(self, request: tools_pb2.InvokeToolRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        self.calls.append(request)
        await self.GetTool(tools_pb2.GetToolRequest(name=request.call.tool), context)
        arguments = json.loads(request.call.arguments_json or "{}")
        result = tools_pb2.ToolResult(metadata_json='{"duration_seconds": 0.5}')
        if request.call.tool == "fail":
            result.error, result.reason = "It did not work.", "TOOL_FAILED"
        else:
            loud = "\x1b]0;owned\x07\u202egnp.exe\x9b31m"
            result.success = True
            result.data_json = json.dumps(loud if request.call.tool == "loud" else arguments)
        return tools_pb2.InvokeToolResponse(result=result)


class ScriptedMemory(memory_pb2_grpc.MemoryServiceServicer):
    """Keys and values in a dictionary, and the sources of some: a run and its taint."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.sources: dict[str, tuple[str, tuple[str, ...]]] = {}

    def add_to(self, server: grpc.aio.Server) -> None:
        memory_pb2_grpc.add_MemoryServiceServicer_to_server(self, server)

    async def WriteMemory(self, request: memory_pb2.WriteMemoryRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        if not request.key:
            await refuse(context, grpc.StatusCode.INVALID_ARGUMENT, "EMPTY_KEY", ("field", "key"))
        self.values[request.key] = request.value_json
        return memory_pb2.WriteMemoryResponse()

    async def ReadMemory(self, request: memory_pb2.ReadMemoryRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        if request.key not in self.values:
            await refuse(context, grpc.StatusCode.NOT_FOUND, "KEY_NOT_FOUND")
        return memory_pb2.ReadMemoryResponse(entry=self._entry(request.key))

    async def SearchMemory(self, request: memory_pb2.SearchMemoryRequest, context: Any) -> Any:  # noqa: N802 - the contract's
        found = [key for key in sorted(self.values) if key.startswith(request.prefix)]
        shown, token = page(found, request.page_size, request.page_token)
        return memory_pb2.SearchMemoryResponse(entries=map(self._entry, shown), next_page_token=token)

    async def DeleteMemory(self, request: memory_pb2.DeleteMemoryRequest, context: Any) -> Any:  # noqa: N802 - the contract's
        existed = self.values.pop(request.key, None) is not None
        return memory_pb2.DeleteMemoryResponse(existed=existed)

    def _entry(self, key: str) -> memory_pb2.MemoryEntry:
        run_id, taint = self.sources.get(key, ("", ()))
        return memory_pb2.MemoryEntry(key=key, value_json=self.values[key], run_id=run_id, taint=taint)


class ScriptedModels(models_pb2_grpc.ModelServiceServicer):
    """A catalogue of one model, which repeats its prompt word by word."""

    def __init__(self) -> None:
        self.loaded = True
        self.asleep = False
        self.starting: models_pb2.Engine | None = None  # how the engine is right after a load, if not ready

    def add_to(self, server: grpc.aio.Server) -> None:
        models_pb2_grpc.add_ModelServiceServicer_to_server(self, server)

    async def ListModels(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract's
        model = models_pb2.Model(name="tiny", size_bytes=98_000_000, licence="Apache-2.0", present=True)
        model.loaded, model.default, model.description = self.loaded, True, "A small one."
        return models_pb2.ListModelsResponse(models=[model])

    async def Embed(self, request: models_pb2.EmbedRequest, context: Any) -> Any:  # noqa: N802 - the contract's
        vectors = [models_pb2.Embedding(values=[len(text), 0.5]) for text in request.texts]
        return models_pb2.EmbedResponse(model="letters", embeddings=vectors)

    async def LoadModel(self, request: models_pb2.LoadModelRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        if request.model not in {"", "tiny"}:
            await refuse(context, grpc.StatusCode.NOT_FOUND, "MODEL_NOT_FOUND", ("field", "model"))
        self.loaded = True
        return models_pb2.LoadModelResponse(engine=self.starting or self._engine())

    async def UnloadModel(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract's
        self.loaded = self.asleep = False
        return models_pb2.UnloadModelResponse(engine=self._engine())

    async def SleepModel(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract's
        self.loaded, self.asleep = False, True
        return models_pb2.SleepModelResponse(engine=self._engine())

    async def WakeModel(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract's
        self.loaded, self.asleep = True, False
        return models_pb2.WakeModelResponse(engine=self.starting or self._engine())

    async def Generate(self, request: models_pb2.GenerateRequest, context: Any) -> AsyncIterator[Any]:  # noqa: N802 - the contract's
        for word in str(json.loads(request.messages[-1].content_json)).split():
            yield models_pb2.GenerateResponse(text=f"{word} ")
        last = models_pb2.GenerateResponse(finish_reason=models_pb2.FINISH_REASON_STOP)
        last.usage.completion_tokens = 7
        yield last

    def _engine(self) -> models_pb2.Engine:
        if self.asleep:
            return models_pb2.Engine(state=models_pb2.ENGINE_STATE_ASLEEP, model="tiny")
        state = models_pb2.ENGINE_STATE_READY if self.loaded else models_pb2.ENGINE_STATE_COLD
        return models_pb2.Engine(state=state, model="tiny" if self.loaded else "")
