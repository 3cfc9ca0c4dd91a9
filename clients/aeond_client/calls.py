"""Every call of the contract that is answered with one message, as data.

A Call says what is sent where, how the reply is read, whether it may be repeated and how long it may
take. The async and the sync client make calls; what calls there are is said once, here.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from aeond.api.v1 import (
    daemon_pb2,
    memory_pb2,
    models_pb2,
    parts_pb2,
    runs_pb2,
    sessions_pb2,
    tools_pb2,
)
from aeond_client import reading
from aeond_client.daemon import ConfigChanges, DaemonStatus
from aeond_client.errors import InvalidInputError
from aeond_client.models import Engine, ModelInfo, TextPiece
from aeond_client.runs import Budget, Plan, PlanStep, Resolution, Run, RunState, RunSummary
from aeond_client.tools import ToolResult, ToolSpec

T = TypeVar("T")

PAGE_SIZE = 100
# What the daemon takes as one message; gRPC would say so less clearly.
MAX_REQUEST_BYTES = 4 << 20
# What only looks something up, what may wait for a commit, what may wait for work.
_LOOK_SECONDS = 10.0
_CHANGE_SECONDS = 30.0
_GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call: `repeatable` says that asking again does no harm, `seconds` is its deadline.

    Making one raises InvalidInputError (reason REQUEST_TOO_LARGE) when the daemon would not take it.
    """

    method: MethodDescriptor
    request: Message
    reply: type[Message]
    read: Callable[[Any], T]
    repeatable: bool
    seconds: float

    def __post_init__(self) -> None:
        size = self.request.ByteSize()
        if size > MAX_REQUEST_BYTES:
            raise InvalidInputError(
                f"The request has {size} bytes, and the daemon takes {MAX_REQUEST_BYTES}: put what is large "
                "into a file of the workspace.",
                reason="REQUEST_TOO_LARGE",
            )

    @property
    def path(self) -> str:
        return path_of(self.method)


def path_of(method: MethodDescriptor) -> str:
    """A method as gRPC names it."""
    return f"/{method.containing_service.full_name}/{method.name}"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list; `next_page_token` is "" on the last one."""

    items: tuple[T, ...]
    next_page_token: str


PageCall = Callable[[str, int], Call[Page[T]]]
"""Makes the call for the page that a token names, of at most so many items."""

_RUNS = runs_pb2.DESCRIPTOR.services_by_name["RunService"].methods_by_name
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
        _LOOK_SECONDS,
    )


def reload_config() -> Call[ConfigChanges]:
    request = daemon_pb2.ReloadRequest()
    return Call(
        _DAEMON["Reload"], request, daemon_pb2.ReloadResponse, reading.config_changes, True, _CHANGE_SECONDS
    )


# ---------------------------------------------------------------- runs


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is to be done; what is left out is the daemon's choice.

    `workspace` is the absolute path of the folder that file tools are contained in, `parallel_steps` how
    many steps may run at once, `labels` free words that are shown again.
    """

    plan: Plan | None = None
    budget: Budget | None = None
    workspace: str = ""
    session_id: str = ""
    parallel_steps: int = 0
    labels: dict[str, str] | None = None


def create_run(text: str, request_id: str, options: RunOptions) -> Call[Run]:
    _check_unicode(text, "request.text")
    request = runs_pb2.CreateRunRequest(
        request=parts_pb2.RunRequest(
            text=text,
            request_id=request_id,
            session_id=options.session_id,
            workspace=options.workspace,
            parallel_steps=options.parallel_steps,
            labels=options.labels or {},
        )
    )
    if options.plan is not None:
        request.plan.CopyFrom(_plan(options.plan))
    if options.budget is not None:
        request.budget.CopyFrom(_budget(options.budget))
    return Call(
        _RUNS["CreateRun"], request, runs_pb2.CreateRunResponse, _run_of, bool(request_id), _CHANGE_SECONDS
    )


def get_run(run_id: str) -> Call[Run]:
    request = runs_pb2.GetRunRequest(run_id=run_id)
    return Call(_RUNS["GetRun"], request, runs_pb2.GetRunResponse, _run_of, True, _LOOK_SECONDS)


def list_runs(states: Iterable[RunState], session_id: str) -> PageCall[RunSummary]:
    numbers = [parts_pb2.RunState.Value(f"RUN_STATE_{RunState(state).name}") for state in states]

    def page(token: str, size: int) -> Call[Page[RunSummary]]:
        request = runs_pb2.ListRunsRequest(
            page_size=size, page_token=token, states=numbers, session_id=session_id
        )
        read = _page_of("runs", reading.run_summary)
        return Call(_RUNS["ListRuns"], request, runs_pb2.ListRunsResponse, read, True, _LOOK_SECONDS)

    return page


def cancel_run(run_id: str, reason: str) -> Call[Run]:
    request = runs_pb2.CancelRunRequest(run_id=run_id, reason=reason)
    return Call(_RUNS["CancelRun"], request, runs_pb2.CancelRunResponse, _run_of, True, _CHANGE_SECONDS)


def decide_run(run_id: str, resolution: Resolution, step_id: str) -> Call[Run]:
    request = runs_pb2.DecideRunRequest(
        run_id=run_id,
        step_id=step_id,
        resolution=parts_pb2.Resolution.Value(f"RESOLUTION_{Resolution(resolution).name}"),
    )
    return Call(_RUNS["DecideRun"], request, runs_pb2.DecideRunResponse, _run_of, False, _CHANGE_SECONDS)


def watch_run(run_id: str, after_seq: int) -> runs_pb2.WatchRunRequest:
    """The request of a stream that is asked for again and again, each time from where it broke."""
    return runs_pb2.WatchRunRequest(run_id=run_id, after_seq=after_seq)


WATCH_RUN = _RUNS["WatchRun"]


def _run_of(reply: Any) -> Run:
    return reading.run(reply.run)


def _plan(plan: Plan) -> parts_pb2.Plan:
    return parts_pb2.Plan(goal=plan.goal, steps=[_plan_step(step) for step in plan.steps])


def _plan_step(step: PlanStep) -> parts_pb2.PlanStep:
    call = tools_pb2.ToolCall(tool=step.tool, arguments_json=_json(step.arguments)) if step.tool else None
    return parts_pb2.PlanStep(
        step_id=step.step_id,
        description=step.description,
        tool_call=call,
        agent=step.agent,
        depends_on=step.depends_on,
        provides=step.provides,
        handoff_to_next=step.handoff_to_next,
    )


def _budget(budget: Budget) -> parts_pb2.Budget:
    wire = parts_pb2.Budget()
    for field in fields(budget):
        bound = getattr(budget, field.name)
        if bound is None:
            continue
        try:
            setattr(wire, field.name, bound)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"A run's {field.name} cannot be {bound!r}.",
                reason="INVALID_BUDGET",
                field=f"budget.{field.name}",
            ) from error
    return wire


# ---------------------------------------------------------------- tools


def list_tools() -> PageCall[ToolSpec]:
    def page(token: str, size: int) -> Call[Page[ToolSpec]]:
        request = tools_pb2.ListToolsRequest(page_size=size, page_token=token)
        read = _page_of("tools", reading.tool_spec)
        return Call(_TOOLS["ListTools"], request, tools_pb2.ListToolsResponse, read, True, _LOOK_SECONDS)

    return page


def get_tool(name: str) -> Call[ToolSpec]:
    request = tools_pb2.GetToolRequest(name=name)

    def read(reply: tools_pb2.GetToolResponse) -> ToolSpec:
        return reading.tool_spec(reply.tool)

    return Call(_TOOLS["GetTool"], request, tools_pb2.GetToolResponse, read, True, _LOOK_SECONDS)


def call_tool(name: str, arguments: dict[str, Any], workspace: str, seconds: float) -> Call[ToolResult]:
    request = tools_pb2.InvokeToolRequest(
        call=tools_pb2.ToolCall(tool=name, arguments_json=_json(arguments)), workspace=workspace
    )

    def read(reply: tools_pb2.InvokeToolResponse) -> ToolResult:
        return reading.tool_result(reply.result)

    return Call(_TOOLS["InvokeTool"], request, tools_pb2.InvokeToolResponse, read, False, seconds)


# ---------------------------------------------------------------- memory


def write_memory(key: str, value: Any) -> Call[None]:
    request = memory_pb2.WriteMemoryRequest(key=key, value_json=_json(value))
    reply = memory_pb2.WriteMemoryResponse
    return Call(_MEMORY["WriteMemory"], request, reply, _nothing, True, _CHANGE_SECONDS)


def read_memory(key: str) -> Call[Any]:
    request = memory_pb2.ReadMemoryRequest(key=key)

    def read(reply: memory_pb2.ReadMemoryResponse) -> Any:
        return reading.memory_entry(reply.entry)[1]

    return Call(_MEMORY["ReadMemory"], request, memory_pb2.ReadMemoryResponse, read, True, _LOOK_SECONDS)


def search_memory(prefix: str) -> PageCall[tuple[str, Any]]:
    def page(token: str, size: int) -> Call[Page[tuple[str, Any]]]:
        request = memory_pb2.SearchMemoryRequest(prefix=prefix, page_size=size, page_token=token)
        read = _page_of("entries", reading.memory_entry)
        reply = memory_pb2.SearchMemoryResponse
        return Call(_MEMORY["SearchMemory"], request, reply, read, True, _LOOK_SECONDS)

    return page


def delete_memory(key: str) -> Call[bool]:
    request = memory_pb2.DeleteMemoryRequest(key=key)

    def read(reply: memory_pb2.DeleteMemoryResponse) -> bool:
        return reply.existed

    # A repeat would say that the key was not there, although this very call had deleted it.
    return Call(
        _MEMORY["DeleteMemory"], request, memory_pb2.DeleteMemoryResponse, read, False, _CHANGE_SECONDS
    )


# ---------------------------------------------------------------- models


def list_models() -> PageCall[ModelInfo]:
    def page(token: str, size: int) -> Call[Page[ModelInfo]]:
        request = models_pb2.ListModelsRequest(page_size=size, page_token=token)
        read = _page_of("models", reading.model)
        reply = models_pb2.ListModelsResponse
        return Call(_MODELS["ListModels"], request, reply, read, True, _LOOK_SECONDS)

    return page


def load_model(name: str) -> Call[Engine]:
    request = models_pb2.LoadModelRequest(model=name)
    return Call(
        _MODELS["LoadModel"], request, models_pb2.LoadModelResponse, _engine_of, True, _CHANGE_SECONDS
    )


def unload_model() -> Call[Engine]:
    request = models_pb2.UnloadModelRequest()
    return Call(
        _MODELS["UnloadModel"], request, models_pb2.UnloadModelResponse, _engine_of, True, _CHANGE_SECONDS
    )


def generate(
    text: str, *, system: str, max_tokens: int, temperature: float, schema: Any, seconds: float
) -> Call[TextPiece]:
    """The one call here that is answered with a stream: `read` reads each of its messages."""
    said = [(sessions_pb2.ROLE_SYSTEM, system)] if system else []
    _check_unicode(text, "messages")
    request = models_pb2.GenerateRequest(
        messages=[
            sessions_pb2.Message(role=role, content_json=_json(words))
            for role, words in (*said, (sessions_pb2.ROLE_USER, text))
        ],
        max_tokens=max_tokens,
        temperature=temperature,
        schema_json="" if schema is None else _json(schema),
        deadline_seconds=seconds,
    )
    reply = models_pb2.GenerateResponse
    return Call(_MODELS["Generate"], request, reply, reading.text_piece, False, seconds + _GRACE_SECONDS)


def _engine_of(reply: Any) -> Engine:
    return reading.engine(reply.engine)


def _nothing(_reply: Any) -> None:
    return None


def _page_of(field: str, read: Callable[[Any], T]) -> Callable[[Any], Page[T]]:
    def read_page(reply: Any) -> Page[T]:
        items: Sequence[Any] = getattr(reply, field)
        return Page(tuple(read(item) for item in items), reply.next_page_token)

    return read_page


def _json(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"This value cannot be JSON: {error}.", reason="INVALID_JSON") from error


def _check_unicode(text: str, field: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"The text is no UTF-8: see its character {error.start + 1}.", reason="NOT_UTF_8", field=field
        ) from error
