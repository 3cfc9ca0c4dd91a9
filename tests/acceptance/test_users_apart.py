"""Two users of one daemon: what belongs to one is, for the other, as if it did not exist."""

import os
from pathlib import Path
from typing import Any

import grpc
import pytest

from aeond.api.v1 import memory_pb2, memory_pb2_grpc, runs_pb2, runs_pb2_grpc, sessions_pb2, sessions_pb2_grpc
from aeond_client import ServedTools, tool
from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.errors import NotFoundError, RefusedError
from aeond_client.events import ApprovalRequested, InputRequested
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.support.collecting import Collector
from tests.support.daemon_process import Overrides
from tests.support.other_user import outcomes_of
from tests.support.outsiders import OTHER_UID
from tests.support.stages import Stage, staged

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")

ASK = Plan("ask", (PlanStep("s1", "ask", "request_user_input", {"prompt": "Which colour?"}),))
SECRET = "the gate code is 7714"
NOT_FOUND = {
    **dict.fromkeys(("get", "watch", "watch the tree", "cancel", "answer", "decide"), "RUN_NOT_FOUND"),
    **dict.fromkeys(("fork", "replay", "undo", "delete"), "RUN_NOT_FOUND"),
    **dict.fromkeys(("get the session", "delete the session", "read the session"), "SESSION_NOT_FOUND"),
    **dict.fromkeys(("preview", "create in the session"), "SESSION_NOT_FOUND"),
    "read the key": "KEY_NOT_FOUND",
}
ADMIN_ONLY = ("reload", "load", "unload", "sleep", "wake")


def open_to_all(folder: Path, overrides: Overrides | None = None) -> Any:
    """A daemon that every user of the machine may use."""
    folder.chmod(0o755)
    return staged(folder, {"socket": {"mode": "0666"}, **(overrides or {})})


def things_of(client: Client, socket: str) -> dict[str, Any]:
    """A run that asks in a session, another session, two keys, and tokens of the lists that have them."""
    session = client.create_session(SECRET).session_id
    client.create_session(SECRET)
    for key in ("gate", "gate code"):
        client.write_memory(key, SECRET)
    run = client.create_run(SECRET, RunOptions(plan=ASK, session_id=session))
    client.create_run(SECRET, RunOptions(plan=ASK))
    with Collector(socket, run.run_id) as seen:
        seen.wait_for(InputRequested)
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        pages: dict[str, Any] = {
            "runs": runs_pb2_grpc.RunServiceStub(channel).ListRuns(runs_pb2.ListRunsRequest(page_size=1)),
            "sessions": sessions_pb2_grpc.SessionServiceStub(channel).ListSessions(
                sessions_pb2.ListSessionsRequest(page_size=1)
            ),
            "memory": memory_pb2_grpc.MemoryServiceStub(channel).SearchMemory(
                memory_pb2.SearchMemoryRequest(page_size=1)
            ),
        }
    return {
        "run": run.run_id,
        "session": session,
        "key": "gate",
        "tokens": {name: page.next_page_token for name, page in pages.items()},
    }


def anonymous(outcome: list[str], things: dict[str, Any]) -> list[str]:
    """The outcome with the ids replaced as if none of the things existed."""
    for thing in (things["run"], things["session"], f"'{things['key']}'"):
        outcome = [text.replace(thing, "'missing'" if thing[0] == "'" else "missing") for text in outcome]
    return outcome


def test_another_user_finds_nothing_and_changes_nothing(folder: Path) -> None:
    """Another allowed user, who could once list, read, watch, cancel, fork, answer and decide runs, read and delete
    sessions, read, overwrite and delete memory, reload and unload, is answered word for word as if none of these things
    existed, gets empty lists, also from others' page tokens, and changes nothing.
    """
    with open_to_all(folder) as stage, Client(stage.socket) as client:
        things = things_of(client, stage.socket)
        assert all(things["tokens"].values())
        missing = {**things, "run": "missing", "session": "missing", "key": "missing"}
        found, not_there = (outcomes_of(stage.socket, one) for one in (things, missing))
        for name, outcome in found.items():
            assert SECRET not in str(outcome), name
            if name in NOT_FOUND:
                assert outcome[:2] == ["NOT_FOUND", NOT_FOUND[name]], name
                assert anonymous(outcome, things) == not_there[name], name
            elif name in ADMIN_ONLY:
                assert outcome[:2] == ["PERMISSION_DENIED", "ADMIN_ONLY"], name
            elif name.startswith(("list", "search")):
                assert outcome == "", name
        assert "nothing is remembered" in found["recall"]
        assert found["delete the key"] == ""
        run = client.get_run(things["run"])
        assert (run.state, run.cancel_requested) == (RunState.AWAITING_INPUT, False)
        assert len(client.list_runs()) == 2
        assert {session.title for session in client.list_sessions()} == {SECRET}
        assert [value for _, value in client.search_memory()] == [SECRET] * 2


def test_another_user_reaches_neither_approvals_nor_served_tools(folder: Path) -> None:
    """Another allowed user who knows an approval with its digest, a request id and the name of a served tool approves nothing,
    sees no tool, no decision and nothing of its terminal, gets a run of their own for the request id, and takes no
    name of a tool: one that they serve is theirs alone, and one named like a built-in tool is refused.
    """
    served: list[str] = []

    @tool(effect="read")
    def gate_code() -> str:
        """Returns the code of the gate."""
        served.append("called")
        return SECRET

    approval_needed = Plan("ask", (PlanStep("s1", "write", "write_file", {"path": "a", "content": SECRET}),))
    with (
        open_to_all(folder, {"policy": {"profile": "ask"}}) as stage,
        Client(stage.socket) as client,
        ServedTools([gate_code], socket=stage.socket),
    ):
        run = client.create_run(SECRET, RunOptions(plan=approval_needed), request_id="mine-1")
        with Collector(stage.socket, run.run_id) as seen:
            seen.wait_for(ApprovalRequested)
        (approval,) = client.get_run(run.run_id).approvals
        things = {"run": run.run_id, "approval": approval.approval_id, "digest": approval.digest}
        things |= {"request_id": "mine-1", "tool": "gate_code"}
        found = outcomes_of(stage.socket, things)
        for name in ("approve", "replay the policy"):
            assert found[name][:2] == ["NOT_FOUND", "RUN_NOT_FOUND"], name
        for name in ("get the served tool", "call the served tool"):
            assert found[name][:2] == ["NOT_FOUND", "TOOL_NOT_FOUND"], name
        planned = str(found["plan with the served tool"])
        assert "STEPS_FAILED" in planned, planned
        assert "gate_code" not in found["list tools"]
        assert found["attach a terminal"] == ""  # only runs of the user who lends it look for it
        for name in ("create by the request id", "watch by the request id"):
            assert isinstance(found[name], str), found[name]
            assert run.run_id not in found[name], name
        assert SECRET not in str(found)
        assert served == []
        assert "gate_code" in found["serve the tool"]
        assert found["serve a built-in tool"][:2] == ["ALREADY_EXISTS", "TOOL_EXISTS"]
        assert client.get_tool("gate_code").description == "Returns the code of the gate."
        assert client.call_tool("gate_code").data == SECRET
        assert served == ["called"]
        assert client.get_run(run.run_id).state is RunState.AWAITING_INPUT
        assert len(client.list_runs()) == 1


def test_the_administrative_socket_sees_and_manages_all(folder: Path) -> None:
    """An administrator lists, reads and cancels another user's run, and alone reloads and unloads; other users cannot
    open the socket.
    """
    with open_to_all(folder) as stage, Client(str(stage.daemon.admin_socket)) as admin:
        assert stage.daemon.admin_socket.stat().st_mode & 0o777 == 0o600
        things = {
            "run": "x",
            "session": "x",
            "key": "x",
            "tokens": {"runs": "", "sessions": "", "memory": ""},
        }
        created = outcomes_of(stage.socket, {**things, "session": ""})["create in the session"]
        (run,) = admin.list_runs()
        assert run.run_id in created
        assert admin.get_run(run.run_id).run_id == run.run_id
        admin.cancel_run(run.run_id)
        with Client(stage.socket) as client:
            assert client.list_runs() == ()
            with pytest.raises(NotFoundError):
                client.get_run(run.run_id)
            with pytest.raises(RefusedError) as refused:
                client.reload_config()
            assert refused.value.reason == "ADMIN_ONLY"
        assert admin.reload_config().changed_keys == ()
        assert admin.unload_model().state == "cold"
        unreachable = outcomes_of(str(stage.daemon.admin_socket), things)
        assert {outcome[0] for outcome in unreachable.values()} == {"UNAVAILABLE"}


async def test_aeonctl_uses_the_administrative_socket_where_it_must(stage: Stage) -> None:
    """Commands for administrators need no option; with --admin every command sees what belongs to all."""
    assert (await stage.aeonctl("reload")).code == 0
    assert (await stage.aeonctl("models", "unload")).code == 0
    assert "aeond-admin.sock" in (await stage.aeonctl("--admin", "status")).out
    assert (await stage.aeonctl("memory", "--user", "nobody", "set", "colour", "green")).code == 0
    assert (await stage.aeonctl("memory", "get", "colour")).code == 1
    assert (await stage.aeonctl("memory", "--user", str(OTHER_UID), "get", "colour")).out == "green\n"
    stage.daemon.admin_socket.unlink()
    refused = await stage.aeonctl("reload")
    assert refused.code == 7
    assert "administrative socket" in " ".join(refused.err.split())
