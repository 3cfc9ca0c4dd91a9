"""The API of OpenAI over a real daemon with a small real model: not for good answers, but for their form."""

import json
from collections.abc import Iterator
from operator import mul
from typing import Any

import pytest

from tests.support.daemon_process import DaemonProcess
from tests.support.openai_clients import LANGUAGES, ClientProgram, client_program, openai_facade

pytestmark = [pytest.mark.model, pytest.mark.slow]

MODEL = "smollm2-135m-instruct"
EMBEDDER = "all-MiniLM-L6-v2"
CHAT = "chat.completions.create"
HELLO = [{"role": "user", "content": "Say hello to the reader in one short sentence."}]
STORY = [
    {"role": "user", "content": "Tell the reader a story of two ships."}
]  # longer than what may come together
COLOUR = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "blue"]}, "shade": {"type": "integer"}},
    "required": ["colour", "shade"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def address(loading: DaemonProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A façade before a daemon whose language model still loads; its embedding model is there."""
    with openai_facade(str(loading.socket), tmp_path_factory.mktemp("openai")) as address:
        yield address


@pytest.fixture(params=LANGUAGES)
def client(address: str, request: pytest.FixtureRequest) -> Iterator[ClientProgram]:
    """Each official client."""
    with client_program(request.param, address) as program:
        yield program


def test_a_stream_is_the_answer_in_pieces(client: ClientProgram) -> None:
    """The model streams, piece by piece, the text that it answers at once, and both count the same tokens."""
    whole = client.result(CHAT, model=MODEL, messages=STORY, max_tokens=96)
    *chunks, last = client.events(
        CHAT, model=MODEL, messages=STORY, max_tokens=96, stream_options={"include_usage": True}
    )
    pieces = [chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks]
    assert len(list(filter(None, pieces))) > 1
    choice = whole["choices"][0]
    assert "".join(pieces) == choice["message"]["content"] != ""
    assert chunks[-1]["choices"][0]["finish_reason"] == choice["finish_reason"]
    for name in ("prompt_tokens", "completion_tokens"):
        assert last["usage"][name] == whole["usage"][name] > 0


def test_a_limit_and_a_stop_string_end_the_answer(client: ClientProgram) -> None:
    """One token is a cut answer, and a stop string is no part of the text."""
    cut = client.result(CHAT, model=MODEL, messages=HELLO, max_tokens=1)
    assert (cut["choices"][0]["finish_reason"], cut["usage"]["completion_tokens"]) == ("length", 1)
    stopped = client.result(CHAT, model=MODEL, messages=HELLO, max_tokens=24, stop=["e"])
    assert "e" not in stopped["choices"][0]["message"]["content"]


def test_a_schema_and_a_required_function_are_kept(client: ClientProgram) -> None:
    """An answer fits the schema that it was asked for, and a required function is called with arguments that fit."""
    given = {"type": "json_schema", "json_schema": {"name": "colour", "schema": COLOUR}}
    shaped = client.result(CHAT, model=MODEL, messages=HELLO, response_format=given, max_tokens=64)
    fits(json.loads(shaped["choices"][0]["message"]["content"]))
    tool = {"type": "function", "function": {"name": "paint", "description": "Paints.", "parameters": COLOUR}}
    called = client.result(
        CHAT,
        model=MODEL,
        messages=HELLO,
        tools=[tool],
        tool_choice="required",
        parallel_tool_calls=False,
        max_tokens=128,
    )
    (call,) = called["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "paint"
    fits(json.loads(call["function"]["arguments"]))


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"type": "string", "pattern": "(?=a)b"}])
def test_a_schema_that_cannot_be_enforced_is_refused(client: ClientProgram, schema: dict[str, Any]) -> None:
    """The error names the parameter, before anything is generated."""
    given = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    for stream in (False, True):
        error = client.error(CHAT, model=MODEL, messages=HELLO, response_format=given, stream=stream)
        assert error == (400, "schema_unsupported")


def test_texts_have_vectors(client: ClientProgram) -> None:
    """The embedding model is in the list, and texts of similar meaning have near vectors, in both encodings."""
    assert EMBEDDER in {one["id"] for one in client.result("models.list")["data"]}
    texts = ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "Interest rates rose again."]
    for given in ({}, {"encoding_format": "float"}):
        found = client.result("embeddings.create", model=EMBEDDER, input=texts, **given)
        cat, kitten, rates = (one["embedding"] for one in found["data"])
        assert len(cat) == 384
        assert product(cat, cat) == pytest.approx(1.0, abs=1e-4)
        assert product(cat, kitten) > product(cat, rates) + 0.2
    wrong = client.error("embeddings.create", model=EMBEDDER, input="text", dimensions=10)
    assert wrong == (400, "unsupported")


def product(one: list[float], other: list[float]) -> float:
    total: float = sum(map(mul, one, other))
    return total


def fits(found: dict[str, Any]) -> None:
    assert found.keys() == {"colour", "shade"}
    assert found["colour"] in {"red", "blue"}
    assert isinstance(found["shade"], int)


def test_a_run_is_a_response_with_its_steps(client: ClientProgram) -> None:
    """A run of a real model ends as a response with the answer as its message, and its tokens are counted."""
    *events, last = client.events("responses.create", model="aeond", input="What is 2 plus 3?")
    assert events[0]["type"] == "response.created"
    assert last["type"] in {"response.completed", "response.incomplete", "response.failed"}
    response = last["response"]
    assert response["usage"]["total_tokens"] > 0
    texts = [item["content"][0]["text"] for item in response["output"] if item["type"] == "message"]
    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    assert "".join(texts) == "".join(deltas)
    assert texts or response["error"]["code"]
