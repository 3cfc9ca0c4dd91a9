"""A scripted engine that is shared out, in virtual time."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine
from aeond.capabilities.llm.sharing.model_scheduler import ModelScheduler, SchedulerRules
from aeond.capabilities.llm.sharing.shared_engine import IdlePolicy, SharedEngine
from aeond.capabilities.llm.sharing.shared_llm import SharedLLM
from aeond.domain.llm import EngineState
from tests.support.engine import ask
from tests.support.virtual_time import VirtualClock, in_virtual_time

RULES = (Rule(contains="never", stall=True, text="at last"), Rule(text="it is 420"))


class Wanted:
    """A MemoryWatch that says what a test says."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._news = anyio.Event()

    def say(self, why: str) -> None:
        self._said.append(why)
        self._news.set()
        self._news = anyio.Event()

    async def shortages(self) -> AsyncIterator[str]:
        while True:
            while not self._said:
                await self._news.wait()
            yield self._said.pop(0)


class SharedEngineHarness:
    """The models `a` (the default), `b` and `c`, which take 10 s to load, and what they were asked."""

    def __init__(
        self, *, sleeps: bool = False, manners: IdlePolicy | None = None, load_seconds: float = 10.0
    ) -> None:
        self.clock = VirtualClock()
        script = Script(
            model="a", models=("b", "c"), load_seconds=load_seconds, sleeps=sleeps, rules=RULES, piece_chars=2
        )
        self.adapter = ScriptedLLM(script)
        self.inner = ScriptedEngine(self.adapter, self.clock)
        self.turns = ModelScheduler(self.clock, SchedulerRules())
        self.memory = Wanted()
        quiet = IdlePolicy(sleep_after_seconds=0, unload_after_seconds=0)
        self.engine = SharedEngine(self.inner, "a", self.clock, self.turns, manners or quiet, (self.memory,))

    def state(self) -> EngineState:
        return self.engine.snapshot().state

    def llm(self, model: str = "") -> SharedLLM:
        return SharedLLM(self.adapter, self.engine, model)

    async def ask(self, model: str = "", text: str = "how much?", **options: Any) -> str:
        """The model's answer."""
        response = await self.llm(model).generate(ask(text, **options))
        assert response.model == (model or self.engine.chosen)
        return response.text

    @asynccontextmanager
    async def busy(self, model: str = "") -> AsyncIterator[None]:
        """A request of this model is at work during the block, and is answered after it."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(self.ask, model, "never", deadline_seconds=1e9))
            await anyio.sleep(20)  # it has been loaded
            assert self.adapter.in_flight == 1
            yield
            self.adapter.release()


def played(scene: Callable[[SharedEngineHarness], Awaitable[None]], **options: Any) -> SharedEngineHarness:
    """The engine after the scene. A request that reached it while it rested, or that it cut, would have failed."""
    ended: list[SharedEngineHarness] = []

    async def play() -> None:
        shared = SharedEngineHarness(**options)
        async with shared.engine:
            await scene(shared)
        ended.append(shared)

    in_virtual_time(play)
    return ended[0]
