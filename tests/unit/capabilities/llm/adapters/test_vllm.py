"""The behaviour of the adapter beyond the contract, mostly by vLLM's own metrics."""

import contextlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.adapters.dialects import VllmDialect
from aeond.capabilities.llm.adapters.measurements import Measurements
from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.adapters.vllm import VllmAdapter
from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import UnixSocket
from aeond.capabilities.llm.vllm.engine import VllmResident
from aeond.concurrency import closing
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import Priority
from aeond.errors import LLMGoneError
from tests.support.engine import ask
from tests.support.surfaces import wait_for
from tests.support.vllm import RealVllm

STORY = "Write a long story about a fox, a river and a bridge."
STEPS = "vllm:iteration_tokens_total_count"
WRITTEN = "vllm:generation_tokens_total"


async def until_idle(vllm: RealVllm) -> None:
    await wait_for(vllm.is_idle, 120)


@pytest.mark.vllm
async def test_a_choice_is_one_of_those_given(vllm_engine: RealVllm) -> None:
    """Under a schema that lists answers, the answer is one of them."""
    answer = await vllm_engine.llm.generate(ask("Is it?", max_tokens=10, schema={"enum": ["yes", "no"]}))
    assert json.loads(answer.text) in {"yes", "no"}


@pytest.mark.vllm
async def test_a_pattern_is_kept(vllm_engine: RealVllm) -> None:
    """Under a schema with a pattern, the answer matches it."""
    pattern = "^[A-Z]{3}-[0-9]{4}$"
    request = ask("A code, please.", max_tokens=20, schema={"type": "string", "pattern": pattern})
    answer = await vllm_engine.llm.generate(request)
    assert re.fullmatch(pattern, json.loads(answer.text))


@pytest.mark.vllm
async def test_a_stream_that_is_left_costs_a_few_tokens_more(vllm_engine: RealVllm) -> None:
    """Once a stream is closed the engine stops within a few steps, however much was asked for."""
    await until_idle(vllm_engine)
    before = (await vllm_engine.metrics())[WRITTEN]
    async with closing(vllm_engine.llm.stream(ask(STORY, max_tokens=1500))) as chunks:
        for _ in range(2):  # a chunk has what is written in a tenth of a second
            await anext(chunks)
    await until_idle(vllm_engine)
    assert (await vllm_engine.metrics())[WRITTEN] - before < 100


@pytest.mark.vllm
async def test_a_seed_repeats_the_dice_of_a_prompt_read_in_steps(vllm_engine: RealVllm) -> None:
    """A prompt that is read in several steps is answered with its seed's dice, alone and among others, by one and the same
    life of the engine."""
    before = vllm_engine.engine.snapshot().restarts
    words = " ".join(f"{number} ships," for number in range(150))
    request = ask(f"{words} and then?", max_tokens=12, temperature=1.0, seed=11)
    # Longer than one step on any CPU; the engine's metrics say nothing about steps in which no request generates.
    assert await vllm_engine.llm.count_tokens(request.messages) > 500
    await vllm_engine.llm.generate(request)  # read in steps: the next two find it in the cache
    first = await vllm_engine.llm.generate(request)
    assert (await vllm_engine.llm.generate(request)).text == first.text

    async def other(seed: int) -> None:
        text = f"{seed} boats: {words} and then?"
        await vllm_engine.llm.generate(ask(text, max_tokens=4, temperature=1.0, seed=seed))

    async with anyio.create_task_group() as tasks:
        for seed in range(4):
            tasks.start_soon(other, seed)
    assert vllm_engine.engine.snapshot().restarts == before


@pytest.mark.vllm
async def test_requests_at_once_share_the_engines_steps(vllm_engine: RealVllm) -> None:
    """Six requests at the same time take far fewer steps than one after another."""
    await until_idle(vllm_engine)
    before = (await vllm_engine.metrics())[STEPS]
    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(vllm_engine.llm.generate, ask(STORY, max_tokens=32))
    assert (await vllm_engine.metrics())[STEPS] - before < 6 * 32 / 2


@pytest.mark.vllm
async def test_who_waits_goes_before_the_background(vllm_engine: RealVllm) -> None:
    """With twice as many background requests as fit at once, an interactive one overtakes those that wait."""
    done: list[str] = []

    async def work(name: str, priority: Priority, tokens: int) -> None:
        await vllm_engine.llm.generate(ask(STORY, max_tokens=tokens, priority=priority))
        done.append(name)

    async with anyio.create_task_group() as tasks:
        for _ in range(48):
            tasks.start_soon(work, "background", Priority.BACKGROUND, 24)
        with anyio.fail_after(120):
            while (await vllm_engine.metrics())["vllm:num_requests_waiting"] == 0:
                await anyio.lowlevel.checkpoint()
        tasks.start_soon(work, "interactive", Priority.INTERACTIVE, 4)
    assert done.index("interactive") < 36


@pytest.mark.vllm
async def test_a_known_beginning_is_not_read_again(vllm_engine: RealVllm) -> None:
    """The second request that begins as an earlier one did finds four fifths of its prompt read."""
    rules = "Answer in one word. Be kind, brief and exact, and never say what you do not know. " * 20
    await vllm_engine.llm.generate(ask("What is red?", system=rules, max_tokens=2))
    usage = (await vllm_engine.llm.generate(ask("What is blue?", system=rules, max_tokens=2))).usage
    assert usage.cached_tokens >= 0.8 * usage.prompt_tokens


class Gone:
    """The sessions of an engine whose server has died unnoticed."""

    model = "m"
    context_length = 100
    tool_calls = False

    def __init__(self, socket: Path) -> None:
        client = OpenAIClient(UnixSocket(socket), Watchdog(SystemClock()))
        self.resident = VllmResident(client, VllmDialect("m", schemas=True))
        self.marked_dead: list[VllmResident] = []
        self.measurements = Measurements(SystemClock())

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[VllmResident]:
        yield self.resident

    def mark_dead(self, resident: VllmResident) -> None:
        self.marked_dead.append(resident)


async def test_a_connection_that_breaks_ends_that_life(tmp_path: Path) -> None:
    """A request that finds the server gone marks it dead, so that the next request waits for a new one."""
    gone = Gone(tmp_path / "none.sock")
    llm = VllmAdapter(gone, Retries(SystemClock(), lambda: 0.0, attempts=1))
    with pytest.raises(LLMGoneError):
        await llm.generate(ask("Hello."))
    assert gone.marked_dead == [gone.resident]
