"""The client of OpenAI-compatible servers, against servers that do everything wrong."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from types import MappingProxyType

import anyio
import pytest

from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import UnixSocket
from aeond.capabilities.llm.http.gathering import GatheringReader, Streams
from aeond.capabilities.llm.http.responses import ChatPiece
from aeond.domain.llm import FinishReason, TokenUsage
from aeond.errors import LLMError, LLMGoneError, OverloadedError
from tests.support.canned_server import STREAM_HEAD, answer, canned_server, events, piece, usage
from tests.support.doubles import ManualClock
from tests.support.virtual_time import VirtualClock, in_virtual_time

BODY: dict[str, object] = {"messages": []}
KEY = "sk-live-7321"


async def chat(folder: Path, response: bytes) -> list[ChatPiece]:
    """The result of the client for one response to a chat request."""
    socket = folder / "s.sock"
    client = OpenAIClient(UnixSocket(socket), Watchdog(ManualClock()))
    async with canned_server(socket, [response]), aclosing(client.stream_chat(BODY)) as pieces:
        return [said async for come in pieces for said in come]


async def test_a_stream_is_read_piece_by_piece(tmp_path: Path) -> None:
    """Text, finish reason and counts with the cached part come as the server says them."""
    said = await chat(
        tmp_path, events(piece("Hel"), ": a comment", piece("lo"), piece("", "stop"), usage(9, 2, cached=4))
    )
    assert "".join(one.text for one in said) == "Hello"
    assert [one.finish_reason for one in said if one.finish_reason] == [FinishReason.STOP]
    assert said[-1].usage == TokenUsage(9, 2, 4)


async def test_a_stream_is_asked_for_with_its_counts(tmp_path: Path) -> None:
    """The server is asked to stream and to tell the usage, and is given the caller's body besides."""
    socket = tmp_path / "s.sock"
    client = OpenAIClient(UnixSocket(socket), Watchdog(ManualClock()))
    async with canned_server(socket, [events(piece("", "stop"))]) as server:
        async for _ in client.stream_chat({"messages": [], "seed": 1}):
            pass
    expected = {"messages": [], "seed": 1, "stream": True, "stream_options": {"include_usage": True}}
    assert server.asked == [("/v1/chat/completions", expected)]


async def test_what_follows_the_end_is_passed_over(tmp_path: Path) -> None:
    """Data after the end of the answer is not read, also if it comes together with it."""
    said = await chat(tmp_path, events(piece("all", "stop"), "data: [DONE]", "data: {nope", piece("more")))
    assert [one.text for one in said] == ["all"]


async def test_what_came_before_a_failure_is_given(tmp_path: Path) -> None:
    """The text that comes together with the report of a failure is given before the error is raised."""
    socket, said = tmp_path / "s.sock", []
    client = OpenAIClient(UnixSocket(socket), Watchdog(ManualClock()))
    response = events(piece("Hel"), piece("lo"), 'error: {"error": {"message": "bad grammar"}}', piece("!"))
    async with canned_server(socket, [response]), aclosing(client.stream_chat(BODY)) as pieces:
        with pytest.raises(LLMError, match="bad grammar"):
            async for come in pieces:
                said += [one.text for one in come]
    assert said == ["Hel", "lo"]


class Unsent(asyncio.WriteTransport):
    """Takes what is written to it until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self._closes = False

    def write(self, data: object) -> None:
        assert not self._closes

    def abort(self) -> None:
        self._closes = True

    def is_closing(self) -> bool:
        return self._closes


class TimedServer:
    """An Endpoint whose server sends each part of its response at a given time."""

    host, prefix, secret = "timed", "", ""
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, *parts: tuple[float, bytes]) -> None:
        self._parts = parts

    async def connect(self) -> Streams:
        loop, reader = asyncio.get_running_loop(), GatheringReader()
        for when, data in self._parts:
            loop.call_at(when, reader.feed_data, data)
        protocol = asyncio.StreamReaderProtocol(reader)
        return reader, asyncio.StreamWriter(Unsent(), protocol, reader, loop)


def test_text_is_gathered_after_the_first_text() -> None:
    """The head, the first text and the end of an answer do not wait; the text between them is given together."""
    said: list[tuple[float, str]] = []
    sent = [piece(), piece("a"), piece("b"), piece("c"), piece("d"), piece("e", "stop")]
    datas = [STREAM_HEAD, *(f"data: {json.dumps(one)}\n\n".encode() for one in sent), b"data: [DONE]\n\n"]
    parts = [(1 + number / 100, data) for number, data in enumerate(datas)]

    async def scene() -> None:
        client = OpenAIClient(TimedServer(*parts), Watchdog(VirtualClock()))
        async with aclosing(client.stream_chat(BODY)) as pieces:
            async for come in pieces:
                said.append((round(anyio.current_time(), 3), "".join(one.text for one in come)))

    in_virtual_time(scene)
    assert said == [(1.01, ""), (1.02, "a"), (1.03, "b"), (1.07, "cde")]


@pytest.mark.parametrize(
    "response",
    [
        events(piece("half"), end=False),
        events(piece("half")),
        STREAM_HEAD,
        b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\ndata: {",
        b"",
        b"nonsense\r\n\r\n",
    ],
    ids=["cut", "no finish", "empty", "short body", "no answer", "not HTTP"],
)
async def test_a_cut_response_counts_as_a_dead_engine(tmp_path: Path, response: bytes) -> None:
    """An answer that ends before the server says that it is complete counts as a dead engine."""
    with pytest.raises(LLMGoneError) as failed:
        await chat(tmp_path, response)
    assert failed.value.retryable


async def test_an_event_that_repeats_the_key_is_not_quoted(tmp_path: Path) -> None:
    """An error in the middle of a stream, and an event that cannot be read, are reported without the key."""
    for event in (
        {"error": {"message": f"{'x' * 495} bad key {KEY}"}},
        {"error": f"{'x' * 495}{KEY}"},
        {"choices": [], "usage": {"prompt_tokens": KEY}},
    ):
        socket = tmp_path / "s.sock"
        client = OpenAIClient(UnixSocket(socket, secret=KEY), Watchdog(ManualClock()))
        async with canned_server(socket, [events(event)]), aclosing(client.stream_chat(BODY)) as pieces:
            with pytest.raises(LLMError) as failed:
                await anext(pieces)
        assert KEY[:4] not in failed.value.message


async def test_no_server_is_gone(tmp_path: Path) -> None:
    """A socket without a listener means that the engine is gone."""
    with pytest.raises(LLMGoneError):
        await OpenAIClient(UnixSocket(tmp_path / "none.sock"), Watchdog(ManualClock())).get("/health")


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (events({"error": {"message": "bad grammar"}}), "ENGINE_FAILED"),
        (events('error: {"error": {"message": "bad grammar"}}'), "ENGINE_FAILED"),
        (events("data: {nope"), "BAD_ANSWER"),
        (events("data: []"), "BAD_ANSWER"),
        (events({"choices": [{"delta": {"content": 7}}]}), "BAD_ANSWER"),
        (events({"choices": "x"}), "BAD_ANSWER"),
        (events({"choices": [], "usage": {"prompt_tokens": "many"}}), "BAD_ANSWER"),
        (events("data: " + "x" * (1 << 21)), "BAD_STREAM"),
        (events("data: " + "[" * 100_000), "BAD_ANSWER"),
    ],
    ids=["error", "error line", "not JSON", "array", "number", "shape", "counts", "huge line", "nested"],
)
async def test_a_stream_that_fails_says_why(tmp_path: Path, response: bytes, reason: str) -> None:
    """An error or nonsense inside a stream is an error with a reason, never half an answer."""
    with pytest.raises(LLMError) as failed:
        await chat(tmp_path, response)
    assert failed.value.reason == reason
    assert not isinstance(failed.value, LLMGoneError)


@pytest.mark.parametrize(
    ("status", "retryable"), [("400 Bad Request", False), ("404 Not Found", False), ("500 Oops", True)]
)
async def test_refusals_tell_whether_to_try_again(tmp_path: Path, status: str, retryable: bool) -> None:
    """The server's own words reach the caller, and only its own failures are worth another try."""
    with pytest.raises(LLMError, match="too warm") as failed:
        await chat(tmp_path, answer({"error": {"message": "too warm"}}, status))
    assert failed.value.retryable is retryable


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("retry-after: 7", 7.0), ("retry-after: 9999", 9999.0), ("retry-after: tomorrow", 1.0), ("x: y", 1.0)],
)
@pytest.mark.parametrize("status", ["503 Service Unavailable", "429 Too Many Requests"])
async def test_a_busy_server_says_when_to_come_back(
    tmp_path: Path, status: str, header: str, seconds: float
) -> None:
    """A busy answer is an overload with the pause that the server asks for."""
    with pytest.raises(OverloadedError) as failed:
        await chat(tmp_path, answer(b"busy", status, header))
    assert failed.value.retry_after_seconds == seconds


async def test_huge_bodies_are_refused(tmp_path: Path) -> None:
    """A body over 16 MiB is refused before it is all in memory."""
    socket = tmp_path / "s.sock"
    huge = answer(b"x" * (17 << 20))
    async with canned_server(socket, [huge]):
        with pytest.raises(LLMError) as failed:
            await OpenAIClient(UnixSocket(socket), Watchdog(ManualClock())).get("/")
    assert failed.value.reason == "BAD_ANSWER"


async def test_cancelling_closes_the_connection(tmp_path: Path) -> None:
    """A server that is silent is left by closing the connection, which is how it learns of it."""
    socket = tmp_path / "s.sock"
    client = OpenAIClient(UnixSocket(socket), Watchdog(ManualClock()))
    async with canned_server(socket, [None]) as server:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.post, "/slow", {})
            with anyio.fail_after(60):
                while not server.asked:
                    await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(60):
            await server.left.wait()
