"""aeond facade mcp: runs as tasks, with the official library of that extension, against the real daemon."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from aeond_client.client import Client
from aeond_client.records.runs import RunState
from tests.support.aeonctl import environment
from tests.support.daemon_process import daemon_folder
from tests.support.repository import ROOT
from tests.support.stages import Stage, planned, staged

SECONDS = 180.0
INSPECTOR = ROOT / "tests" / "mcp_inspector"
EXTENSION = "io.modelcontextprotocol/tasks"
SCRIPT = {
    "rules": [
        {"contains": "reply only: @tools", "text": "@tools"},
        planned(
            "Write my notes", {"tool": "write_file", "arguments": {"path": "notes.txt", "content": "b\n"}}
        ),
        planned(
            "Let me choose",
            {"tool": "request_user_input", "arguments": {"prompt": "Which?", "options": ["red", "blue"]}},
        ),
        planned("Add the numbers", {"tool": "calculator", "arguments": {"expression": "1 + 1"}}),
        {"contains": "Never answer", "text": "never", "stall": True},
        {"text": "All done."},
    ]
}


@pytest.fixture(scope="module", autouse=True)
def library() -> None:
    """The official library, for Node."""
    subprocess.run([INSPECTOR / "build"], check=True, capture_output=True)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A daemon that asks before it changes a file, with a model that plans by the request."""
    with daemon_folder() as folder, staged(folder, {"policy": {"profile": "ask"}}, SCRIPT) as stage:
        yield stage


def facade(stage: Stage) -> list[str]:
    return [sys.executable, "-m", "aeond.daemon.main", "facade", "mcp", "--daemon", stage.socket]


def as_task(
    stage: Stage, tool: str, arguments: dict[str, Any], *content: dict[str, Any] | None, cancel: bool = False
) -> Any:
    """The outcome of a call of a tool; `content` fills in the forms, None declines one."""
    call = {"name": tool, "arguments": arguments, "content": content, "cancel": cancel}
    done = subprocess.run(
        ["node", INSPECTOR / "tasks.mjs", json.dumps(call), *facade(stage)],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return json.loads(done.stdout)


def test_a_run_is_a_task(stage: Stage) -> None:
    """A call of `ask` goes on as a task with the id of its run, and `wait` makes a task of a run that there is."""
    outcome = as_task(stage, "ask", {"request": "Add the numbers"})
    assert EXTENSION in outcome["extensions"]
    assert outcome["result"]["content"][0]["text"] == "All done."
    run_id = outcome["result"]["structuredContent"]["run_id"]
    assert run_id == outcome["task"]
    assert as_task(stage, "wait", {"run_id": run_id})["result"] == outcome["result"]


def test_a_person_answers_and_approves_by_forms_of_the_task(stage: Stage) -> None:
    """A task that needs a person has a form, and goes on when it is filled in; a declined approval is denied."""
    chosen = as_task(stage, "ask", {"request": "Let me choose"}, {"answer": "blue"})
    assert chosen["forms"] == ["Which?"]
    with Client(stage.socket) as daemon:
        assert daemon.get_run(chosen["task"]).steps[0].output == "blue"
    write = {"request": "Write my notes", "workspace": str(stage.workspace)}
    declined = as_task(stage, "ask", write, None)
    assert declined["result"]["isError"]
    assert not (stage.workspace / "notes.txt").exists()
    approved = as_task(stage, "ask", write, {"decision": "once"})
    assert "+b" in approved["forms"][0]
    assert (stage.workspace / "notes.txt").read_text() == "b\n"


def test_a_cancelled_task_is_a_cancelled_run(stage: Stage) -> None:
    """Cancelling the task cancels the run."""
    outcome = as_task(stage, "ask", {"request": "Never answer"}, cancel=True)
    assert outcome["cancelled"]
    with Client(stage.socket) as daemon:
        assert daemon.get_run(outcome["task"]).state is RunState.CANCELLED


def test_tasks_are_for_clients_that_know_them(stage: Stage) -> None:
    """Without the extension a task is an unknown method; with it an unknown task is an error with the daemon's reason."""
    known: dict[str, object] = {"elicitation": {"form": {}}, "extensions": {EXTENSION: {}}}
    assert error_of(stage, "tasks/get", {}, taskId="none")["code"] == -32601
    unknown = error_of(stage, "tasks/get", known, taskId="none")
    assert (unknown["code"], unknown["data"]["reason"]) == (-32602, "RUN_NOT_FOUND")
    assert error_of(stage, "tasks/update", known, taskId="none")["code"] == -32602


def error_of(stage: Stage, method: str, capabilities: dict[str, Any], **params: Any) -> Any:
    """The error of a request in JSON-RPC, by a client with these capabilities."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    with subprocess.Popen(
        facade(stage), env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        response = json.loads(server.stdout.readline())
        server.stdin.close()
        server.wait(SECONDS)
    return response["error"]
