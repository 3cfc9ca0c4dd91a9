"""The scripted daemon with approvals, as the contract reserves them, for the popup's tests."""

from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from aeond.api.v1 import (
    events_pb2,
    judgements_pb2,
    parts_pb2,
    runs_pb2,
    sessions_pb2,
    sessions_pb2_grpc,
    tools_pb2,
)
from tests.support import wire_events
from tests.support.scripted_catalogues import refuse
from tests.support.scripted_daemon import ScriptedDaemon, ScriptedRun, ScriptedRuns

APPROVAL = parts_pb2.ApprovalRequest(
    approval_id="a1",
    step_ids=["s1"],
    calls=[tools_pb2.ToolCall(tool="send", arguments_json='{"to": "marta"}')],
    digest="digest of exactly this call",
    message="It leaves this computer.",
)


class ApprovingRuns(ScriptedRuns):
    """Runs that wait for one approval, which is accepted only with the digest that was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.decided: list[tuple[str, bool]] = []
        self.refused: set[str] = set()  # the calls that fail
        self.forks: dict[
            str, list[int]
        ] = {}  # the last copied events of the calls for each fork, by its request id
        self.created: dict[str, Timestamp] = {}  # by run; a run without a time is old

    async def CreateRun(self, request: runs_pb2.CreateRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        reply = await super().CreateRun(request, context)
        self.created.setdefault(reply.run.run_id, Timestamp()).GetCurrentTime()
        return reply

    async def ListRuns(self, request: runs_pb2.ListRunsRequest, context: Any) -> Any:  # noqa: N802 - the contract's
        reply = await super().ListRuns(request, context)
        for run in reply.runs:
            run.created_time.CopyFrom(self.created.get(run.run_id, Timestamp()))
        return reply

    def has_run(self, run_id: str, parent_run_id: str = "", *kinds: Any) -> ScriptedRun:
        """Adds a run of another client."""
        run = self.runs[run_id] = ScriptedRun(run_id, runs_pb2.CreateRunRequest())
        created = wire_events.created(run_id)
        created.parent_run_id = parent_run_id
        for kind in (created, *kinds):
            run.append(kind)
        return run

    async def ForkRun(self, request: runs_pb2.ForkRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        """Creates a fork that ends at once. A refused reply is lost after that."""
        if not request.after_seq:
            await refuse(context, grpc.StatusCode.INVALID_ARGUMENT, "FORK_DOES_NOT_FIT")
        calls = self.forks.setdefault(request.request_id, [])
        calls.append(request.after_seq)
        run_id = f"fork-{request.request_id}"
        if run_id not in self.runs:
            self.has_run(run_id, "", wire_events.composed("Continued."), wire_events.ended())
        if "ForkRun" in self.refused:
            await refuse(context, grpc.StatusCode.UNAVAILABLE, "DRAINING")
        return runs_pb2.ForkRunResponse(run=self.runs[run_id].snapshot())

    async def GetRun(self, request: runs_pb2.GetRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        if "GetRun" in self.refused:
            await refuse(context, grpc.StatusCode.UNAVAILABLE, "DRAINING")
        reply = await super().GetRun(request, context)
        return runs_pb2.GetRunResponse(run=self._with_approvals(self.runs[request.run_id], reply.run))

    async def DecideRun(self, request: runs_pb2.DecideRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        run = self.runs[request.run_id]
        if request.approval.digest != APPROVAL.digest or "DecideRun" in self.refused:
            await refuse(context, grpc.StatusCode.FAILED_PRECONDITION, "APPROVAL_CHANGED")
        self.decided.append((request.approval.approval_id, request.approval.approved))
        decided = judgements_pb2.ApprovalDecided(approval_id="a1", approved=request.approval.approved)
        run.append(decided)
        run.append(wire_events.composed("Decided."))
        run.append(wire_events.ended())
        return runs_pb2.DecideRunResponse(run=self._with_approvals(run, run.snapshot()))

    def _with_approvals(self, run: ScriptedRun, snapshot: runs_pb2.Run) -> runs_pb2.Run:
        kinds = [item.WhichOneof("kind") for item in run.numbered]
        if "approval_requested" in kinds and "approval_decided" not in kinds:
            snapshot.approvals.append(APPROVAL)
        return snapshot


class OneSession(sessions_pb2_grpc.SessionServiceServicer):
    """Creates the same session for every request."""

    def add_to(self, server: grpc.aio.Server) -> None:
        sessions_pb2_grpc.add_SessionServiceServicer_to_server(self, server)

    async def CreateSession(self, request: Any, context: Any) -> Any:  # noqa: N802 - the contract's name
        return sessions_pb2.CreateSessionResponse(session=sessions_pb2.Session(session_id="session-1"))


def approving_daemon(path: Path) -> tuple[ScriptedDaemon, ApprovingRuns]:
    """The scripted daemon with sessions, whose runs stop at an approval."""
    daemon, runs = ScriptedDaemon(path), ApprovingRuns()  # type: ignore[abstract]  # the rest answers UNIMPLEMENTED
    daemon.runs = runs
    daemon.catalogues.append(OneSession())  # type: ignore[abstract]  # the same
    step = wire_events.tool_step("s1", "send", to="marta")
    runs.script = lambda _request: [
        wire_events.created(),
        events_pb2.RunStarted(),
        wire_events.adopted(step),
        judgements_pb2.ApprovalRequested(approval=APPROVAL),
    ]
    return daemon, runs
