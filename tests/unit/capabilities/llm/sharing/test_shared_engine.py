"""Sharing an engine: each request is answered whatever the engine does meanwhile, and no other request pays for it."""

import anyio
import pytest

from aeond.capabilities.llm.sharing.shared_engine import IdlePolicy
from aeond.domain.llm import EngineState
from aeond.errors import LLMError, NotFoundError, WrongStateError
from tests.support.engine import ask
from tests.support.shared_engine import SharedEngineHarness, played


def test_a_request_names_its_model() -> None:
    """Requests for several models are each answered by theirs, and the models change no oftener than needed."""

    async def scene(shared: SharedEngineHarness) -> None:
        async with anyio.create_task_group() as tasks:
            for model in ("a", "b", "a", "c", "b", "", "c"):
                tasks.start_soon(shared.ask, model)

    assert played(scene).inner.life == ["b", "c"]


def test_a_request_without_a_name_gets_the_chosen_model() -> None:
    """Requests for other models do not change which model answers the requests that name none."""

    async def scene(shared: SharedEngineHarness) -> None:
        await shared.ask("b")
        assert shared.engine.snapshot().model == "b"
        await shared.ask("")
        await shared.engine.load("c")
        await shared.ask("")

    assert played(scene).inner.life == ["b", "a", "c"]


def test_a_load_lets_requests_end_first() -> None:
    """A load returns at once and says what it waits for; requests at work are not cut."""

    async def scene(shared: SharedEngineHarness) -> None:
        async with shared.busy("a"):
            await shared.engine.load("b")
            waiting = shared.engine.snapshot()
            assert (waiting.state, waiting.model) == (EngineState.STARTING, "b")
            assert waiting.activity == "waiting to load"
            await anyio.sleep(100)
            assert shared.inner.life == []
        await shared.engine.ready()
        assert shared.engine.snapshot().model == "b"

    played(scene)


def test_the_last_load_counts() -> None:
    """Of several loads that wait, the newest is done and the others never are."""

    async def scene(shared: SharedEngineHarness) -> None:
        async with shared.busy("a"):
            await shared.engine.load("b")
            await anyio.sleep(1)
            await shared.engine.load("c")
            await anyio.sleep(1)
        await shared.engine.ready()

    assert played(scene).inner.life == ["c"]


@pytest.mark.parametrize("sleeps", [False, True])
def test_it_rests_when_it_was_idle(sleeps: bool) -> None:
    """After the time without requests it sleeps, after more it is unloaded, and never while it works."""

    async def scene(shared: SharedEngineHarness) -> None:
        async with shared.busy():
            await anyio.sleep(3_000)
            assert shared.state() is EngineState.READY
        await anyio.sleep(899)
        assert shared.state() is EngineState.READY
        await anyio.sleep(3)
        assert shared.state() is (EngineState.ASLEEP if sleeps else EngineState.COLD)
        await anyio.sleep(3_600)
        assert shared.state() is EngineState.COLD
        assert await shared.ask() == "it is 420"

    life = played(scene, sleeps=sleeps, manners=IdlePolicy()).inner.life
    assert life == (["sleep", "unload", "a"] if sleeps else ["unload", "a"])


def test_zero_is_never() -> None:
    """An engine that is not to rest by itself does not."""

    async def scene(shared: SharedEngineHarness) -> None:
        await anyio.sleep(8_000)
        assert shared.state() is EngineState.READY

    played(scene)


def test_new_manners_are_adopted() -> None:
    """How long it may idle changes while it runs."""

    async def scene(shared: SharedEngineHarness) -> None:
        await anyio.sleep(100)
        shared.engine.adopt(IdlePolicy(sleep_after_seconds=200))
        await anyio.sleep(99)
        assert shared.state() is EngineState.READY
        await anyio.sleep(3)
        assert shared.state() is EngineState.COLD

    played(scene)


def test_a_request_wakes_it_and_is_answered() -> None:
    """No request reaches an engine that sleeps, or one that is about to: it wakes it and waits."""

    async def scene(shared: SharedEngineHarness) -> None:
        for _ in range(3):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(shared.engine.sleep)
                for model in ("a", "", "b"):
                    tasks.start_soon(shared.ask, model)

    played(scene, sleeps=True)


def test_sleep_waits_for_those_at_work_and_gives_up() -> None:
    """Putting the engine to sleep fails as busy when the wait would be too long, and the work goes on."""

    async def scene(shared: SharedEngineHarness) -> None:
        async with shared.busy():
            with pytest.raises(WrongStateError) as refused:
                await shared.engine.sleep()
            assert refused.value.reason == "ENGINE_BUSY"
            assert anyio.current_time() == pytest.approx(40)
        await shared.engine.sleep()
        assert shared.state() is EngineState.ASLEEP

    played(scene, sleeps=True)


def test_unload_lets_requests_end() -> None:
    """A request that ends within the patience is not cut by an unload, and one that came after it is answered."""

    async def scene(shared: SharedEngineHarness) -> None:
        async with anyio.create_task_group() as tasks, shared.busy():
            tasks.start_soon(shared.engine.unload)
            await anyio.sleep(1)
            tasks.start_soon(shared.ask)
            await anyio.sleep(10)
            assert shared.inner.life == []

    assert played(scene).inner.life == ["unload", "a"]


def test_memory_is_given_back_when_it_is_wanted() -> None:
    """An idle engine sleeps when memory runs short; a busy one goes on, and sleeps at a later notice."""

    async def scene(shared: SharedEngineHarness) -> None:
        await anyio.sleep(5)
        async with shared.busy():
            shared.memory.say("another program wants it")
            await anyio.sleep(5)
            assert shared.state() is EngineState.READY
        shared.memory.say("still")
        await anyio.sleep(5)
        assert shared.state() is EngineState.ASLEEP
        assert await shared.ask() == "it is 420"

    assert played(scene, sleeps=True).inner.life == ["sleep", "a"]


def test_the_deadline_holds_while_it_waits_for_its_turn() -> None:
    """A request whose model does not get its turn in time fails by its deadline and is forgotten."""

    async def scene(shared: SharedEngineHarness) -> None:
        async with shared.busy("a"):
            began = anyio.current_time()
            with pytest.raises(LLMError) as failed:
                await shared.ask("b", deadline_seconds=30.0)
            assert failed.value.reason == "DEADLINE_EXCEEDED"
            assert anyio.current_time() - began == pytest.approx(30)
            assert shared.turns.waiting == 0

    assert played(scene).inner.life == []


def test_the_start_of_a_model_is_not_counted_against_the_deadline() -> None:
    """A request waits for its model to load, however long that takes, and has its time for the answer."""

    async def scene(shared: SharedEngineHarness) -> None:
        assert await shared.ask("b", deadline_seconds=1.0) == "it is 420"
        assert anyio.current_time() >= 10

    played(scene)


def test_a_load_ends_the_wait_for_a_model_that_is_no_longer_wanted() -> None:
    """While a model starts, another one can be chosen at once, and who waited for the first gets the second."""

    async def scene(shared: SharedEngineHarness) -> None:
        answers: list[str] = []

        async def waits() -> None:
            response = await shared.llm().generate(ask("how much?"))
            answers.append(response.model)

        await shared.engine.load("b")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(waits)
            await anyio.sleep(100)
            await shared.engine.load("c")
        assert answers == ["c"]
        assert anyio.current_time() == pytest.approx(1_000)

    played(scene, load_seconds=900.0)


def test_unknown_models_are_not_found_and_cost_nothing() -> None:
    """A name that is not known is refused before anything is done for it."""

    async def scene(shared: SharedEngineHarness) -> None:
        with pytest.raises(NotFoundError) as refused:
            await shared.ask("nobody")
        assert refused.value.reason == "MODEL_NOT_FOUND"
        with pytest.raises(NotFoundError):
            await shared.engine.load("nobody")

    assert played(scene).inner.life == []


def test_a_borrowed_model_that_is_unavailable_keeps_no_request_waiting() -> None:
    """A model that fails to start is refused for a while without another change of models; the others go on."""

    async def scene(shared: SharedEngineHarness) -> None:
        ready = shared.inner.ready

        async def fails() -> None:
            if shared.inner.snapshot().model == "b":
                raise LLMError("the file is damaged", reason="MODEL_UNUSABLE")
            await ready()

        shared.inner.ready = fails  # type: ignore[method-assign]  # this one model cannot be had
        for _ in range(3):
            with pytest.raises(LLMError, match="damaged"):
                await shared.ask("b")
            assert await shared.ask("a") == "it is 420"
        assert shared.inner.life == ["b", "a"]
        await anyio.sleep(61)
        with pytest.raises(LLMError, match="damaged"):
            await shared.ask("b")
        assert shared.inner.life == ["b", "a", "b"]

    played(scene)
