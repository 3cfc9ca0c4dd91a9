"""aeond facade openai with the official clients for Python and Node, against the real daemon."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from aeond_client.client import Client
from aeond_client.records.runs import RunState
from tests.support.openai_clients import (
    LANGUAGES,
    ClientProgram,
    client_program,
    openai_facade,
    program_output,
    shell_output,
)
from tests.support.repository import ROOT
from tests.support.stages import News, Stage, planned

WRITE = {"tool": "write_file", "arguments": {"path": "notes.txt", "content": "blue\n"}}
QUESTION = {"tool": "request_user_input", "arguments": {"prompt": "Which?", "options": ["red", "blue"]}}
WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
SCRIPT = {
    "rules": [
        {"contains": "reply only: @tools", "text": "@tools"},
        planned("Write my notes", WRITE),
        planned("Let me choose", QUESTION),
        planned("Add the numbers", {"tool": "calculator", "arguments": {"expression": "1 + 1"}}),
        {"contains": "Result of get_weather:\nrain", "json": {"text": "Take an umbrella."}},
        {"contains": "umbrella", "json": {"calls": [{"name": "get_weather", "arguments": {"city": "Bern"}}]}},
        {"contains": "Say hello", "text": "Hello, dear reader of streams."},
        {"contains": "Never answer", "text": "never", "stall": True},
        {"contains": "as an object", "json": {"colour": "blue"}},
        {"text": "All done."},
    ]
}


# The weights of the embedding model may be on this machine or not.
SETTINGS: dict[str, dict[str, Any]] = {"policy": {"profile": "ask"}, "embedding": {"enabled": False}}


@pytest.fixture(scope="module")
def stage(stage_of_module: Stage) -> Stage:
    """A daemon that asks before it changes a file, with a model that plans by the request."""
    return stage_of_module


@pytest.fixture(scope="module", params=LANGUAGES)
def client(
    stage: Stage, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[ClientProgram]:
    """Each official client, on the port of a façade of its own."""
    with (
        openai_facade(stage.socket, tmp_path_factory.mktemp("openai")) as address,
        client_program(request.param, address) as program,
    ):
        yield program


@pytest.fixture
def news(stage: Stage) -> Iterator[News]:
    """What the test makes."""
    with Client(stage.socket) as daemon:
        yield News(daemon)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(answer: Any) -> dict[str, str]:
    return {"role": "assistant", "content": answer["choices"][0]["message"]["content"]}


def text_of(response: Any) -> str:
    """The words of a response's message."""
    (message,) = [item for item in response["output"] if item["type"] == "message"]
    text: str = message["content"][0]["text"]
    return text


CHAT = "chat.completions.create"
RESPOND = "responses.create"


def test_models_are_the_engine_s_and_aeond(client: ClientProgram) -> None:
    """The list has the engine's model and `aeond`, and each can be asked for by its name."""
    assert [one["id"] for one in client.result("models.list")["data"]] == ["aeond", "scripted"]
    assert client.result("models.retrieve", "scripted")["object"] == "model"


def test_a_model_answers_a_chat(client: ClientProgram) -> None:
    """The bare model answers with its words, counts tokens, streams pieces, and satisfies a schema."""
    answer = client.result(CHAT, model="scripted", messages=[user("Say hello")])
    choice = answer["choices"][0]
    assert choice["message"]["content"] == "Hello, dear reader of streams."
    assert choice["finish_reason"] == "stop"
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["completion_tokens"] > 0

    *chunks, last = client.events(
        CHAT, model="scripted", messages=[user("Say hello")], stream_options={"include_usage": True}
    )
    pieces = [chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks]
    assert len(list(filter(None, pieces))) > 1
    assert "".join(pieces) == "Hello, dear reader of streams."
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert last["usage"] == usage

    schema = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    shaped = client.result(
        CHAT,
        model="scripted",
        messages=[user("The colour as an object")],
        response_format={"type": "json_schema", "json_schema": {"name": "colour", "schema": schema}},
    )
    assert json.loads(said(shaped)["content"]) == {"colour": "blue"}

    cut = client.result(CHAT, model="scripted", messages=[user("Say hello")], max_tokens=1)
    assert cut["choices"][0]["finish_reason"] == "length"


def test_a_model_calls_functions(client: ClientProgram) -> None:
    """The model calls a function of the client, also in a stream, and answers from its result."""
    tools = [{"type": "function", "function": WEATHER}]
    asked = [user("Do I need an umbrella?")]
    answer = client.result(CHAT, model="scripted", messages=asked, tools=tools)
    message = answer["choices"][0]["message"]
    (call,) = message["tool_calls"]
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (
        "get_weather",
        {"city": "Bern"},
    )
    chunks = client.events(CHAT, model="scripted", messages=asked, tools=tools)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    (streamed,) = [delta["tool_calls"][0] for delta in deltas if delta.get("tool_calls")]
    assert streamed["function"] == call["function"]

    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "rain"}
    final = client.result(CHAT, model="scripted", messages=[*asked, called, result], tools=tools)
    assert said(final)["content"] == "Take an umbrella."


def test_a_run_answers_a_chat(news: News, client: ClientProgram) -> None:
    """The model `aeond` is a run with its steps as reasoning, and the next message continues its session."""
    first = [user("Add the numbers")]
    answer = client.result(CHAT, model="aeond", messages=first)
    message = answer["choices"][0]["message"]
    assert message["content"]
    assert "calculator" in message["reasoning_content"]
    assert answer["usage"]["completion_tokens"] > 0
    chunks = client.events(
        CHAT, model="aeond", messages=[*first, said(answer), user("Add the numbers again")]
    )
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "calculator" in "".join(delta.get("reasoning_content") or "" for delta in deltas)
    assert "".join(delta.get("content") or "" for delta in deltas)
    (session,) = news.sessions
    assert len(news.daemon.list_runs(session_id=session.session_id)) == 2


def test_a_question_is_answered_by_the_next_message(news: News, client: ClientProgram) -> None:
    """A run that asks ends the turn with its question, and the next message of the chat is the answer."""
    first = [user("Let me choose")]
    asked = client.result(CHAT, model="aeond", messages=first)
    assert said(asked)["content"] == "Which?\n1. red\n2. blue"
    answer = client.result(CHAT, model="aeond", messages=[*first, said(asked), user("2")])
    assert said(answer)["content"]
    (line,) = news.runs
    run = news.daemon.get_run(line.run_id)
    assert (run.state, run.steps[0].output) == (RunState.SUCCEEDED, "blue")


def test_an_approval_is_a_person_s(news: News, client: ClientProgram, tmp_path: Path) -> None:
    """A message approves nothing: it is refused until a person has decided, and then gets the answer."""
    first = [user("Write my notes")]
    arguments = {"model": "aeond", "metadata": {"workspace": str(tmp_path)}}
    asked = client.result(CHAT, messages=first, **arguments)
    assert "+blue" in said(asked)["content"]
    further = [*first, said(asked), user("Yes, do it.")]
    assert client.error(CHAT, messages=further, **arguments) == (409, "approval_required")
    (line,) = news.runs
    (approval,) = news.daemon.get_run(line.run_id).approvals
    news.daemon.decide_approval(line.run_id, approval.approval_id, approval.digest, approved=True)
    list(news.daemon.watch(line.run_id))
    answer = client.result(CHAT, messages=further, **arguments)
    assert said(answer)["content"]
    assert len(news.runs) == 1
    assert (tmp_path / "notes.txt").read_text() == "blue\n"


def test_a_client_that_leaves_cancels_its_run(news: News, client: ClientProgram) -> None:
    """A client that hangs up within a stream has cancelled the run."""
    client.call(CHAT, model="aeond", messages=[user("Never answer")], stream=True, leave_after=1)
    (line,) = news.runs
    list(news.daemon.watch(line.run_id))
    assert news.daemon.get_run(line.run_id).state is RunState.CANCELLED


def test_a_run_is_a_response(news: News, client: ClientProgram) -> None:
    """Steps are reasoning items, events are numbered, and previous_response_id continues the session."""
    events = client.events(RESPOND, model="aeond", input="Add the numbers")
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    final = events[-1]["response"]
    assert (events[-1]["type"], final["status"]) == ("response.completed", "completed")
    assert [item["type"] for item in final["output"]] == ["reasoning", "message"]
    assert "calculator" in final["output"][0]["summary"][0]["text"]
    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    assert "".join(deltas) == text_of(final) != ""
    assert final["usage"]["output_tokens"] > 0
    client.result(RESPOND, model="aeond", input="Add the numbers again", previous_response_id=final["id"])
    (session,) = news.sessions
    assert len(news.daemon.list_runs(session_id=session.session_id)) == 2


def test_a_question_is_answered_by_the_next_response(news: News, client: ClientProgram) -> None:
    """A response that asks is continued by its id, and its run goes on with the answer."""
    asked = client.result(RESPOND, model="aeond", input="Let me choose")
    assert text_of(asked).startswith("Which?")
    answer = client.result(RESPOND, model="aeond", input="red", previous_response_id=asked["id"])
    assert text_of(answer)
    (line,) = news.runs
    assert news.daemon.get_run(line.run_id).steps[0].output == "red"
    unknown = {"model": "aeond", "input": "red", "previous_response_id": "resp_none"}
    assert client.error(RESPOND, **unknown) == (404, "previous_response_not_found")


def test_a_model_responds(client: ClientProgram) -> None:
    """The bare model streams its words as events, and calls functions as items."""
    events = client.events(RESPOND, model="scripted", input="Say hello", instructions="Be kind.")
    assert text_of(events[-1]["response"]) == "Hello, dear reader of streams."
    tools = [{"type": "function", "strict": False, **WEATHER}]
    asked = client.result(RESPOND, model="scripted", input="Do I need an umbrella?", tools=tools)
    (call,) = asked["output"]
    assert (call["type"], call["name"], json.loads(call["arguments"])) == (
        "function_call",
        "get_weather",
        {"city": "Bern"},
    )
    items = [
        user("Do I need an umbrella?"),
        {name: call[name] for name in ("type", "call_id", "name", "arguments")},
        {"type": "function_call_output", "call_id": call["call_id"], "output": "rain"},
    ]
    final = client.result(RESPOND, model="scripted", input=items, tools=tools)
    assert text_of(final) == "Take an umbrella."


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        ({"model": "none"}, 404, "model_not_found"),
        ({"model": "scripted", "n": 2}, 400, "unsupported"),
        ({"model": "scripted", "temperature": 3}, 400, "invalid_value"),
        ({"model": "aeond", "tools": [{"type": "function", "function": WEATHER}]}, 400, "unsupported"),
        ({"model": "aeond", "messages": [{"role": "assistant", "content": "x"}]}, 400, "invalid_value"),
        ({"model": "scripted", "max_tokens": 9_000}, 400, "context_length_exceeded"),
    ],
)
def test_errors_have_stable_codes(
    client: ClientProgram, arguments: dict[str, Any], status: int, code: str
) -> None:
    """A request that cannot be fulfilled is an error of the API with a status and a code, in a stream as well."""
    given = {"messages": [user("Say hello")], **arguments}
    assert client.error(CHAT, **given) == (status, code)
    assert client.error(CHAT, stream=True, **given) == (status, code)


def test_a_language_model_embeds_nothing(client: ClientProgram) -> None:
    """Without its embedding model, which the tests turn off, the daemon embeds nothing, and the error says so."""
    error = client.error("embeddings.create", model="scripted", input="text")
    assert error == (404, "model_not_found")


def test_the_unix_socket_needs_no_key(own_stage: Stage) -> None:
    """On the Unix socket, which only its owner can open, the API is served without a key."""
    path = own_stage.daemon.folder / "openai.sock"
    with openai_facade(own_stage.socket, own_stage.workspace, "--socket", str(path)) as address:
        assert address == f"unix:{path}"
        assert path.stat().st_mode & 0o777 == 0o600
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as http:
            assert http.get("/v1/models").json()["data"][0]["id"] == "aeond"
            unknown = http.get("/v1/files")
            assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_url")
            broken = http.post("/v1/chat/completions", content=b"{")
            assert broken.json()["error"]["code"] == "invalid_value"
            own_stage.daemon.kill()
            away = http.get("/v1/models")
            assert (away.status_code, away.json()["error"]["code"]) == (503, "no_daemon")


def test_the_page_works_as_it_stands(own_stage: Stage, tmp_path: Path) -> None:
    """Each command and each program of docs/openai.md prints the lines below it."""
    page = (ROOT / "docs" / "openai.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    runtime = str(own_stage.daemon.folder)
    with (
        openai_facade(own_stage.socket, tmp_path, runtime=runtime),
        openai_facade(own_stage.socket, tmp_path) as address,
    ):
        seen = []
        for (language, text), (_, printed) in pairwise([*blocks, ("", "")]):
            match language:
                case "console":
                    for typed in text.removeprefix("$ ").split("\n$ "):
                        lines = typed.splitlines()
                        command = "\n".join(line for line in lines if line.startswith(("curl ", " ")))
                        done = shell_output(command, XDG_RUNTIME_DIR=runtime)
                        assert [*command.splitlines(), *done.splitlines()] == lines
                case "python" | "javascript":
                    source = text.replace("http://127.0.0.1:8788", address)
                    assert program_output(language, source) == printed
                case _:
                    continue
            seen.append(language)
    assert seen == ["console", "python", "javascript"]
