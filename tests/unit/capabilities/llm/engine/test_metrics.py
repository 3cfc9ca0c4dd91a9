"""Pages of numbers: read, put into our words, and done without where there are none."""

from pathlib import Path

import pytest

from aeond.capabilities.llm.engine.metrics import read_page, seen_by
from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import UnixSocket
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import EngineMetrics
from tests.support.canned_server import answer, canned_server
from tests.support.engine import SmallEngine, ask

VLLM = b"""# HELP vllm:num_requests_running Number of requests
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_running{engine="1",model_name="m"} 1.0
vllm:num_requests_waiting{engine="0",model_name="m"} 4.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 1000.0
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 900.0
"""
MEASURED = EngineMetrics(running_requests=9, prompt_tokens=1_000, cached_tokens=880)


def test_numbers_are_read_whatever_their_labels() -> None:
    """Labels are left out and their numbers added up; comments and nonsense are passed over."""
    page = 'a{x="1 {}"} 1.5\na{x="2"} 2\n# a 7\nb 3e2\nc nonsense\n\nd NaN extra words\n'
    assert read_page(page) == {"a": 3.5, "b": 300.0}


async def seen(folder: Path, *responses: bytes | None) -> EngineMetrics:
    client = OpenAIClient(UnixSocket(folder / "s.sock"), Watchdog(SystemClock()))
    async with canned_server(folder / "s.sock", responses):
        return await seen_by(client, MEASURED)


async def test_metrics_of_vllm_are_merged(tmp_path: Path) -> None:
    """The engine's own queue, cache and count of tokens read are added to what was measured from outside."""
    metrics = await seen(tmp_path, answer(VLLM))
    assert metrics == EngineMetrics(
        running_requests=3,
        waiting_requests=4,
        prompt_tokens=1_000,
        cached_tokens=880,
        cache_fraction=0.25,
        read_tokens=100,
    )


@pytest.mark.parametrize(
    "response",
    [
        answer(b"no", "404 Not Found"),
        answer(b"\xff\xfe"),
        answer(b"llamacpp:requests_processing x"),
        b"",
        None,
    ],
    ids=["none", "garbage", "no number", "gone", "silence"],
)
async def test_a_server_that_does_not_say_is_done_without(tmp_path: Path, response: bytes | None) -> None:
    """No page, a broken one, or silence leave what was measured."""
    assert await seen(tmp_path, response) == MEASURED


@pytest.mark.model
async def test_a_real_engine_tells_how_it_is(small_engine: SmallEngine) -> None:
    """Of a real engine everything is known after an answer, and what it read by its own count is no more than what
    was asked of it and not known."""
    before = await small_engine.engine.metrics()
    assert before is not None
    await small_engine.llm.generate(ask("Tell me of lanterns and rivers. " * 9, max_tokens=12))
    after = await small_engine.engine.metrics()
    assert after is not None
    assert after.completion_tokens - before.completion_tokens == 12
    assert after.tokens_per_second > 0
    assert after.first_token_seconds > 0
    assert 0 < after.cache_fraction <= 1
    asked = after.prompt_tokens - before.prompt_tokens
    new = asked - (after.cached_tokens - before.cached_tokens)
    # llama.cpp reads the last token of each piece again.
    assert new <= after.read_tokens - before.read_tokens <= 2 * asked
