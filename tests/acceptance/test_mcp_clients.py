"""aeond facade mcp with the official client and inspector, against the real daemon."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx2
import mcp_types as types
import pytest
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from aeond_client.client import Client
from aeond_client.records.runs import RunState
from tests.support.aeonctl import environment
from tests.support.repository import ROOT
from tests.support.stages import News, Stage, planned

SECONDS = 60.0
KEY = "a key of the tests"
SETTINGS = {"policy": {"profile": "ask"}}
INSPECTOR = ROOT / "tests" / "mcp_inspector"
WRITE = {"tool": "write_file", "arguments": {"path": "notes.txt", "content": "blue\n"}}
WORDS = {"tool": "request_user_input", "arguments": {"prompt": "Which colour?"}}
QUESTION = {"tool": "request_user_input", "arguments": {"prompt": "Which?", "options": ["red", "blue"]}}


SCRIPT = {
    "rules": [
        {"contains": "reply only: @tools", "text": "@tools"},
        planned("Write my notes", WRITE),
        planned("Let me choose", QUESTION),
        planned("Ask me for words", WORDS),
        planned("Add the numbers", {"tool": "calculator", "arguments": {"expression": "1 + 1"}}),
        {"contains": "Never answer", "text": "never", "stall": True},
        {"text": "All done."},
    ]
}


class Person:
    """Fills in the forms that a client shows, by a script."""

    def __init__(self, *answers: dict[str, Any] | types.ErrorData | None) -> None:
        self.answers = list(answers)  # None declines
        self.asked: list[types.ElicitRequestFormParams] = []

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult | types.ErrorData:
        self.asked.append(params)
        answer = self.answers.pop(0)
        if isinstance(answer, types.ErrorData):
            return answer
        return types.ElicitResult(action="accept" if answer else "decline", content=answer)


@pytest.fixture(scope="module")
def stage(stage_of_module: Stage) -> Stage:
    """A daemon that asks before it changes a file, with a model that plans by the request."""
    return stage_of_module


@pytest.fixture
def news(stage: Stage) -> Iterator[News]:
    """The runs of the test."""
    with Client(stage.socket) as daemon:
        yield News(daemon)


def facade(stage: Stage, *options: str) -> list[str]:
    return ["-m", "aeond.daemon.main", "facade", "mcp", "--daemon", stage.socket, *options]


@asynccontextmanager
async def by_stdio(
    stage: Stage, person: Person | None = None, mode: Literal["legacy", "auto"] = "auto"
) -> AsyncIterator[McpClient]:
    server = StdioServerParameters(command=sys.executable, args=facade(stage), env=environment())
    with anyio.fail_after(SECONDS):
        async with McpClient(server, mode=mode, elicitation_callback=person) as client:
            yield client


def state_of(result: types.CallToolResult) -> dict[str, Any]:
    state = result.structured_content
    assert isinstance(state, dict)
    return state


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_person_approves_by_a_form(
    stage: Stage, mode: Literal["legacy", "auto"], tmp_path: Path
) -> None:
    """In both generations of the protocol a run asks by a form with the change, its steps are reported as progress, and
    undo takes the change back."""
    person = Person({"decision": "once"})
    seen: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total))

    async with by_stdio(stage, person, mode) as client:
        result = await client.call_tool(
            "ask",
            {"request": "Write my notes", "workspace": str(tmp_path)},
            progress_callback=note,
        )
        notes = tmp_path / "notes.txt"
        assert notes.read_text() == "blue\n"
        (form,) = person.asked
        assert "+blue" in form.message
        assert form.requested_schema["properties"]["decision"]["enum"] == ["once", "run", "folder", "deny"]
        state = state_of(result)
        assert state["state"] == "succeeded"
        assert [one["target"] for one in state["changes"]] == ["notes.txt"]
        assert (2.0, 2.0) in seen
        await client.call_tool("undo", {"run_id": state["run_id"]})
        assert not notes.exists()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_declined_form_denies(stage: Stage, mode: Literal["legacy", "auto"], tmp_path: Path) -> None:
    """A person who declines has denied the call; the run fails without the change."""
    async with by_stdio(stage, Person(None), mode) as client:
        result = await client.call_tool("ask", {"request": "Write my notes", "workspace": str(tmp_path)})
        assert result.is_error
        assert [step["state"] for step in state_of(result)["steps"]] == ["failed"]
        assert not (tmp_path / "notes.txt").exists()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize(
    ("request_text", "field", "answer"),
    [
        ("Let me choose", {"type": "string", "enum": ["red", "blue"]}, "blue"),
        ("Ask me for words", {"type": "string", "minLength": 1}, "a green one"),
    ],
    ids=["options", "words"],
)
async def test_a_question_is_a_form(
    stage: Stage,
    news: News,
    mode: Literal["legacy", "auto"],
    request_text: str,
    field: dict[str, Any],
    answer: str,
) -> None:
    """A form has the question, its options if there are any, and its content is the answer."""
    person = Person({"answer": answer})
    async with by_stdio(stage, person, mode) as client:
        result = await client.call_tool("ask", {"request": request_text})
        assert person.asked[0].requested_schema["properties"] == {"answer": field}
        assert state_of(result)["state"] == "succeeded"
    (line,) = news.runs
    assert news.daemon.get_run(line.run_id).steps[0].output == answer


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_form_with_an_invalid_value_is_shown_again(
    stage: Stage, mode: Literal["legacy", "auto"]
) -> None:
    """A value that the daemon does not accept does not end the call: the form comes again and says what is wrong."""
    person = Person({"answer": "green"}, {"answer": "blue"})
    async with by_stdio(stage, person, mode) as client:
        result = await client.call_tool("ask", {"request": "Let me choose"})
        assert state_of(result)["state"] == "succeeded"
        first, second = person.asked
        assert second.message.endswith(f"\n\n{first.message}")
        assert second.requested_schema == first.requested_schema


async def test_a_client_that_cannot_show_a_form_gets_the_question(stage: Stage) -> None:
    """The error of a client that declares forms and shows none leaves the run waiting, with its id as the result."""
    person = Person(types.ErrorData(code=types.INVALID_PARAMS, message="only visits to pages"))
    async with by_stdio(stage, person, "legacy") as client:
        result = await client.call_tool("ask", {"request": "Let me choose."})
    assert text_of(result).startswith("The run asks: Which?")
    assert state_of(result)["questions"][0]["options"] == ["red", "blue"]


async def test_a_form_is_shown_three_times(stage: Stage) -> None:
    """After three invalid values the call returns the open question with the id of its run, which waits on."""
    person = Person(*[{"answer": "green"}] * 3)
    async with by_stdio(stage, person, "legacy") as client:
        state = state_of(await client.call_tool("ask", {"request": "Let me choose"}))
        assert (state["state"], len(state["questions"])) == ("awaiting_input", 1)
        await client.call_tool("answer", {"run_id": state["run_id"], "answer": "red"})
        ended = await client.call_tool("wait", {"run_id": state["run_id"]})
        assert state_of(ended)["state"] == "succeeded"


async def test_without_forms_questions_are_tools_and_approvals_are_not(stage: Stage, tmp_path: Path) -> None:
    """A client without elicitation answers a question by a tool; an approval stays with a person, who uses aeonctl."""
    async with by_stdio(stage) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed == ["ask", "wait", "run_status", "runs", "answer", "cancel", "undo"]
        asked = await client.call_tool("ask", {"request": "Let me choose"})
        (question,) = state_of(asked)["questions"]
        assert question["options"] == ["red", "blue"]
        run_id = state_of(asked)["run_id"]
        await client.call_tool("answer", {"run_id": run_id, "answer": "red"})
        assert state_of(await client.call_tool("wait", {"run_id": run_id}))["state"] == "succeeded"
        waiting = await client.call_tool("ask", {"request": "Write my notes", "workspace": str(tmp_path)})
        assert state_of(waiting)["approvals"] == 1
        assert "aeonctl approvals" in text_of(waiting)
        cancelled = await client.call_tool("cancel", {"run_id": state_of(waiting)["run_id"]})
        assert not cancelled.is_error
        runs = state_of(await client.call_tool("runs"))["runs"]
        assert [one["request"] for one in runs[:2]] == ["Write my notes", "Let me choose"]
        assert [one["run_id"] for one in runs[:2]] == [state_of(waiting)["run_id"], run_id]


async def test_facts_are_resources_and_errors_have_reasons(own_stage: Stage) -> None:
    """Facts are listed and read as JSON; unknown ones and bad arguments are errors that say why."""
    with Client(own_stage.socket) as daemon:
        daemon.write_memory("house/colour", "blue")
    async with by_stdio(own_stage) as client:
        (resource,) = (await client.list_resources()).resources
        assert (resource.name, resource.uri) == ("house/colour", "aeond-memory:///house%2Fcolour")
        (content,) = (await client.read_resource(resource.uri)).contents
        assert isinstance(content, types.TextResourceContents)
        assert json.loads(content.text)["value"] == "blue"
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template.replace("{key}", "house%2Fcolour") == resource.uri
        for uri in ("aeond-memory:///none", "file:///etc/passwd"):
            with pytest.raises(MCPError) as missing:
                await client.read_resource(uri)
            assert missing.value.error.data == {"reason": "KEY_NOT_FOUND"}
        with pytest.raises(MCPError) as no_tool:
            await client.call_tool("approve", {"run_id": "none"})
        assert no_tool.value.error.data == {"reason": "TOOL_NOT_FOUND"}
        bad = await client.call_tool("ask", {"request": ""})
        assert bad.is_error
        assert state_of(bad)["reason"] == "INVALID_ARGUMENTS"
        unknown = await client.call_tool("run_status", {"run_id": "none"})
        assert state_of(unknown)["reason"] == "RUN_NOT_FOUND"
        missing_run = await client.call_tool("wait", {"run_id": "none"})
        assert missing_run.is_error
        assert state_of(missing_run)["run_id"] == "none"
        own_stage.daemon.kill()
        assert state_of(await client.call_tool("runs"))["reason"] == "NO_DAEMON"


async def test_a_cancelled_call_cancels_its_run(stage: Stage, news: News) -> None:
    """When the client cancels a call while its form is open, the run ends as cancelled."""
    asked = anyio.Event()

    async def never(context: Any, params: Any) -> types.ElicitResult:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    server = StdioServerParameters(command=sys.executable, args=facade(stage), env=environment())
    with anyio.fail_after(SECONDS):
        async with McpClient(server, mode="legacy", elicitation_callback=never) as client:
            async with anyio.create_task_group() as calls:
                calls.start_soon(client.call_tool, "ask", {"request": "Let me choose"})
                await asked.wait()
                calls.cancel_scope.cancel()
            lines = news.runs
            assert len(lines) == 1, [news.daemon.get_run(line.run_id) for line in lines]
            (line,) = lines
            list(news.daemon.watch(line.run_id))
            assert news.daemon.get_run(line.run_id).state is RunState.CANCELLED


@asynccontextmanager
async def by_http(stage: Stage, *options: str) -> AsyncIterator[str]:
    """The address of a façade that listens."""
    command = [sys.executable, *facade(stage, *options)]
    async with await anyio.open_process(command, env=environment(), stderr=None) as process:
        try:
            assert process.stdout is not None
            with anyio.fail_after(SECONDS):
                line = (await process.stdout.receive()).decode()
            yield line.removeprefix("listening on ").strip()
        finally:
            process.terminate()
            with anyio.CancelScope(shield=True):
                await process.wait()


async def test_http_on_a_port_needs_the_key(stage: Stage, tmp_path: Path) -> None:
    """With the key a client uses the port as it uses stdio; without it, it is refused."""
    key_file = tmp_path / "key"
    key_file.write_text(KEY)
    key_file.chmod(0o600)
    async with by_http(stage, "--port", "0", "--key-file", str(key_file)) as address:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}) as http:
            transport = streamable_http_client(f"{address}/mcp", http_client=http)
            async with McpClient(transport, elicitation_callback=Person({"answer": "red"})) as client:
                result = await client.call_tool("ask", {"request": "Let me choose"})
                assert state_of(result)["state"] == "succeeded"
        async with httpx2.AsyncClient() as http:
            refused = await http.post(f"{address}/mcp", json={})
            assert (refused.status_code, refused.json()["error"]["data"]["reason"]) == (
                401,
                "INVALID_API_KEY",
            )


async def test_http_on_a_unix_socket(stage: Stage) -> None:
    """The Unix socket needs no key; only its owner can open it."""
    path = stage.daemon.folder / "mcp.sock"
    async with by_http(stage, "--socket", str(path)) as address:
        assert address == f"unix:{path}"
        assert path.stat().st_mode & 0o777 == 0o600
        async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(uds=str(path))) as http:
            transport = streamable_http_client("http://localhost/mcp", http_client=http)
            async with McpClient(transport) as client:
                assert len((await client.list_tools()).tools) == 7


async def test_a_lost_connection_of_an_older_client_cancels_nothing(stage: Stage, news: News) -> None:
    """By HTTP a client of 2025-11-25 cancels the run of a call by a notification, and not by the loss of its connection."""
    path, daemon = stage.daemon.folder / "older.sock", news.daemon

    def message(method: str, params: Any, **number: int) -> dict[str, Any]:
        return {"jsonrpc": "2.0", **number, "method": method, "params": params}

    me = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    ask = {"name": "ask", "arguments": {"request": "Never answer"}}
    transport = httpx2.AsyncHTTPTransport(uds=str(path))
    accepted = {"accept": "application/json, text/event-stream"}
    with anyio.fail_after(SECONDS):
        async with (
            by_http(stage, "--socket", str(path)),
            httpx2.AsyncClient(transport=transport, headers=accepted, timeout=None) as http,
        ):
            url = "http://localhost/mcp"
            begun = await http.post(url, json=message("initialize", me, id=1))
            http.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
            http.headers["mcp-protocol-version"] = "2025-11-25"
            await http.post(url, json=message("notifications/initialized", {}))
            async with http.stream("POST", url, json=message("tools/call", ask, id=2)):
                while not (lines := news.runs):
                    await anyio.lowlevel.checkpoint()
            assert not daemon.get_run(lines[0].run_id).state.ended
            await http.post(url, json=message("notifications/cancelled", {"requestId": 2}))
            await anyio.to_thread.run_sync(list, daemon.watch(lines[0].run_id))
            assert daemon.get_run(lines[0].run_id).state is RunState.CANCELLED


def test_the_official_inspector_finds_nothing_wrong(own_stage: Stage) -> None:
    """The inspector lists the tools without a complaint about their schemas, calls one, and reads a resource."""
    subprocess.run([INSPECTOR / "build"], check=True, capture_output=True)
    with Client(own_stage.socket) as daemon:
        daemon.write_memory("colour", "blue")

    def inspect(*words: str) -> Any:
        program = INSPECTOR / "node_modules" / ".bin" / "mcp-inspector"
        done = subprocess.run(
            [program, "--cli", sys.executable, *facade(own_stage), *words],
            env=environment(HOME=str(own_stage.daemon.folder)),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert len(inspect("--method", "tools/list", "--strict")["tools"]) == 7
    (resource,) = inspect("--method", "resources/list")["resources"]
    assert resource["name"] == "colour"
    (content,) = inspect("--method", "resources/read", "--uri", resource["uri"])["contents"]
    assert json.loads(content["text"])["value"] == "blue"
    call = inspect("--method", "tools/call", "--tool-name", "ask", "--tool-arg", "request=Add the numbers")
    assert call["structuredContent"]["state"] == "succeeded"
