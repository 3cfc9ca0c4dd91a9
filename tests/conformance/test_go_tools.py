"""Types of a Go program as tools: a Tool that was written by hand, and an Agent."""

from collections.abc import Iterator
from typing import Any

import pytest

from aeond_client import Client, Run, RunOptions, RunState
from aeond_client.events import ApprovalRequested
from aeond_client.records.runs import Plan, PlanStep
from tests.support.conformance_serving import Serving, serving
from tests.support.daemon_process import daemon_folder
from tests.support.stages import Stage, planned, staged
from tests.support.stubs import STUBS

(GO,) = (stub for stub in STUBS if stub.name == "Go")
TOOLS = ["aeond", "go_catalogue", "go_scribe", "go_shelf"]
SCRIPT = {
    "rules": [
        planned("Add the numbers", {"tool": "calculator", "arguments": {"expression": "1 + 1"}}),
        {"text": "All done."},
    ]
}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A real daemon that asks about tools without a declared effect, with a scripted model."""
    policy = {"policy": {"profile": "trusted-folder"}}
    with daemon_folder() as folder, staged(folder, policy, SCRIPT) as stage:
        yield stage


@pytest.fixture
def served(stage: Stage) -> Iterator[Serving]:
    """A Go program that serves its types, and withdraws them at the end of the test."""
    with serving(GO, stage.daemon.socket, verb="serve-types") as served:
        assert sorted(served.line("serving")["serving"]) == TOOLS
        yield served
        assert served.leave() == 0
    with Client(stage.socket) as client:
        assert not {*TOOLS} & {found.name for found in client.list_tools()}


def started(client: Client, tool: str, **arguments: Any) -> Run:
    """A run of one step that calls the tool."""
    plan = Plan("", (PlanStep("s1", "", tool, arguments),))
    return client.create_run(f"Call {tool}", RunOptions(plan=plan))


def ended(client: Client, run: Run) -> Run:
    """The run, once it has ended."""
    with client.watch(run.run_id) as events:
        for _ in events:
            pass
    return client.get_run(run.run_id)


def called(stage: Stage, tool: str, **arguments: Any) -> Run:
    """A run of one step that called the tool, once it has ended."""
    with Client(stage.socket) as client:
        return ended(client, started(client, tool, **arguments))


def test_a_tool_written_by_hand_returns_its_result_to_a_run(stage: Stage, served: Serving) -> None:
    """A type with the interface of a Tool, a schema and an effect is called by a run, and its result is the step's output."""
    run = called(stage, "go_catalogue", title="Emma")
    assert run.state is RunState.SUCCEEDED
    assert run.steps[0].output == {"book": "Emma", "call": f"{run.run_id}/s1"}
    with Client(stage.socket) as client:
        spec = client.get_tool("go_catalogue")
    assert (spec.effect, [*spec.input_schema["properties"]]) == ("read", ["title"])


@pytest.mark.parametrize(
    ("arguments", "reason", "error"),
    [
        ({"title": "lent"}, "BOOK_LENT", "the book is lent"),
        ({}, "TOOL_RAISED", "a title is missing"),
    ],
    ids=["failure", "error"],
)
def test_a_failure_of_a_tool_written_by_hand_reaches_its_caller(
    arguments: dict[str, Any], reason: str, error: str, stage: Stage, served: Serving
) -> None:
    """A failed result and an error fail a call, and the step of a run, with their reason."""
    with Client(stage.socket) as client:
        result = client.call_tool("go_catalogue", arguments)
        run = ended(client, started(client, "go_catalogue", **arguments))
    assert (result.success, result.reason) == (False, reason)
    step = run.steps[0]
    assert error in result.error
    assert (error in step.error, step.reason) == (True, reason)


def test_a_person_is_asked_about_a_tool_without_a_declared_effect(stage: Stage, served: Serving) -> None:
    """A type with nothing but the interface of a Tool has no arguments, and is called once a person has approved the call."""
    with Client(stage.socket) as client:
        spec = client.get_tool("go_shelf")
        assert (spec.effect, spec.input_schema["properties"]) == ("undeclared", {})
        run = started(client, "go_shelf")
        with client.watch(run.run_id) as events:
            approval = next(
                event.kind.approval for event in events if isinstance(event.kind, ApprovalRequested)
            )
        client.decide_approval(run.run_id, approval.approval_id, approval.digest, approved=True)
        done = ended(client, run)
    assert done.steps[0].output == {"books": ["Emma"], "call": f"{run.run_id}/s1", "arguments": 0}


def test_an_agent_is_a_tool_of_a_run(stage: Stage, served: Serving) -> None:
    """AgentTool makes an Agent a tool: the argument is the user's message, and the content of the reply the step's output."""
    run = called(stage, "go_scribe", message="Grüße")
    assert (run.state, run.steps[0].output) == (RunState.SUCCEEDED, {"noted": "user said: Grüße"})


def test_an_error_of_an_agent_fails_its_step(stage: Stage, served: Serving) -> None:
    """The error of an Agent is the error of the step that called it, and of a call without a run."""
    with Client(stage.socket) as client:
        result = client.call_tool("go_scribe", {"message": "refuse"})
        run = ended(client, started(client, "go_scribe", message="refuse"))
        unknown = client.call_tool("go_scribe", {"text": "Hello"})
    assert (result.reason, result.error, unknown.reason) == ("TOOL_RAISED", "no ink", "ARGUMENTS_INVALID")
    assert ("no ink" in run.steps[0].error, run.steps[0].reason) == (True, "TOOL_RAISED")


def test_a_cancellation_reaches_an_agent(stage: Stage, served: Serving) -> None:
    """The context of an Agent ends when the run that called it is cancelled."""
    with Client(stage.socket) as client:
        run = started(client, "go_scribe", message="wait")
        assert served.line("began")["began"] == f"{run.run_id}/s1"
        client.cancel_run(run.run_id)
        cancelled = served.line("cancelled")
        assert cancelled == {"cancelled": f"{run.run_id}/s1", "cause": "context canceled"}
        assert ended(client, run).state is RunState.CANCELLED


def test_the_daemon_is_an_agent_that_a_program_serves(stage: Stage, served: Serving) -> None:
    """The Agent of a client and AgentTool fit together: a step sends a request in a run of its own and gets the answer."""
    run = called(stage, "aeond", message="Add the numbers")
    with Client(stage.socket) as client:
        texts = [line.text for line in client.list_runs(limit=2)]
    assert (run.steps[0].output, texts[0]) == ("All done.", "Add the numbers")
