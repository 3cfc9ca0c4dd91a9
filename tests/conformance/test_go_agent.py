"""The daemon as an Agent of a Go program."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from aeond_client import Client
from aeond_client.errors import NoAnswerError
from aeond_client.records.runs import RunState
from tests.support.conformance import DEADLINE_SECONDS
from tests.support.daemon_process import daemon_folder
from tests.support.poem import POEM
from tests.support.stages import Stage, planned, staged
from tests.support.stubs import STUBS, environment

(GO,) = (stub for stub in STUBS if stub.name == "Go")
SCRIPT = {
    "rules": [
        {
            "contains": "You plan how",
            "pattern": "snow",
            "json": {"steps": [{"tool": "request_user_input", "arguments": {"prompt": "Which mood?"}}]},
        },
        {"contains": "reply only: @tools", "text": "@tools"},
        planned("Add the numbers", {"tool": "calculator", "arguments": {"expression": "1 + 1"}}),
        planned("Let me choose", {"tool": "request_user_input", "arguments": {"prompt": "Which?"}}),
        planned("Write my notes", {"tool": "write_file", "arguments": {"path": "a", "content": "b"}}),
        planned("Have it written", {"tool": "poem", "arguments": {"subject": "snow"}}),
        {"text": "All done."},
    ]
}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A daemon that asks before it changes a file, with a template whose run asks a question."""
    with daemon_folder() as folder:
        templates = folder / "templates"
        templates.mkdir()
        (templates / "poem.toml").write_text(POEM, encoding="utf-8")
        tools = {"templates": [str(templates)], "subtasks": ["poem"]}
        with staged(folder, {"policy": {"profile": "ask"}, "tools": tools}, SCRIPT) as stage:
            yield stage


def _ended(stage: Stage, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment(AEOND_SOCKET=stage.socket),
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    )


def processed(stage: Stage, text: str) -> Any:
    """The reply of the agent to a message, or its error."""
    return json.loads(_ended(stage, GO.command("agent", text)).stdout)


def test_the_reply_is_the_answer_of_a_run(stage: Stage) -> None:
    """A message is a request: the reply has the answer, and the id of the run in its metadata."""
    reply = processed(stage, "Add the numbers")
    assert (reply["role"], reply["content"]) == ("agent", "All done.")
    with Client(stage.socket) as client:
        assert client.get_run(reply["run_id"]).state is RunState.SUCCEEDED


@pytest.mark.parametrize("request_text", ["Let me choose", "Write my notes"])
def test_a_run_that_needs_a_person_is_an_error(stage: Stage, request_text: str) -> None:
    """A run that asks a question or needs an approval is reported at once, and waits on."""
    assert processed(stage, request_text)["error"]["reason"] == "NO_ANSWER"
    with Client(stage.socket) as client:
        assert client.list_runs()[0].state is RunState.AWAITING_INPUT


def asked(stage: Stage, text: str) -> tuple[int, str]:
    """The exit status of the first example, and its output of errors."""
    done = _ended(stage, GO.example_command("ask", text))
    return done.returncode, done.stderr


def test_the_first_example_reports_a_run_that_needs_a_person(stage: Stage) -> None:
    """`Client.Run` fails with NO_ANSWER when its run asks a question, and the run waits on."""
    status, errors = asked(stage, "Let me choose")
    with Client(stage.socket) as client:
        run = client.list_runs()[0]
    assert (status, run.state) == (1, RunState.AWAITING_INPUT)
    assert f"NO_ANSWER: run {run.run_id} has no answer" in errors


def test_a_run_below_that_needs_a_person_is_an_error(stage: Stage) -> None:
    """`Client.Run` and an agent fail with NO_ANSWER and the id of a run below theirs that asks, as the client of Python does."""
    status, errors = asked(stage, "Have it written")
    with Client(stage.socket) as client:
        child, parent = client.list_runs()[:2]
        with pytest.raises(NoAnswerError) as raised:
            client.run("Have it written")
        below = client.list_runs()[0]
        assert raised.value.run == client.get_run(below.run_id)
    assert (status, child.parent_run_id) == (1, parent.run_id)
    assert (child.state, below.state) == (RunState.AWAITING_INPUT, RunState.AWAITING_INPUT)
    assert f"NO_ANSWER: run {child.run_id} has no answer" in errors
    assert processed(stage, "Have it written")["error"]["reason"] == "NO_ANSWER"
