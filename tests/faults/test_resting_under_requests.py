"""The real embedded engine is unloaded and changes models under requests: all are answered, by their own model."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.adapters.llama_cpp import LlamaCppAdapter
from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.llama.engine import LlamaEngine, LlamaSettings
from aeond.capabilities.llm.models.catalogue import SMOLLM2_135M, Catalogue, own_file
from aeond.capabilities.llm.models.store import ModelStore
from aeond.capabilities.llm.sharing.model_scheduler import ModelScheduler, SchedulerRules
from aeond.capabilities.llm.sharing.shared_engine import IdlePolicy, SharedEngine
from aeond.capabilities.llm.sharing.shared_llm import SharedLLM
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import EngineState
from tests.support.engine import MODELS, SmallEngine, ask

pytestmark = pytest.mark.model

STORY = ask("Write a long story about a fox.", max_tokens=60, deadline_seconds=300)


class World:
    """The small model and a twin of it under another name, in an engine that has little patience."""

    def __init__(self, engine: LlamaEngine, polite: SharedEngine) -> None:
        self.engine = polite
        self._adapter = LlamaCppAdapter(engine, Retries(SystemClock(), random.random))
        self.lengths: list[tuple[str, int]] = []

    async def ask(self, model: str) -> None:
        response = await SharedLLM(self._adapter, self.engine, model).generate(STORY)
        self.lengths.append((response.model, response.usage.completion_tokens))


@pytest.fixture
async def world(small_engine: SmallEngine, tmp_path: Path) -> AsyncIterator[World]:
    store, clock = ModelStore(MODELS), SystemClock()
    path = store.find(SMOLLM2_135M)
    assert path is not None, "the session's engine has fetched it"
    catalogue = Catalogue([SMOLLM2_135M, own_file("twin", path)], "")
    settings = LlamaSettings(context_length=1_024, stall_seconds=120.0, max_deaths=100)
    turns = ModelScheduler(clock, SchedulerRules(turn_seconds=2.0, linger_seconds=0.1))
    async with (
        LlamaEngine(catalogue, store, tmp_path / "e", tmp_path / "p", clock, settings) as engine,
        SharedEngine(engine, engine.model, clock, turns, IdlePolicy(patience_seconds=0.05)) as polite,
    ):
        yield World(engine, polite)


async def test_models_change_between_requests_and_not_under_them(world: World) -> None:
    """Requests for two models that come all at once are each answered whole by theirs, without a death."""
    async with anyio.create_task_group() as tasks:
        for model in (SMOLLM2_135M.name, "twin", "", "twin"):
            tasks.start_soon(world.ask, model)
    assert sorted(world.lengths) == sorted([(SMOLLM2_135M.name, 60), ("twin", 60)] * 2)
    assert world.engine.snapshot().restarts == 0


async def test_an_unload_without_patience_costs_no_request(world: World) -> None:
    """Requests that an unload cuts are asked again by themselves; then the model is there again."""
    await world.engine.ready()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(world.ask, "")
        await anyio.wait_all_tasks_blocked()
        await world.engine.unload()
    assert world.lengths == [(SMOLLM2_135M.name, 60)] * 3
    assert world.engine.snapshot().state is EngineState.READY


async def test_sleep_here_is_an_unload_that_says_so(world: World) -> None:
    """llama.cpp frees nothing by sleeping, so it is COLD after it, and the next request wakes it."""
    await world.engine.ready()
    await world.engine.sleep()
    assert world.engine.snapshot().state is EngineState.COLD
    await world.ask("twin")
    assert world.lengths == [("twin", 60)]
