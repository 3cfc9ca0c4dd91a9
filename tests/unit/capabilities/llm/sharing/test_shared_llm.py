"""The adapter of one model of an engine that is shared out."""

import anyio
import pytest

from aeond.concurrency import closing
from aeond.domain.llm import EngineState, LLMRequest, Priority
from aeond.domain.messages import Message, Role
from aeond.errors import InvalidInputError, LLMError
from tests.support.engine import ask
from tests.support.shared_engine import SharedEngineHarness, played

AHEAD = LLMRequest((Message(Role.SYSTEM, "You plan."),), max_tokens=1, priority=Priority.BACKGROUND)


def test_everything_is_asked_in_the_models_turn() -> None:
    """Counting, streaming and generating are each done by the model that was named."""

    async def scene(shared: SharedEngineHarness) -> None:
        for model in ("b", "c"):
            llm = shared.llm(model)
            assert llm.model == model
            assert await llm.count_tokens(ask("how much?").messages) > 0
            async with closing(llm.stream(ask("how much?"))) as chunks:
                assert "".join([chunk.text async for chunk in chunks]) == "it is 420"
            assert shared.engine.snapshot().model == model

    assert played(scene).inner.life == ["b", "c"]


def test_a_stream_keeps_its_turn_to_the_end() -> None:
    """A model that streams is not exchanged under its reader, however slowly the reader reads."""

    async def scene(shared: SharedEngineHarness) -> None:
        text = ""
        asked = ask("how much?", deadline_seconds=3_000)
        async with anyio.create_task_group() as tasks, closing(shared.llm("a").stream(asked)) as chunks:
            async for chunk in chunks:
                if not text:
                    tasks.start_soon(shared.ask, "b")
                text += chunk.text
                await anyio.sleep(10)
        assert text == "it is 420"

    assert played(scene).inner.life == ["b"]


def test_a_stream_that_is_left_gives_its_turn_back() -> None:
    """A caller that stops reading delays no other request."""

    async def scene(shared: SharedEngineHarness) -> None:
        async with closing(shared.llm("a").stream(ask("how much?"))) as chunks:
            await anext(chunks)
        assert shared.turns.at_work == 0
        assert await shared.ask("b") == "it is 420"

    played(scene)


def test_bad_requests_do_not_wake_the_engine() -> None:
    """An invalid request is refused before it reaches the engine."""

    async def scene(shared: SharedEngineHarness) -> None:
        await shared.engine.unload()
        with pytest.raises(InvalidInputError):
            await shared.llm().generate(ask("how much?", max_tokens=0))
        with pytest.raises(InvalidInputError):
            shared.llm().stream(ask("how much?", max_tokens=0))
        with pytest.raises(InvalidInputError):
            await shared.llm().count_tokens(())
        assert shared.state() is EngineState.COLD

    played(scene)


@pytest.mark.parametrize("sleeps", [False, True])
def test_reading_ahead_does_not_wake_the_engine(sleeps: bool) -> None:
    """Reading ahead starts no engine: one that sleeps goes on sleeping."""

    async def scene(shared: SharedEngineHarness) -> None:
        await shared.ask()
        assert (await shared.llm().generate(AHEAD)).usage.completion_tokens == 1
        await shared.engine.sleep()
        with pytest.raises(LLMError) as refused:
            await shared.llm().generate(AHEAD)
        assert refused.value.reason == "GAVE_WAY"
        assert shared.state() is not EngineState.READY

    played(scene, sleeps=sleeps)


def test_reading_ahead_gives_way_to_another_model() -> None:
    """A prompt that is read ahead is dropped as soon as a request needs the engine for another model."""

    async def scene(shared: SharedEngineHarness) -> None:
        await shared.ask()
        never = LLMRequest((Message(Role.SYSTEM, "never"),), max_tokens=1, priority=Priority.BACKGROUND)
        async with anyio.create_task_group() as tasks:

            async def read() -> None:
                with pytest.raises(LLMError) as gave_way:
                    await shared.llm().generate(never)
                assert gave_way.value.reason == "GAVE_WAY"

            tasks.start_soon(read)
            await anyio.sleep(5)
            assert shared.adapter.in_flight == 1
            assert await shared.ask("b") == "it is 420"
            with pytest.raises(LLMError):
                await shared.llm("a").generate(AHEAD)

    assert played(scene).inner.life == ["b"]


def test_the_context_is_that_of_the_model() -> None:
    """After its first request a model reports its own context length, whichever model is resident."""

    async def scene(shared: SharedEngineHarness) -> None:
        llm = shared.llm("b")
        await llm.generate(ask("how much?"))
        await shared.ask("a")
        assert llm.capabilities.context_length == shared.adapter.script.context_length

    played(scene)
