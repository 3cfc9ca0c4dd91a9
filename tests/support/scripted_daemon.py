"""A daemon that implements the contract in memory, with a real gRPC server on a real Unix socket.

The course of runs is scripted; everything else (paging, sequence numbers, errors and their metadata) follows
the contract. `stop` closes every connection and keeps the journal, like a SIGKILL; `start` serves it again.
"""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import grpc
import grpc.aio
from grpc_reflection.v1alpha import reflection

from aeond.api.v1 import (
    daemon_pb2,
    daemon_pb2_grpc,
    events_pb2,
    models_pb2,
    parts_pb2,
    runs_pb2,
    runs_pb2_grpc,
)
from tests.support import wire_events
from tests.support.counts import Count
from tests.support.scripted_catalogues import (
    ScriptedMemory,
    ScriptedModels,
    ScriptedTools,
    page,
    refuse,
)

Script = Callable[[parts_pb2.RunRequest], list[Any]]


class ScriptedRun:
    """One run's journal, with what was shown live in between."""

    def __init__(self, run_id: str, request: runs_pb2.CreateRunRequest) -> None:
        self.run_id = run_id
        self.request = request
        self.items: list[events_pb2.Event] = []
        self.changed = anyio.Event()

    @property
    def numbered(self) -> list[events_pb2.Event]:
        return [item for item in self.items if item.seq]

    @property
    def ended(self) -> bool:
        return bool(self.items) and self.items[-1].HasField("run_ended")

    def append(self, kind: Any) -> None:
        live = isinstance(kind, events_pb2.TextDelta | events_pb2.Progress)
        seq = 0 if live else len(self.numbered) + 1
        self.items.append(wire_events.event(self.run_id, seq, kind))
        self.changed.set()
        self.changed = anyio.Event()

    def snapshot(self) -> runs_pb2.Run:
        """The run folded from its events, as far as the tests look."""
        run = runs_pb2.Run(
            run_id=self.run_id, state=parts_pb2.RUN_STATE_PENDING, request=self.request.request
        )
        run.budget.CopyFrom(self.request.budget)
        for item in self.numbered:
            run.last_seq = item.seq
            _fold(run, item)
        run.created_time.seconds = wire_events.START_TIME
        return run


def _fold(run: runs_pb2.Run, item: events_pb2.Event) -> None:
    kind = item.WhichOneof("kind")
    if kind == "run_created":
        run.parent_run_id = item.run_created.parent_run_id
    elif kind == "run_started":
        run.state = parts_pb2.RUN_STATE_RUNNING
    elif kind == "plan_adopted":
        for planned in item.plan_adopted.plan.steps:
            run.steps.add(step=planned, state=parts_pb2.STEP_STATE_PENDING)
    elif kind == "step_started":
        for step in run.steps:
            if step.step.step_id == item.step_started.step.step_id:
                step.state, step.attempt = parts_pb2.STEP_STATE_RUNNING, item.step_started.attempt
    elif kind == "step_ended":
        ended = item.step_ended
        for step in run.steps:
            if step.step.step_id == ended.step_id:
                step.state, step.output_json, step.error = ended.state, ended.output_json, ended.error
                step.reason, step.duration_seconds = ended.reason, ended.duration_seconds
    elif kind == "run_suspended":
        run.state, run.suspend_reason = parts_pb2.RUN_STATE_SUSPENDED, item.run_suspended.reason
    elif kind == "step_resolved":
        run.state = parts_pb2.RUN_STATE_RUNNING
    elif kind == "answer_composed":
        run.answer.CopyFrom(item.answer_composed.answer)
    elif kind == "cancel_requested":
        run.cancel_requested = True
    elif kind == "run_ended":
        run.state = item.run_ended.state
        if item.run_ended.HasField("problem"):
            run.problem.CopyFrom(item.run_ended.problem)


class ScriptedRuns(runs_pb2_grpc.RunServiceServicer):
    """Runs by script; `batch` is how many events one message of a watch carries at most."""

    def __init__(self) -> None:
        self.runs: dict[str, ScriptedRun] = {}
        self.script: Script = lambda _request: wire_events.answered_run()
        self.later: list[list[Any]] = []  # the events that follow each reading of a run's state
        self.batch = 3
        self.undo_response = runs_pb2.UndoRunResponse()
        self.refusals: list[tuple[grpc.StatusCode, str]] = []
        self.watches: list[int] = []  # the after_seq of every watch that was opened
        self.open_watches = Count()
        self.cuts: list[tuple[grpc.StatusCode, str]] = []  # how the next watches end after their first page

    async def CreateRun(self, request: runs_pb2.CreateRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        if self.refusals:
            code, reason = self.refusals.pop(0)
            await refuse(context, code, reason, ("retry-after-ms", "10"))
        if not request.request.text:
            await refuse(context, grpc.StatusCode.INVALID_ARGUMENT, "EMPTY_TEXT", ("field", "request.text"))
        known = [
            run for run in self.runs.values() if run.request.request.request_id == request.request.request_id
        ]
        if known and request.request.request_id:
            return runs_pb2.CreateRunResponse(run=known[0].snapshot())
        run = ScriptedRun(f"01RUN{len(self.runs) + 1:04d}", request)
        self.runs[run.run_id] = run
        for kind in self.script(request.request):
            run.append(kind)
        return runs_pb2.CreateRunResponse(run=run.snapshot())

    async def GetRun(self, request: runs_pb2.GetRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        run = await self._find(request.run_id, context)
        reply = runs_pb2.GetRunResponse(run=run.snapshot())
        for kind in self.later.pop(0) if self.later else ():
            run.append(kind)
        return reply

    async def ListRuns(self, request: runs_pb2.ListRunsRequest, context: Any) -> Any:  # noqa: N802 - the contract's
        found = [run.snapshot() for run in reversed(self.runs.values())]
        wanted = [run for run in found if not request.states or run.state in request.states]
        shown, token = page(wanted, request.page_size, request.page_token)
        reply = runs_pb2.ListRunsResponse(next_page_token=token)
        for run in shown:
            line = reply.runs.add(run_id=run.run_id, state=run.state, text=run.request.text)
            line.last_seq, line.parent_run_id = run.last_seq, run.parent_run_id
        return reply

    async def CancelRun(self, request: runs_pb2.CancelRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        run = await self._find(request.run_id, context)
        if not run.ended:
            run.append(events_pb2.CancelRequested(reason=request.reason))
            run.append(wire_events.ended(parts_pb2.RUN_STATE_CANCELLED))
        return runs_pb2.CancelRunResponse(run=run.snapshot())

    async def DecideRun(self, request: runs_pb2.DecideRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        run = await self._find(request.run_id, context)
        if run.snapshot().state != parts_pb2.RUN_STATE_SUSPENDED:
            await refuse(context, grpc.StatusCode.FAILED_PRECONDITION, "NOTHING_TO_DECIDE")
        run.append(events_pb2.StepResolved(step_id=request.step_id, resolution=request.resolution))
        run.append(wire_events.composed("Done after all."))
        run.append(wire_events.ended())
        return runs_pb2.DecideRunResponse(run=run.snapshot())

    async def UndoRun(self, request: runs_pb2.UndoRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        run = await self._find(request.run_id, context)
        if not run.ended:
            await refuse(context, grpc.StatusCode.FAILED_PRECONDITION, "RUN_NOT_ENDED")
        return self.undo_response

    async def DeleteRun(self, request: runs_pb2.DeleteRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        run = await self._find(request.run_id, context)
        if not run.ended:
            await refuse(context, grpc.StatusCode.FAILED_PRECONDITION, "RUN_NOT_ENDED")
        del self.runs[request.run_id]
        return runs_pb2.DeleteRunResponse()

    async def WatchRun(self, request: runs_pb2.WatchRunRequest, context: Any) -> AsyncIterator[Any]:  # noqa: N802 - the contract's name
        run = await self._find(request.run_id, context)
        if request.after_seq > len(run.numbered):
            await refuse(context, grpc.StatusCode.INVALID_ARGUMENT, "SEQ_AHEAD", ("field", "after_seq"))
        await context.send_initial_metadata(())
        self.watches.append(request.after_seq)
        with self.open_watches.one_more():
            past = len(run.items)
            position = 0
            while True:
                batch = [
                    item
                    for index, item in enumerate(run.items[position:], start=position)
                    if item.seq > request.after_seq or (not item.seq and index >= past)
                ]
                position = len(run.items)
                for start in range(0, len(batch), self.batch):
                    yield runs_pb2.WatchRunResponse(events=batch[start : start + self.batch])
                if self.cuts:
                    code, reason = self.cuts.pop(0)
                    await refuse(context, code, reason, ("last-seq", str(len(run.numbered))))
                if position < len(run.items):
                    continue
                if run.ended:
                    return
                await run.changed.wait()

    async def _find(self, run_id: str, context: Any) -> ScriptedRun:
        if run_id not in self.runs:
            await refuse(context, grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND")
        return self.runs[run_id]


class ScriptedStatus(daemon_pb2_grpc.DaemonServiceServicer):
    """A daemon that is well, unless it has `messages`. `engines` and `states` are how its engine and it are at each look to
    come; after that they are ready."""

    def __init__(self) -> None:
        self.engines: list[models_pb2.Engine] = []
        self.states: list[daemon_pb2.DaemonState.ValueType] = []
        self.messages: list[str] = []

    async def GetStatus(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract's
        reply = daemon_pb2.GetStatusResponse(
            version="0.1.0", state=daemon_pb2.DAEMON_STATE_READY, pid=4711, uptime_seconds=65.0, tool_count=2
        )
        ready = models_pb2.Engine(state=models_pb2.ENGINE_STATE_READY, model="tiny")
        reply.engine.CopyFrom(self.engines.pop(0) if self.engines else ready)
        reply.load.max_running_runs = 8
        if self.states:
            reply.state = self.states.pop(0)
        if self.messages:
            reply.state = daemon_pb2.DAEMON_STATE_DEGRADED
            reply.messages.extend(self.messages)
        return reply

    async def Reload(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract's
        return daemon_pb2.ReloadResponse(
            changed_keys=["log.level", "runs.max_running"], restart_keys=["model.name"]
        )


class ScriptedDaemon:
    """The whole daemon on one socket. `async with` starts and stops it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = ScriptedRuns()  # type: ignore[abstract]  # what is not scripted answers UNIMPLEMENTED
        self.tools = ScriptedTools()  # type: ignore[abstract]  # what is not scripted answers UNIMPLEMENTED
        self.memory = ScriptedMemory()
        self.status = ScriptedStatus()
        self.models = ScriptedModels()
        self.catalogues: list[Any] = [self.tools, self.memory, self.models]
        self._server: grpc.aio.Server | None = None

    async def start(self) -> None:
        server = grpc.aio.server()
        runs_pb2_grpc.add_RunServiceServicer_to_server(self.runs, server)
        daemon_pb2_grpc.add_DaemonServiceServicer_to_server(self.status, server)
        for catalogue in self.catalogues:
            catalogue.add_to(server)
        services = (runs_pb2.DESCRIPTOR.services_by_name["RunService"].full_name, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(services, server)
        server.add_insecure_port(f"unix:{self.path}")
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """Cuts every connection at once; the journal stays."""
        server, self._server = self._server, None
        if server is not None:
            await server.stop(None)
        self.path.unlink(missing_ok=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self.stop()


def journal_of(run: ScriptedRun) -> list[tuple[int, str]]:
    """Number and kind of every journaled event."""
    return [(item.seq, str(item.WhichOneof("kind"))) for item in run.numbered]
