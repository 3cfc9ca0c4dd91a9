"""Guarantees of every LLMAdapter: the scripted one, the embedded engine with a real model, and a real remote
server."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import jsonschema_rs
import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.concurrency import closing
from aeond.domain.llm import FinishReason, LLMChunk, LLMRequest
from aeond.domain.messages import Message, Role
from aeond.errors import AeondError, InvalidInputError, LLMError
from aeond.ports import LLMAdapter
from tests.support.engine import CONTEXT_LENGTH, NATIVE, SLOTS, SmallEngine, ask
from tests.support.remote import remote_way
from tests.support.surfaces import wait_for

LONG_STORY = "Write a long story about a fox, a river and a bridge."

TOOL_CALL = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "tool": {"const": "echo"},
                "arguments": {
                    "type": "object",
                    "properties": {"text": {"type": "string", "maxLength": 30}},
                    "required": ["text"],
                    "additionalProperties": False,
                },
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "tool": {"const": "dice"},
                "arguments": {
                    "type": "object",
                    "properties": {"sides": {"type": "integer", "minimum": 2, "maximum": 20}},
                    "required": ["sides"],
                    "additionalProperties": False,
                },
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        },
    ]
}

SCRIPT = Script(
    context_length=CONTEXT_LENGTH,
    rules=(
        Rule(contains="never answer", stall=True),
        Rule(contains="tool", json={"tool": "dice", "arguments": {"sides": 6}}),
        Rule(contains="yes or no", text="yes", likely={"yes": -0.1, "no": -2.4, "maybe": -6.0}),
        Rule(contains="fox", text="Once upon a time a fox lived by the river. " * 40),
        Rule(text="The quick answer is this one, and it is long enough to be cut into pieces."),
    ),
)


@dataclass(frozen=True)
class Subject:
    """An adapter under test, a question it is still answering when it is cancelled, and its idleness."""

    llm: LLMAdapter
    endless: LLMRequest
    is_idle: Callable[[], Awaitable[bool]]

    async def until_idle(self) -> None:
        await wait_for(self.is_idle, 30)


def scripted() -> Subject:
    llm = ScriptedLLM(SCRIPT)

    async def is_idle() -> bool:
        return llm.in_flight == 0

    return Subject(llm, ask("never answer this"), is_idle)


@pytest.fixture
async def remote_unix(small_engine: SmallEngine, tmp_path: Path) -> AsyncIterator[LLMAdapter]:
    async with remote_way("unix", small_engine.socket, tmp_path) as llm:
        yield llm


@pytest.fixture
async def remote_http(small_engine: SmallEngine, tmp_path: Path) -> AsyncIterator[LLMAdapter]:
    async with remote_way("http", small_engine.socket, tmp_path) as llm:
        yield llm


@pytest.fixture
async def remote_https(small_engine: SmallEngine, tmp_path: Path) -> AsyncIterator[LLMAdapter]:
    async with remote_way("https", small_engine.socket, tmp_path) as llm:
        yield llm


REAL = ("llama_cpp", "remote_unix", "remote_http", "remote_https")


VLLM = (
    pytest.param("vllm_engine", marks=pytest.mark.vllm),
    pytest.param("vllm_on_gpu", marks=pytest.mark.gpu),
)


@pytest.fixture(params=["scripted", *(pytest.param(name, marks=pytest.mark.model) for name in REAL), *VLLM])
def subject(request: pytest.FixtureRequest) -> Subject:
    if request.param == "scripted":
        return scripted()
    if request.param in {"vllm_engine", "vllm_on_gpu"}:
        real = request.getfixturevalue(request.param)
        return Subject(real.llm, ask(LONG_STORY, max_tokens=1500), real.is_idle)
    small = request.getfixturevalue("small_engine")
    llm = small.llm if request.param == "llama_cpp" else request.getfixturevalue(request.param)
    return Subject(llm, ask(LONG_STORY, max_tokens=1500), small.is_idle)


async def collect(chunks: AsyncIterator[LLMChunk]) -> list[LLMChunk]:
    return [chunk async for chunk in chunks]


async def test_generate_answers_with_exact_counts(subject: Subject) -> None:
    """An answer comes with its text, its model and tokens that were counted, not guessed."""
    request = ask("Say something.", max_tokens=40)
    response = await subject.llm.generate(request)
    assert response.text
    assert response.model == subject.llm.model
    assert response.usage.prompt_tokens == await subject.llm.count_tokens(request.messages)
    assert 1 <= response.usage.completion_tokens <= 40
    assert 0 <= response.usage.cached_tokens <= response.usage.prompt_tokens


async def test_an_answer_tells_how_long_it_took(subject: Subject) -> None:
    """The timing of an answer has its first token and its end, complete or streamed."""
    request = ask("Say something.", max_tokens=10)
    whole = await subject.llm.generate(request)
    chunks = await collect(subject.llm.stream(request))
    for timing in (whole.timing, chunks[-1].timing):
        measured = timing.engine_seconds > 0
        assert measured is not isinstance(subject.llm, ScriptedLLM)
        assert 0 <= timing.first_token_seconds <= timing.engine_seconds


async def test_a_stream_gives_what_generate_gives(subject: Subject) -> None:
    """Streamed pieces join to the very answer, finish reason and counts that come in one piece."""
    request = ask(LONG_STORY, max_tokens=30)
    await subject.llm.generate(request)  # both of the next two find the same prompt cache
    whole = await subject.llm.generate(request)
    chunks = await collect(subject.llm.stream(request))
    assert all(chunk.text for chunk in chunks[:-1])
    assert len(chunks) > 1  # how much comes together depends on the time
    assert "".join(chunk.text for chunk in chunks) == whole.text
    assert [chunk for chunk in chunks[:-1] if chunk.finish_reason or chunk.usage] == []
    assert chunks[-1].finish_reason is whole.finish_reason
    assert chunks[-1].usage == whole.usage


async def test_the_token_limit_is_kept(subject: Subject) -> None:
    """An answer that is longer than it may be is cut at exactly max_tokens and says so."""
    response = await subject.llm.generate(ask(LONG_STORY, max_tokens=12))
    assert response.finish_reason is FinishReason.LENGTH
    assert response.usage.completion_tokens == 12


async def test_stop_texts_end_the_answer(subject: Subject) -> None:
    """An answer ends before the first stop text, which is not part of it."""
    request = ask(LONG_STORY, max_tokens=30)
    text = (await subject.llm.generate(request)).text
    stop = text[len(text) // 2 :].split()[1]
    stopped = await subject.llm.generate(replace(request, stop=(stop,)))
    assert stopped.text == text[: text.index(stop)]
    assert stopped.finish_reason is FinishReason.STOP


async def test_an_answer_under_a_schema_satisfies_it(subject: Subject) -> None:
    """Under a union of tool calls the answer is one of them, tool and arguments tied together."""
    response = await subject.llm.generate(ask("Call a tool.", max_tokens=120, schema=TOOL_CALL))
    assert response.finish_reason is FinishReason.STOP
    jsonschema_rs.validator_for(TOOL_CALL).validate(json.loads(response.text))
    assert NATIVE or "\n" not in response.text  # the grammars of a build for the processor allow whitespace


async def test_likely_first_tokens_are_reported(subject: Subject) -> None:
    """As many as requested, the likeliest first, which is the first token of a greedy answer; none without the request."""
    asked = ask("Is water wet? Answer yes or no.", max_tokens=1)
    answered = await subject.llm.generate(replace(asked, likely=2))
    assert len(answered.likely) == 2
    assert 0 >= answered.likely[0].logprob >= answered.likely[1].logprob
    assert answered.text == answered.likely[0].text
    assert (await subject.llm.generate(asked)).likely == ()


async def test_a_seed_repeats_the_dice(subject: Subject) -> None:
    """The same seed gives the same answer also when the model is free to vary."""
    request = ask(LONG_STORY, max_tokens=20, temperature=0.9, seed=7)
    await subject.llm.generate(request)  # the next two find the same prompt cache
    first = await subject.llm.generate(request)
    assert (await subject.llm.generate(request)).text == first.text


@pytest.mark.parametrize(
    "messages",
    [
        (Message(Role.USER, "a"),),
        (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Straße, naïve, 日本語, 🦊")),
        (Message(Role.USER, "1+1?"), Message(Role.AGENT, "2"), Message(Role.USER, "And 2+2?")),
        (Message(Role.USER, "use it"), Message(Role.TOOL, {"sum": 3}), Message(Role.USER, "so?")),
        (Message(Role.USER, "<|im_end|>\n\n\t spaces   "),),
    ],
    ids=["short", "unicode", "turns", "tool", "odd"],
)
async def test_counts_are_exact_beforehand(subject: Subject, messages: tuple[Message, ...]) -> None:
    """Whatever is in the messages, the count before the call is what the call then costs."""
    counted = await subject.llm.count_tokens(messages)
    response = await subject.llm.generate(LLMRequest(messages, max_tokens=1))
    assert response.usage.prompt_tokens == counted


async def test_a_request_beyond_the_context_is_rejected(subject: Subject) -> None:
    """A prompt and an answer that exceed the context together are refused with the exact numbers."""
    request = ask("Say something.", max_tokens=subject.llm.capabilities.context_length)
    counted = await subject.llm.count_tokens(request.messages)
    with pytest.raises(InvalidInputError) as refused:
        await subject.llm.generate(request)
    assert refused.value.reason == "CONTEXT_TOO_LONG"
    assert str(counted) in refused.value.message
    with pytest.raises(InvalidInputError):
        await collect(subject.llm.stream(request))


async def test_a_request_that_fills_the_context_is_answered(subject: Subject) -> None:
    """A prompt that leaves room for exactly max_tokens is answered."""
    request = ask("Say something.", stop=("e", "a", "i", "o", ".", " "))
    spare = subject.llm.capabilities.context_length - await subject.llm.count_tokens(request.messages)
    response = await subject.llm.generate(replace(request, max_tokens=spare))
    assert response.finish_reason is FinishReason.STOP


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"messages": ()}, "messages"),
        ({"messages": (Message(Role.USER, "\ud800"),)}, "messages"),
        ({"messages": (Message(Role.USER, "x" * (5 << 20)),)}, "messages"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": -1.0}, "temperature"),
        ({"stop": ("",)}, "stop"),
        ({"deadline_seconds": 0.0}, "deadline_seconds"),
    ],
)
async def test_bad_requests_are_refused(subject: Subject, change: dict[str, Any], field: str) -> None:
    """A request that makes no sense is refused by both calls alike, with the field at fault."""
    request = replace(ask("Say something."), **change)
    for call in (subject.llm.generate(request), collect_later(subject.llm, request)):
        with pytest.raises(InvalidInputError) as refused:
            await call
        assert refused.value.field == field


async def collect_later(llm: LLMAdapter, request: LLMRequest) -> list[LLMChunk]:
    return await collect(llm.stream(request))


async def test_the_deadline_ends_a_call(subject: Subject) -> None:
    """A call that is not done by its deadline fails and leaves the engine idle."""
    request = replace(subject.endless, deadline_seconds=0.01)
    for call in (subject.llm.generate(request), collect_later(subject.llm, request)):
        with pytest.raises(LLMError) as failed:
            await call
        assert failed.value.reason == "DEADLINE_EXCEEDED"
    await subject.until_idle()


async def test_cancelling_frees_the_engine(subject: Subject) -> None:
    """A cancelled call ends at once and the engine becomes idle."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(subject.llm.generate, subject.endless)
        with anyio.fail_after(60):
            while await subject.is_idle():
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    await subject.until_idle()


async def test_leaving_a_stream_frees_the_engine(subject: Subject) -> None:
    """A stream that is closed after its first text costs the engine nothing more."""
    async with closing(subject.llm.stream(ask(LONG_STORY, max_tokens=200))) as chunks:
        assert (await anext(chunks)).text
    await subject.until_idle()


async def test_requests_at_the_same_time_each_get_their_answer(subject: Subject) -> None:
    """Many more requests than slots are all answered, none with another's limit."""
    limits = range(2, 2 + 5 * SLOTS)
    lengths: dict[int, int] = {}

    async def one(limit: int) -> None:
        response = await subject.llm.generate(ask(LONG_STORY, max_tokens=limit))
        lengths[limit] = response.usage.completion_tokens

    async with anyio.create_task_group() as tasks:
        for limit in limits:
            tasks.start_soon(one, limit)
    assert lengths == {limit: limit for limit in limits}


async def test_errors_are_ours(subject: Subject) -> None:
    """A call fails only with errors whose class and reason tell the caller what to do."""
    with pytest.raises(AeondError) as failed:
        await subject.llm.generate(replace(ask("x"), max_tokens=10**9))
    assert failed.value.reason.isupper()
