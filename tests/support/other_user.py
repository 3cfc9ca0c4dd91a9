"""Another user of the daemon: a program that tries every call on things that are not its own.

Run as a process of its own, because a connection has the user of the process that opened it:
`python -m tests.support.other_user UID SOCKET THINGS`, which becomes the user once everything is imported (the user may
not be able to read these files). THINGS is a JSON object with the names `run`, `session`, `key`
and `tokens`; with `approval` also `digest`, `request_id` and `tool`, a tool that the run's user serves. Prints a JSON object: for each call the code, reason and text of its failure, or what it returned.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import grpc

from aeond.api.v1 import (
    daemon_pb2,
    daemon_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    models_pb2,
    models_pb2_grpc,
    parts_pb2,
    policy_pb2,
    policy_pb2_grpc,
    runs_pb2,
    runs_pb2_grpc,
    sessions_pb2,
    sessions_pb2_grpc,
    tools_pb2,
    tools_pb2_grpc,
)
from tests.support.outsiders import OTHER_UID
from tests.support.repository import ROOT

CALL_SECONDS = 30.0


def outcomes_of(socket: str, things: Mapping[str, Any], uid: int = OTHER_UID) -> dict[str, Any]:
    """The report of this user's program. Only root can start it."""
    completed = subprocess.run(
        [sys.executable, "-m", "tests.support.other_user", str(uid), socket, json.dumps(things)],
        cwd=ROOT,
        env={**os.environ, "GRPC_VERBOSITY": "NONE"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    outcomes: dict[str, Any] = json.loads(completed.stdout)
    return outcomes


def _attempts(channel: grpc.Channel, things: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    runs, sessions = runs_pb2_grpc.RunServiceStub(channel), sessions_pb2_grpc.SessionServiceStub(channel)
    memory, tools = memory_pb2_grpc.MemoryServiceStub(channel), tools_pb2_grpc.ToolServiceStub(channel)
    models, daemon = models_pb2_grpc.ModelServiceStub(channel), daemon_pb2_grpc.DaemonServiceStub(channel)
    run, session, key, tokens = things["run"], things["session"], things["key"], things["tokens"]
    abort = parts_pb2.RESOLUTION_ABORT
    for name, stub, request in (
        ("get", runs.GetRun, runs_pb2.GetRunRequest(run_id=run)),
        ("watch", runs.WatchRun, runs_pb2.WatchRunRequest(run_id=run)),
        ("watch the tree", runs.WatchRun, runs_pb2.WatchRunRequest(run_id=run, include_children=True)),
        ("cancel", runs.CancelRun, runs_pb2.CancelRunRequest(run_id=run)),
        ("answer", runs.AnswerRun, runs_pb2.AnswerRunRequest(run_id=run, answer_json='"red"')),
        ("decide", runs.DecideRun, runs_pb2.DecideRunRequest(run_id=run, resolution=abort)),
        ("fork", runs.ForkRun, runs_pb2.ForkRunRequest(run_id=run)),
        ("replay", runs.ReplayRun, runs_pb2.ReplayRunRequest(run_id=run)),
        ("undo", runs.UndoRun, runs_pb2.UndoRunRequest(run_id=run)),
        ("delete", runs.DeleteRun, runs_pb2.DeleteRunRequest(run_id=run)),
        (
            "create in the session",
            runs.CreateRun,
            runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="x", session_id=session)),
        ),
        ("get the session", sessions.GetSession, sessions_pb2.GetSessionRequest(session_id=session)),
        ("delete the session", sessions.DeleteSession, sessions_pb2.DeleteSessionRequest(session_id=session)),
        ("read the session", sessions.ListMessages, sessions_pb2.ListMessagesRequest(session_id=session)),
        ("preview", sessions.PreviewContext, sessions_pb2.PreviewContextRequest(session_id=session)),
        ("read the key", memory.ReadMemory, memory_pb2.ReadMemoryRequest(key=key)),
        ("list runs", runs.ListRuns, runs_pb2.ListRunsRequest(page_size=50)),
        (
            "list the session's runs",
            runs.ListRuns,
            runs_pb2.ListRunsRequest(session_id=session, page_size=50),
        ),
        ("list the run's children", runs.ListRuns, runs_pb2.ListRunsRequest(parent_run_id=run, page_size=50)),
        ("list runs by a token", runs.ListRuns, runs_pb2.ListRunsRequest(page_token=tokens["runs"])),
        ("list sessions", sessions.ListSessions, sessions_pb2.ListSessionsRequest(page_size=50)),
        (
            "list sessions by a token",
            sessions.ListSessions,
            sessions_pb2.ListSessionsRequest(page_token=tokens["sessions"]),
        ),
        ("search memory", memory.SearchMemory, memory_pb2.SearchMemoryRequest(page_size=50)),
        (
            "search memory by a token",
            memory.SearchMemory,
            memory_pb2.SearchMemoryRequest(page_token=tokens["memory"]),
        ),
        (
            "recall",
            tools.InvokeTool,
            tools_pb2.InvokeToolRequest(call=tools_pb2.ToolCall(tool="recall", arguments_json="{}")),
        ),
        ("delete the key", memory.DeleteMemory, memory_pb2.DeleteMemoryRequest(key=key)),
        ("write the key", memory.WriteMemory, memory_pb2.WriteMemoryRequest(key=key, value_json='"theirs"')),
        ("reload", daemon.Reload, daemon_pb2.ReloadRequest()),
        ("load", models.LoadModel, models_pb2.LoadModelRequest()),
        ("unload", models.UnloadModel, models_pb2.UnloadModelRequest()),
        ("sleep", models.SleepModel, models_pb2.SleepModelRequest()),
        ("wake", models.WakeModel, models_pb2.WakeModelRequest()),
    ):
        yield name, lambda stub=stub, request=request: stub(request, timeout=CALL_SECONDS)  # type: ignore[misc]


def _further_attempts(
    channel: grpc.Channel, things: Mapping[str, Any]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    runs, tools = runs_pb2_grpc.RunServiceStub(channel), tools_pb2_grpc.ToolServiceStub(channel)
    policy = policy_pb2_grpc.PolicyServiceStub(channel)
    run, tool = things["run"], things["tool"]
    request = parts_pb2.RunRequest(text="mine", request_id=things["request_id"])
    plan = parts_pb2.Plan(
        goal="call it",
        steps=[parts_pb2.PlanStep(step_id="s1", description="x", tool_call=tools_pb2.ToolCall(tool=tool))],
    )
    terminal = tools_pb2.TerminalOffer(run_id=run, size=tools_pb2.TerminalSize(rows=24, columns=80))
    for name, stub, message in (
        (
            "approve",
            runs.DecideRun,
            runs_pb2.DecideRunRequest(
                run_id=run,
                approval=runs_pb2.ApprovalDecision(
                    approval_id=things["approval"], digest=things["digest"], approved=True
                ),
            ),
        ),
        ("replay the policy", policy.ReplayPolicy, policy_pb2.ReplayPolicyRequest(run_id=run)),
        ("attach a terminal", tools.AttachTerminal, iter([tools_pb2.AttachTerminalRequest(offer=terminal)])),
        ("get the served tool", tools.GetTool, tools_pb2.GetToolRequest(name=tool)),
        ("list tools", tools.ListTools, tools_pb2.ListToolsRequest(page_size=500)),
        (
            "call the served tool",
            tools.InvokeTool,
            tools_pb2.InvokeToolRequest(call=tools_pb2.ToolCall(tool=tool)),
        ),
        (
            "plan with the served tool",
            runs.RunAndWatch,
            runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="mine"), plan=plan),
        ),
        ("create by the request id", runs.CreateRun, runs_pb2.CreateRunRequest(request=request)),
        ("watch by the request id", runs.RunAndWatch, runs_pb2.RunAndWatchRequest(request=request)),
        ("serve the tool", tools.ServeTools, iter([_offer(tool)])),
        ("serve a built-in tool", tools.ServeTools, iter([_offer("write_file")])),
    ):
        yield name, lambda stub=stub, message=message: stub(message, timeout=CALL_SECONDS)  # type: ignore[misc]


def _offer(name: str) -> tools_pb2.ServeToolsRequest:
    schema = '{"type": "object"}'
    spec = tools_pb2.ToolSpec(
        name=name, description="Theirs.", input_schema_json=schema, output_schema_json="{}"
    )
    return tools_pb2.ServeToolsRequest(offer=tools_pb2.ToolOffer(source="theirs", tools=[spec]))


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        answer = call()
        answers = list(answer) if hasattr(answer, "__next__") else [answer]
    except grpc.RpcError as error:
        failed: Any = error  # the stubs do not say that it is the call itself
        metadata = dict(failed.trailing_metadata() or ())
        return [failed.code().name, metadata.get("reason"), metadata.get("field", ""), failed.details()]
    return " ".join(str(one) for one in answers)


def main(uid: int, socket: str, things: Mapping[str, Any]) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        attempts = _further_attempts if "approval" in things else _attempts
        outcomes = {name: _outcome(call) for name, call in attempts(channel, things)}
    sys.stdout.write(json.dumps(outcomes))
    sys.stdout.flush()
    os._exit(0)  # without waiting for threads of gRPC, which do not end now and then


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
