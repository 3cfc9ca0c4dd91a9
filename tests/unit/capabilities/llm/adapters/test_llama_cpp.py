"""The requests of the adapter to llama.cpp, and its handling of wrong answers."""

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.adapters.llama_cpp import LlamaCppAdapter, chat_body, without_grammar_ahead
from aeond.capabilities.llm.adapters.measurements import Measurements
from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import UnixSocket
from aeond.capabilities.llm.llama.prefill import Prefill, Resident
from aeond.capabilities.llm.llama.prefix_cache import PrefixCache
from aeond.concurrency import closing
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import LLMRequest, Priority
from aeond.domain.messages import Message, Role
from aeond.errors import InvalidInputError, LLMError, LLMGoneError, OverloadedError
from tests.support.canned_server import CannedServer, answer, canned_server, events, piece, usage
from tests.support.engine import SLOTS, SmallEngine, ask

TEMPLATE = answer({"prompt": "templated"})
TOKENS = answer({"tokens": [1, 2, 3]})
COUNT = [TEMPLATE, TOKENS]
GOOD = events(piece("Hel"), piece("lo"), piece("", "stop"), usage(3, 2))
CUT = events(piece("Hel"), end=False)
BUSY = answer(b"busy", "503 Service Unavailable", "retry-after: 0")


class CannedEngine:
    """An engine that is always ready and answers from a list."""

    model = "canned"
    context_length = 50
    tool_calls = False

    def __init__(self, socket: Path) -> None:
        clock = SystemClock()
        self.measurements = Measurements(clock)
        client = OpenAIClient(UnixSocket(socket), Watchdog(clock))
        files = PrefixCache(socket.parent, "canned")
        prompts = Prefill(client, clock, files, slots=2, most=64, batch_seconds=1, show=lambda _: None)
        self._resident = Resident(client, prompts)

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[Resident]:
        yield self._resident


@contextlib.asynccontextmanager
async def canned(
    folder: Path, *responses: bytes | None
) -> AsyncIterator[tuple[LlamaCppAdapter, CannedServer]]:
    """An adapter over these responses, with pauses too short to wait for."""
    socket = folder / "s.sock"
    retries = Retries(SystemClock(), lambda: 0.0, first_pause_seconds=0.0)
    async with canned_server(socket, responses) as server:
        yield LlamaCppAdapter(CannedEngine(socket), retries), server


async def test_a_request_becomes_what_llama_cpp_takes(tmp_path: Path) -> None:
    """Roles, bounds and the engine's own switches are in the body that it gets."""
    messages = (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.AGENT, "Hi."),
        Message(Role.TOOL, {"sum": 3}),
    )
    request = LLMRequest(messages, max_tokens=9, temperature=0.5, seed=3, stop=("x",))
    async with canned(tmp_path, *COUNT, GOOD) as (llm, server):
        assert (await llm.generate(request)).text == "Hello"
    path, body = server.asked[-1]
    assert path == "/v1/chat/completions"
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "Hi."},
        {"role": "tool", "content": '{"sum": 3}'},
    ]
    assert {key: body[key] for key in ("max_tokens", "temperature", "seed", "stop")} == {
        "max_tokens": 9,
        "temperature": 0.5,
        "seed": 3,
        "stop": ["x"],
    }
    assert body["cache_prompt"] is body["return_progress"] is True
    assert "grammar" not in body


async def test_a_schema_becomes_a_grammar_of_compact_json(tmp_path: Path) -> None:
    """The schema reaches the engine compiled, with the order to leave spaces out."""
    schema = {"type": "object", "properties": {"a": {"type": "null", "title": "A"}}, "required": ["a"]}
    good = events(piece('{"a":null}', "stop"), usage(3, 5))
    async with canned(tmp_path, *COUNT, good) as (llm, server):
        await llm.generate(ask("x", max_tokens=9, schema=schema))
    head, _, grammar = server.asked[-1][1]["grammar"].partition("\nstart: %json ")
    assert head == "%llguidance {}"
    compiled = json.loads(grammar)
    assert compiled.pop("x-guidance")["whitespace_flexible"] is False
    assert compiled == {**schema, "properties": {"a": {"type": "null"}}, "additionalProperties": False}


async def test_a_schema_beyond_the_engine_is_refused_unasked(tmp_path: Path) -> None:
    """A schema that the engine would ignore never reaches it."""
    async with canned(tmp_path) as (llm, server):
        with pytest.raises(InvalidInputError) as refused:
            await llm.generate(ask("x", max_tokens=9, schema={"prefixItems": []}))
    assert refused.value.field == "schema"
    assert server.asked == []


@pytest.mark.parametrize(
    "failure", [BUSY, CUT, answer(b"oops", "500 Oops"), b""], ids=["busy", "cut", "500", "none"]
)
async def test_generate_tries_three_times(tmp_path: Path, failure: bytes) -> None:
    """A call that failed for a passing cause is tried three times in all."""
    async with canned(tmp_path, *COUNT, failure, failure, GOOD) as (llm, _):
        assert (await llm.generate(ask("x", max_tokens=9))).text == "Hello"
    (tmp_path / "again").mkdir()
    async with canned(tmp_path / "again", *COUNT, *[failure] * 3) as (llm, server):
        with pytest.raises((LLMError, OverloadedError)):
            await llm.generate(ask("x", max_tokens=9))
    assert [path for path, _ in server.asked].count("/v1/chat/completions") == 3


async def test_reading_ahead_is_tried_once(tmp_path: Path) -> None:
    """A request made only to have its prompt read does not bring back an engine that has gone."""
    ahead = ask("x", max_tokens=1, priority=Priority.BACKGROUND)
    async with canned(tmp_path, *COUNT, CUT, *COUNT, GOOD) as (llm, server):
        with pytest.raises(LLMGoneError):
            await llm.generate(ahead)
    assert [path for path, _ in server.asked].count("/v1/chat/completions") == 1


async def test_a_stream_is_tried_again_before_its_first_piece(tmp_path: Path) -> None:
    """A stream that failed before its first piece is retried without the reader noticing."""
    async with canned(tmp_path, BUSY, *COUNT, events(end=False), GOOD) as (llm, _):
        chunks = [chunk async for chunk in llm.stream(ask("x", max_tokens=9))]
    assert "".join(chunk.text for chunk in chunks) == "Hello"


async def test_a_stream_is_not_tried_again_after_its_first_piece(tmp_path: Path) -> None:
    """Text that was given is never given twice: the caller learns that the engine is gone."""
    async with canned(tmp_path, *COUNT, CUT) as (llm, _):
        chunks = llm.stream(ask("x", max_tokens=9))
        assert (await anext(chunks)).text == "Hel"
        with pytest.raises(LLMGoneError):
            await anext(chunks)


@pytest.mark.parametrize(
    "failure",
    [answer({"error": {"message": "no"}}, "400 Bad Request"), events({"error": {"message": "bad grammar"}})],
    ids=["refused", "error event"],
)
async def test_a_rejected_request_is_sent_once(tmp_path: Path, failure: bytes) -> None:
    """A request that the engine refuses is not sent again."""
    async with canned(tmp_path, *COUNT, failure) as (llm, server):
        with pytest.raises(LLMError):
            await llm.generate(ask("x", max_tokens=9))
    assert len(server.asked) == 3


@pytest.mark.parametrize("text", ["Sure! Here", "the", "nullify", "I", '{"a": 1} and', "tru"])
async def test_text_under_a_schema_that_is_no_json_is_an_error(tmp_path: Path, text: str) -> None:
    """An engine that ignored the schema is found out, by prose as well as by JSON with more behind it."""
    async with canned(tmp_path, *COUNT, events(piece(text, "stop"), usage(3, 2))) as (llm, _):
        with pytest.raises(LLMError) as failed:
            await llm.generate(ask("x", max_tokens=9, schema={"type": "object"}))
    assert failed.value.reason == "SCHEMA_NOT_ENFORCED"


@pytest.mark.parametrize("text", ['{"a"', "[", "-", "12", '"te', "tr", "true", "null"])
async def test_json_that_was_cut_is_no_error(tmp_path: Path, text: str) -> None:
    """An answer under a schema that max_tokens cut is returned as it is, and says so."""
    pieces = [piece(letter) for letter in text]
    async with canned(tmp_path, *COUNT, events(*pieces, piece("", "length"), usage(3, 2))) as (llm, _):
        assert (await llm.generate(ask("x", max_tokens=9, schema={}))).text == text


async def test_prose_under_a_schema_is_not_read_to_its_end(tmp_path: Path) -> None:
    """An output that can no longer become JSON ends the call and the connection at once."""
    async with canned(tmp_path, *COUNT, events(piece("Sure, "), piece("here"), end=False)) as (llm, _):
        with pytest.raises(LLMError) as failed:
            await llm.generate(ask("x", max_tokens=9, schema={}))
    assert failed.value.reason == "SCHEMA_NOT_ENFORCED"


async def test_counts_must_be_counts(tmp_path: Path) -> None:
    """An engine that answers nonsense to a count is an error, not a count of nothing."""
    async with canned(tmp_path, TEMPLATE, answer({"tokens": 3})) as (llm, _):
        with pytest.raises(LLMError) as failed:
            await llm.count_tokens([Message(Role.USER, "x")])
    assert failed.value.reason == "BAD_ANSWER"


async def test_a_stalled_engine_meets_the_deadline(tmp_path: Path) -> None:
    """A call to an engine that is silent ends at its deadline."""
    async with canned(tmp_path, *COUNT, None) as (llm, server):
        with pytest.raises(LLMError) as failed:
            await llm.generate(ask("x", max_tokens=9, deadline_seconds=0.5))
        assert failed.value.reason == "DEADLINE_EXCEEDED"
        with anyio.fail_after(60):
            await server.left.wait()


@pytest.mark.model
async def test_requests_are_batched(small_engine: SmallEngine) -> None:
    """Requests at the same time share the engine's steps instead of queueing for them."""
    before = await small_engine.counters()
    request = ask("Write a long story about a fox.", max_tokens=40, temperature=0.8)
    async with anyio.create_task_group() as tasks:
        for _ in range(SLOTS):
            tasks.start_soon(small_engine.llm.generate, request)
    after = await small_engine.counters()
    steps = after["llamacpp:n_decode_total"] - before["llamacpp:n_decode_total"]
    assert steps < 40 * SLOTS * 0.75


@pytest.mark.model
async def test_a_cancelled_prompt_is_not_read_to_its_end(small_engine: SmallEngine) -> None:
    """Cancelling while a long prompt is read stops the reading, not only the answer."""
    prompt = " ".join(f"Item {number} costs {number * 7 % 113} euros." for number in range(130))
    counted = await small_engine.llm.count_tokens(ask(prompt).messages)
    before = (await small_engine.counters())["llamacpp:prompt_tokens_total"]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(small_engine.llm.generate, ask(prompt, max_tokens=50))
        with anyio.fail_after(60):
            while await small_engine.is_idle():
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    with anyio.fail_after(60):
        while not await small_engine.is_idle():
            await anyio.lowlevel.checkpoint()
    read = (await small_engine.counters())["llamacpp:prompt_tokens_total"] - before
    assert read < counted / 2


@pytest.mark.model
async def test_the_second_call_finds_its_prompt_cached(small_engine: SmallEngine) -> None:
    """A prompt that begins as an earlier one did costs only what is new."""
    rules = " ".join(f"Rule {number}: be kind." for number in range(60))
    await small_engine.llm.generate(ask("One?", system=rules, max_tokens=1))
    usage_of_second = (await small_engine.llm.generate(ask("Two?", system=rules, max_tokens=1))).usage
    assert usage_of_second.cached_tokens >= 0.8 * usage_of_second.prompt_tokens


@pytest.mark.model
async def test_the_engine_enforces_what_we_compile(small_engine: SmallEngine) -> None:
    """Bounds of strings, numbers and arrays hold in what a model writes that has no idea of them."""
    schema = {
        "type": "object",
        "properties": {
            "word": {"type": "string", "pattern": "^[a-f]{3,5}$"},
            "short": {"type": "string", "maxLength": 4},
            "count": {"type": "integer", "minimum": 3, "maximum": 12},
            "list": {"type": "array", "items": {"enum": ["x", 1, None]}, "minItems": 2, "maxItems": 3},
            "maybe": {"type": ["boolean", "null"]},
        },
        "required": ["word", "short", "count", "list", "maybe"],
    }
    request = ask("Fill the form with anything.", max_tokens=120, temperature=1.0, schema=schema)
    for seed in range(4):
        text = (await small_engine.llm.generate(replace(request, seed=seed))).text
        value = json.loads(text)
        assert list(value) == ["word", "short", "count", "list", "maybe"]
        assert 3 <= len(value["word"]) <= 5
        assert set(value["word"]) <= set("abcdef")
        assert len(value["short"]) <= 4
        assert 3 <= value["count"] <= 12
        assert 2 <= len(value["list"]) <= 3
        assert value["maybe"] in (True, False, None)


@pytest.mark.model
async def test_a_stream_left_in_the_middle_stops_the_tokens(small_engine: SmallEngine) -> None:
    """An answer whose reader has left is not generated to its end."""
    before = (await small_engine.counters())["llamacpp:n_decode_total"]
    async with closing(small_engine.llm.stream(ask("Write a long story.", max_tokens=1500))) as chunks:
        await anext(chunks)
    with anyio.fail_after(60):
        while not await small_engine.is_idle():
            await anyio.lowlevel.checkpoint()
    assert (await small_engine.counters())["llamacpp:n_decode_total"] - before < 100


def test_without_llguidance_the_engine_makes_the_grammar() -> None:
    """An engine that was built without LLGuidance gets the schema itself, compiled to what it enforces."""
    request = LLMRequest((Message(Role.USER, "Hi"),), schema={"type": "integer", "multipleOf": 2})
    assert "grammar" in chat_body(request)
    body = chat_body(request, guided=False)
    assert "grammar" not in body
    assert body["response_format"]["json_schema"]["schema"] == {"type": "integer"}


def test_what_is_only_read_ahead_has_no_grammar_of_the_engine() -> None:
    """A conversation that ends with a reply is read ahead without a schema, which an engine without LLGuidance rejects there."""
    request = LLMRequest(
        (Message(Role.USER, "Hi"), Message(Role.AGENT, "Hello")),
        max_tokens=1,
        schema={"type": "integer"},
        priority=Priority.BACKGROUND,
    )
    assert without_grammar_ahead(request).schema is None
    assert without_grammar_ahead(replace(request, max_tokens=2)).schema


def test_likely_tokens_are_requested_only_if_they_are_wanted() -> None:
    """Likely first tokens are asked for by number; without a number the field is absent."""
    request = LLMRequest((Message(Role.USER, "Hi"),))
    assert "logprobs" not in chat_body(request)
    assert chat_body(replace(request, likely=3))["top_logprobs"] == 3
