"""The adapter for servers that run outside the daemon, against real sockets that answer wrongly in every way."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.capabilities.llm.adapters.dialects import ServerKind
from aeond.capabilities.llm.adapters.remote import RemoteAdapter
from aeond.capabilities.llm.external.remote_engine import RemoteEngine, RemoteSettings
from aeond.domain.llm import EngineState, TokenUsage, ToolSchema
from aeond.errors import AeondError, InvalidInputError, LLMError, LLMGoneError, NotFoundError, OverloadedError
from tests.support.canned_server import CannedServer, answer, canned_server, events, piece, usage
from tests.support.doubles import ManualClock
from tests.support.engine import SmallEngine, ask
from tests.support.remote import Authority, HurriedClock, front_of, remote

KEY = "sk-very-secret"
MODELS = answer({"data": [{"id": "big", "owned_by": "somebody", "max_model_len": 4096}, {"id": "small"}]})
GOOD = events(piece("Hello"), piece("", "stop"), usage(7, 1, cached=4))


@asynccontextmanager
async def served(
    folder: Path, responses: Sequence[bytes | None], settings: RemoteSettings | None = None
) -> AsyncIterator[tuple[RemoteAdapter, RemoteEngine, CannedServer, HurriedClock]]:
    """The adapter of a server on a port that answers so."""
    patience = HurriedClock()
    async with (
        canned_server(folder / "s.sock", responses) as server,
        front_of(folder / "s.sock", None) as port,
        remote(
            f"http://127.0.0.1:{port}/v1",
            secret=KEY,
            settings=settings,
            clock=ManualClock(),
            patience=patience,
        ) as (llm, engine),
    ):
        yield llm, engine, server, patience


def failed(status: str, body: Any, *headers: str) -> bytes:
    return answer({"error": body}, status, *headers)


async def test_a_server_is_looked_at_once_and_then_asked(tmp_path: Path) -> None:
    """The first request learns the model and its context from the server's own list; the next ones only ask."""
    async with served(tmp_path, [MODELS, GOOD, GOOD]) as (llm, engine, server, _):
        response = await llm.generate(ask("Hi"))
        await llm.generate(ask("Hi"))
        assert (response.text, response.model, response.usage) == ("Hello", "big", TokenUsage(7, 1, 4))
        assert llm.capabilities.context_length == 4096
        assert not llm.capabilities.tokenizer
        assert engine.snapshot().state is EngineState.READY
    assert [path for path, _ in server.asked] == ["/v1/models", *["/v1/chat/completions"] * 2]
    assert server.asked[1][1]["model"] == "big"


ONCE = [
    pytest.param("401 Unauthorized", {"message": f"bad key {KEY}"}, "KEY_REFUSED", id="401"),
    pytest.param("403 Forbidden", {"message": "not yours"}, "ACCESS_REFUSED", id="403"),
    pytest.param(
        "404 Not Found", {"message": "The model `big` does not exist."}, "MODEL_NOT_FOUND", id="model"
    ),
    pytest.param("404 Not Found", "nothing here", "ENDPOINT_NOT_FOUND", id="path"),
    pytest.param("402 Payment Required", {"message": "no money"}, "QUOTA_SPENT", id="402"),
    pytest.param("429 Too Many", {"code": "insufficient_quota"}, "QUOTA_SPENT", id="quota"),
    pytest.param("400 Bad Request", {"message": "bad schema"}, "ENGINE_REFUSED", id="400"),
    pytest.param("501 Not Implemented", {"message": "no"}, "ENGINE_REFUSED", id="501"),
]


@pytest.mark.parametrize(("status", "body", "reason"), ONCE)
async def test_a_permanent_failure_is_tried_once(tmp_path: Path, status: str, body: Any, reason: str) -> None:
    """A refusal has a reason of its own, the server's words without our key in them, and no second attempt."""
    async with served(tmp_path, [MODELS, failed(status, body)]) as (llm, _, server, patience):
        with pytest.raises(LLMError) as refused:
            await llm.generate(ask("Hi"))
    assert refused.value.reason == reason
    assert not refused.value.retryable
    assert KEY not in refused.value.message
    assert (len(server.asked), patience.waits) == (2, [])


async def test_a_prompt_too_long_for_the_server_is_the_callers_error(tmp_path: Path) -> None:
    """Where nothing can be counted beforehand, the server's own refusal says that the prompt does not fit."""
    refusal = failed("400 Bad Request", {"message": "too long", "code": "context_length_exceeded"})
    async with served(tmp_path, [MODELS, refusal]) as (llm, _, _, _):
        with pytest.raises(InvalidInputError) as refused:
            await llm.generate(ask("Hi"))
    assert refused.value.reason == "CONTEXT_TOO_LONG"


PASSING = {
    "429": failed("429 Too Many Requests", {"message": "slow down"}, "retry-after: 7"),
    "503": failed("503 Service Unavailable", {"message": "full"}, "retry-after: 7"),
    "503 date": failed(
        "503 Service Unavailable",
        {"message": "full"},
        "date: Wed, 21 Oct 2026 07:28:00 GMT",
        "retry-after: Wed, 21 Oct 2026 07:28:07 GMT",
    ),
    "500": failed("500 Internal Server Error", {"message": "oops"}),
    "502": answer(b"<html>bad gateway</html>", "502 Bad Gateway"),
    "504": failed("504 Gateway Timeout", {"message": "slow"}),
    "cut": events(piece("Hel"), end=False),
    "no head": b"",
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
}


@pytest.mark.parametrize("kind", PASSING)
async def test_a_transient_failure_is_tried_three_times(tmp_path: Path, kind: str) -> None:
    """A call in one piece survives two failures that may pass, after growing pauses or those asked for."""
    async with served(tmp_path, [MODELS, PASSING[kind], PASSING[kind], GOOD]) as (llm, _, _, patience):
        assert (await llm.generate(ask("Hi"))).text == "Hello"
    first, second = patience.waits
    if kind in ("429", "503", "503 date"):
        assert patience.waits == pytest.approx([7, 7])
    else:
        assert 0.125 <= first <= 0.25 <= second <= 0.5


@pytest.mark.parametrize(
    ("kind", "expected"), [("429", OverloadedError), ("500", LLMError), ("cut", LLMGoneError)]
)
async def test_the_third_failure_is_the_callers(
    tmp_path: Path, kind: str, expected: type[AeondError]
) -> None:
    """After three attempts the caller gets the last error, and the server is left alone."""
    async with served(tmp_path, [MODELS, *[PASSING[kind]] * 3]) as (llm, _, server, _):
        with pytest.raises(expected):
            await llm.generate(ask("Hi"))
    assert len(server.asked) == 4


async def test_a_pause_of_an_hour_is_the_callers_to_wait(tmp_path: Path) -> None:
    """A server that wants to be left alone for long is, and the caller learns for how long."""
    refusal = failed("429 Too Many Requests", {"message": "later"}, "retry-after: 3600")
    async with served(tmp_path, [MODELS, refusal]) as (llm, _, _, patience):
        with pytest.raises(OverloadedError) as refused:
            await llm.generate(ask("Hi"))
    assert (refused.value.retry_after_seconds, patience.waits) == (3600, [])


async def test_a_stream_that_was_begun_is_not_tried_again(tmp_path: Path) -> None:
    """A stream that breaks after text was given says so, for a second try would double the text."""
    async with served(tmp_path, [MODELS, PASSING["cut"]]) as (llm, _, server, _):
        given = []
        with pytest.raises(LLMGoneError):
            async for chunk in llm.stream(ask("Hi")):
                given.append(chunk.text)
    assert (given, len(server.asked)) == (["Hel"], 2)


async def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    """A server that sends us elsewhere does not get the key carried there."""
    moved = answer(b"", "301 Moved", "location: https://other.example/v1")
    async with served(tmp_path, [moved]) as (llm, engine, server, _):
        with pytest.raises(LLMError, match=r"other\.example") as refused:
            await llm.generate(ask("Hi"))
        assert engine.snapshot().state is EngineState.DEAD
    assert (refused.value.reason, len(server.asked)) == ("ENDPOINT_REDIRECTS", 1)


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        (answer(b"<html>hello</html>"), "BAD_ANSWER"),
        (answer({"data": "many"}), "BAD_ANSWER"),
        (answer({"data": []}), "MODEL_NOT_FOUND"),
        (answer(b"[" * 100_000), "BAD_ANSWER"),
    ],
    ids=["html", "shape", "empty", "nested"],
)
async def test_garbage_in_place_of_a_list_is_an_error_with_a_reason(
    tmp_path: Path, listed: bytes, reason: str
) -> None:
    """A malformed or empty list of models fails the first request with a reason and a message."""
    async with served(tmp_path, [listed]) as (llm, engine, _, _):
        with pytest.raises(LLMError) as refused:
            await llm.generate(ask("Hi"))
        assert engine.snapshot().error == refused.value.message
    assert refused.value.reason == reason


async def test_silence_ends_at_the_deadline(tmp_path: Path) -> None:
    """A server that takes a request and says nothing costs the caller its deadline, and is let go."""
    async with served(tmp_path, [MODELS, GOOD, None]) as (llm, _, server, _):
        await llm.generate(ask("Hi"))
        with pytest.raises(LLMError) as late:
            await llm.generate(ask("Hi", deadline_seconds=1.0))
        with anyio.fail_after(60):
            await server.left.wait()
    assert late.value.reason == "DEADLINE_EXCEEDED"


async def test_an_answer_without_counts_is_refused(tmp_path: Path) -> None:
    """A server that does not tell the usage cannot be used: no budget could be kept."""
    async with served(tmp_path, [MODELS, events(piece("Hello"), piece("", "stop"))]) as (llm, _, _, _):
        with pytest.raises(LLMError) as refused:
            await llm.generate(ask("Hi"))
    assert refused.value.reason == "USAGE_MISSING"


async def test_without_a_tokenizer_counts_are_estimates_on_the_safe_side(small_engine: SmallEngine) -> None:
    """A server that cannot be asked is said to have no tokenizer, and no text costs more than it was counted."""
    texts = [
        "Say something.",
        "def f(x):\n    return x * 2\n" * 10,
        "Straße, naïve, 日本語, 🦊",
        '{"a": [1, 2.5]}' * 9,
    ]
    async with remote(f"unix:{small_engine.socket}", settings=RemoteSettings(kind=ServerKind.OPENAI)) as (
        llm,
        _,
    ):
        for text in texts:
            request = ask(text, system="You are brief and exact.", max_tokens=2)
            counted = await llm.count_tokens(request.messages)
            response = await llm.generate(request)
            assert response.usage.prompt_tokens <= counted <= 3 * response.usage.prompt_tokens
        assert not llm.capabilities.tokenizer


async def test_without_a_grammar_of_its_own_a_schema_goes_by_the_common_name(
    small_engine: SmallEngine,
) -> None:
    """The interface's own way to name a schema is obeyed by a real server."""
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    async with remote(f"unix:{small_engine.socket}", settings=RemoteSettings(kind=ServerKind.OPENAI)) as (
        llm,
        _,
    ):
        response = await llm.generate(ask("Is it ok?", max_tokens=60, schema=schema))
    assert json.loads(response.text)["ok"] in (True, False)


@pytest.mark.parametrize(
    ("shown", "trusted", "reason"),
    [
        ("expired", True, "TLS_EXPIRED"),
        ("other host", True, "TLS_WRONG_HOST"),
        ("good", False, "TLS_UNTRUSTED"),
    ],
)
async def test_a_bad_certificate_ends_before_anything_is_said(
    tmp_path: Path, shown: str, trusted: bool, reason: str
) -> None:
    """A server that cannot prove who it is gets neither the key nor a prompt, and the error says what is wrong."""
    authority = Authority(tmp_path)
    side = authority.server_side(
        "elsewhere" if shown == "other host" else "localhost", expired=shown == "expired"
    )
    async with (
        canned_server(tmp_path / "s.sock", [MODELS, GOOD]) as server,
        front_of(tmp_path / "s.sock", side) as port,
        remote(
            f"https://localhost:{port}",
            secret=KEY,
            ca_file=authority.file if trusted else None,
            clock=ManualClock(),
            patience=HurriedClock(),
        ) as (llm, _),
    ):
        with pytest.raises(LLMError) as refused:
            await llm.generate(ask("Hi"))
    assert (refused.value.reason, refused.value.retryable, server.asked) == (reason, False, [])


async def test_a_server_without_tls_is_distinguished_from_a_broken_one() -> None:
    """An https address of a server that speaks plain http is an error that says so, and asked for once."""
    asked = 0

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.read(1)
        writer.write(answer(b"what?", "400 Bad Request"))
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with remote(f"https://127.0.0.1:{port}", clock=ManualClock(), patience=HurriedClock()) as (
            llm,
            _,
        ):
            with pytest.raises(LLMError) as refused:
                await llm.generate(ask("Hi"))
    assert (refused.value.reason, asked) == ("TLS_FAILED", 1)


async def test_an_absent_server_is_tried_three_times_and_reported(tmp_path: Path) -> None:
    """A port without a listener is tried three times; then it is unreachable and the engine is DEAD."""
    async with front_of(tmp_path / "none.sock", None) as port:
        pass  # free again
    async with remote(
        f"http://127.0.0.1:{port}", clock=ManualClock(), patience=(patience := HurriedClock())
    ) as (llm, engine):
        with pytest.raises(LLMGoneError) as refused:
            await llm.generate(ask("Hi"))
        assert engine.snapshot().state is EngineState.DEAD
    assert (refused.value.reason, len(patience.waits)) == ("ENDPOINT_UNREACHABLE", 2)


async def test_an_unknown_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that cannot be looked up is an error of its own."""

    def unknown(*_where: object, **_how: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # not every network's servers say so in time
    async with remote("https://aeond.invalid", clock=ManualClock(), patience=HurriedClock()) as (llm, _):
        with pytest.raises(LLMError) as refused:
            await llm.generate(ask("Hi"))
    assert refused.value.reason == "ENDPOINT_UNKNOWN"


async def test_the_engine_comes_back_by_itself(tmp_path: Path) -> None:
    """A server that was away is found again without a request, and the restart is counted."""
    clock = ManualClock()
    async with (
        canned_server(tmp_path / "s.sock", [b"", MODELS]),
        remote(f"unix:{tmp_path / 's.sock'}", clock=clock) as (_, engine),
    ):
        await engine.load("")
        with anyio.fail_after(60):
            while engine.snapshot().state is not EngineState.DEAD:
                await anyio.lowlevel.checkpoint()
            while engine.snapshot().state is not EngineState.READY:
                clock.advance(1)
                await anyio.lowlevel.checkpoint()
        assert engine.snapshot().restarts == 1


async def test_another_model_of_the_server_may_be_chosen(tmp_path: Path) -> None:
    """A model that the server lists is asked from then on; one that it does not list is not found."""
    async with served(tmp_path, [MODELS, MODELS, GOOD, MODELS]) as (llm, engine, server, _):
        await engine.load("small")
        assert (await llm.generate(ask("Hi"))).model == "small"
        with pytest.raises(NotFoundError):
            await engine.load("huge")
    assert server.asked[2][1]["model"] == "small"


async def test_too_many_requests_are_refused_at_the_door(tmp_path: Path) -> None:
    """Beyond its bound a request is refused here and not queued without end."""
    settings = RemoteSettings(max_requests=1)
    async with (
        served(tmp_path, [MODELS, None], settings) as (llm, _, server, _),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(llm.generate, ask("Hi"))
        with anyio.fail_after(60):
            while len(server.asked) < 2:
                await anyio.lowlevel.checkpoint()
        with pytest.raises(OverloadedError):
            await llm.generate(ask("Hi"))
        tasks.cancel_scope.cancel()


CALLED = answer(
    {"choices": [{"message": {"tool_calls": [{"function": {"name": "ready", "arguments": "{}"}}]}}]}
)


@pytest.mark.parametrize(("probed", "native"), [(CALLED, True), (answer({"choices": []}), False)])
async def test_a_probe_shows_whether_the_model_calls_tools(
    tmp_path: Path, probed: bytes, native: bool
) -> None:
    """With `auto` the first look asks for one call; a model that writes none has no native tool calls."""
    settings = RemoteSettings(tool_calls=None)
    async with served(tmp_path, [MODELS, probed], settings) as (llm, engine, server, _):
        assert not llm.capabilities.tool_calls
        await engine.ready()
        assert llm.capabilities.tool_calls is native
        assert server.asked[1][1]["tool_choice"] == "auto"


async def test_a_request_with_tools_needs_native_calls(tmp_path: Path) -> None:
    """A server that is not asked to call tools refuses them with a reason, before anything is sent."""
    async with served(tmp_path, [MODELS]) as (llm, _, server, _):
        with pytest.raises(LLMError) as raised:
            await llm.generate(ask("Hi", tools=(ToolSchema("now", "", {"type": "object"}),)))
        assert raised.value.reason == "TOOLS_UNSUPPORTED"
        assert len(server.asked) == 1
