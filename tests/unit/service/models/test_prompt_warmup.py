"""Reading ahead what most prompts begin with, once for each life of the engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.llm import EngineSnapshot, EngineState, Priority
from aeond.domain.messages import Message, Role
from aeond.domain.tools import Effect, ToolSpec
from aeond.domain.values import JsonObject
from aeond.service.models.prompt_warmup import TOOLS_SECONDS, PromptWarmup
from tests.support.doubles import ManualClock
from tests.support.settable_engine import SettableEngine

OPENING = (Message(Role.SYSTEM, "You plan."),)
OTHER = (Message(Role.SYSTEM, "You decide."),)
SCHEMA: JsonObject = {"type": "object"}
READY = EngineSnapshot(EngineState.READY, "tiny")


class World:
    """A warming over an engine whose state the test sets, and a scripted model."""

    def __init__(self, *rules: Rule) -> None:
        self.engine = SettableEngine()
        self.llm = ScriptedLLM(Script(model="tiny", rules=rules or (Rule(text="x"),)))
        self.clock = ManualClock()
        self.openings = [OPENING]
        self.tools: list[ToolSpec] = []

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        warming = PromptWarmup(
            self.llm, self.engine, lambda: self.openings, self.clock, lambda: self.tools, lambda: SCHEMA
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(warming.keep_warm)
            await self.look()
            yield
            tasks.cancel_scope.cancel()

    async def look(self, state: EngineSnapshot | None = None) -> None:
        """The engine is in this state now, and the warming has seen it."""
        self.engine.state = state or self.engine.state
        for _ in range(2):  # it looks at the engine's state at once, at the tools now and then
            self.clock.advance(TOOLS_SECONDS)
            await anyio.wait_all_tasks_blocked()


async def test_nothing_is_asked_of_an_engine_that_is_not_ready() -> None:
    """Reading ahead starts no engine, and waits for one that starts."""
    world = World()
    async with world.working():
        for state in (EngineState.COLD, EngineState.STARTING, EngineState.DEAD):
            await world.look(EngineSnapshot(state))
        assert not world.llm.requests
        await world.look(READY)
        assert len(world.llm.requests) == 1


async def test_a_warmup_requests_one_token_in_the_background() -> None:
    """The request holds the usual beginning, wants a single token and gives way."""
    world = World()
    async with world.working():
        await world.look(READY)
    (request,) = world.llm.requests
    assert request.messages == OPENING
    assert (request.max_tokens, request.priority) == (1, Priority.BACKGROUND)
    assert request.schema == SCHEMA


async def test_every_beginning_is_read_in_turn() -> None:
    """The beginning that comes first in a run is read before any other one is asked for, however long it takes."""
    world = World(Rule(stall=True, contains="decide"), Rule(text="x"))
    world.openings = [OTHER, OPENING]
    async with world.working():
        await world.look(READY)
        assert [request.messages for request in world.llm.requests] == [OTHER]
    world = World()
    world.openings = [OTHER, OPENING]
    async with world.working():
        await world.look(READY)
    assert [request.messages for request in world.llm.requests] == [OTHER, OPENING]


@pytest.mark.parametrize(
    "between",
    [(), (EngineSnapshot(EngineState.COLD),)],
    ids=["died unseen", "unloaded"],
)
async def test_each_life_of_the_engine_is_warmed_once(between: tuple[EngineSnapshot, ...]) -> None:
    """A running engine is warmed up once, and a restarted one again."""
    world = World()
    async with world.working():
        for _ in range(3):
            await world.look(READY)
        assert len(world.llm.requests) == 1
        for state in between:
            await world.look(state)
        await world.look(EngineSnapshot(EngineState.READY, "tiny", restarts=1 - len(between)))
        assert len(world.llm.requests) == 2


async def test_other_tools_are_read_ahead_too() -> None:
    """A tool that comes or goes while the engine runs has the beginning read again, and only that once."""
    world = World()
    async with world.working():
        await world.look(READY)
        world.tools.append(ToolSpec("new", "New.", {}, {}, Effect.PURE))
        for _ in range(3):
            await world.look()
        assert len(world.llm.requests) == 2
        world.tools.clear()
        await world.look()
        assert len(world.llm.requests) == 3


async def test_a_failure_is_logged_and_the_next_life_tried(caplog: pytest.LogCaptureFixture) -> None:
    """A failed warm-up is logged and has no other effect."""
    world = World(Rule(fail="ENGINE_REFUSED", times=1), Rule(text="x"))
    async with world.working():
        await world.look(READY)
        assert "warm-up of the prefix cache failed" in caplog.text
        await world.look(EngineSnapshot(EngineState.COLD))
        await world.look(READY)
        assert len(world.llm.requests) == 2


async def test_a_warmup_that_yielded_is_repeated_without_a_log_record(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A warm-up that yielded is repeated at the next opportunity without a log record."""
    world = World(Rule(fail="GAVE_WAY", times=2), Rule(text="x"))
    async with world.working():
        for _ in range(4):
            await world.look(READY)
    assert len(world.llm.requests) == 3
    assert "warm-up of the prefix cache failed" not in caplog.text


async def test_nothing_is_read_into_a_borrowed_engine() -> None:
    """While another model is resident than the one that most prompts are for, nothing is read ahead."""
    world = World()
    async with world.working():
        await world.look(EngineSnapshot(EngineState.READY, "another"))
        assert not world.llm.requests
        await world.look(READY)
        assert len(world.llm.requests) == 1
