"""Guarantees of every Engine: the one without a process and those that supervise a program, bare and
shared."""

import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine
from aeond.capabilities.llm.llama.engine import LlamaEngine, LlamaSettings
from aeond.capabilities.llm.models.catalogue import Catalogue, own_file
from aeond.capabilities.llm.models.store import ModelStore
from aeond.capabilities.llm.sharing.model_scheduler import ModelScheduler, SchedulerRules
from aeond.capabilities.llm.sharing.shared_engine import IdlePolicy, SharedEngine
from aeond.capabilities.llm.vllm.engine import VllmEngine, VllmSettings
from aeond.capabilities.llm.vllm.models import ConvertedModels
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import EngineState
from aeond.errors import NotFoundError
from aeond.ports import Engine
from tests.support.canned_server import answer, canned_server
from tests.support.mute_vllm import mute_python
from tests.support.remote import remote
from tests.support.surfaces import wait_until

# A host that only reports ready: these tests need no more of an engine.
MUTE = (sys.executable, "-c", "import sys; print('{\"ready\": true}', flush=True); sys.stdin.read()")


@dataclass(frozen=True)
class Subject:
    """An engine of the models `mine` (the default) and `other`, and whether it keeps its place when it sleeps."""

    engine: Engine
    sleeps: bool


@contextlib.asynccontextmanager
async def scripted(_folder: Path, *, sleeps: bool) -> AsyncIterator[Subject]:
    script = Script(model="mine", models=("other",), load_seconds=0.01, sleeps=sleeps)
    yield Subject(ScriptedEngine(ScriptedLLM(script), SystemClock()), sleeps)


@contextlib.asynccontextmanager
async def llama(folder: Path) -> AsyncIterator[Subject]:
    for name in ("mine", "other"):
        (folder / f"{name}.gguf").write_bytes(b"a model")
    catalogue = Catalogue([own_file(name, folder / f"{name}.gguf") for name in ("mine", "other")], "")
    store = ModelStore(folder / "models")
    async with LlamaEngine(
        catalogue, store, folder / "run", folder / "prompts", SystemClock(), LlamaSettings(), MUTE
    ) as engine:
        yield Subject(engine, sleeps=False)


@contextlib.asynccontextmanager
async def vllm(folder: Path, *, gpu: bool) -> AsyncIterator[Subject]:
    entries = []
    for name in ("mine", "other"):
        (folder / name).mkdir()
        (folder / name / "model.safetensors").write_bytes(b"a model")
        entries.append(own_file(name, folder / name))
    python = mute_python(folder)
    store = ConvertedModels(ModelStore(folder / "models"), folder / "converted", python)
    # Its processes talk over sockets with long names: pytest's own folder is too deep.
    with tempfile.TemporaryDirectory() as run:
        async with VllmEngine(
            Catalogue(entries, ""),
            store,
            Path(run),
            SystemClock(),
            VllmSettings(gpu=gpu),
            python=python,
            cache=folder / "cache",
        ) as engine:
            yield Subject(engine, sleeps=gpu)


@contextlib.asynccontextmanager
async def remote_server(folder: Path) -> AsyncIterator[Subject]:
    listed = answer({"data": [{"id": "mine"}, {"id": "other"}]})
    async with (
        canned_server(folder / "remote.sock", [listed] * 100),
        remote(f"unix:{folder / 'remote.sock'}") as (_, engine),
    ):
        yield Subject(engine, sleeps=False)


BARE: dict[str, Callable[[Path], contextlib.AbstractAsyncContextManager[Subject]]] = {
    "scripted": lambda folder: scripted(folder, sleeps=False),
    "scripted that sleeps": lambda folder: scripted(folder, sleeps=True),
    "llama": llama,
    "vllm": lambda folder: vllm(folder, gpu=False),
    "remote": remote_server,
    "vllm on a GPU": lambda folder: vllm(folder, gpu=True),
}


@pytest.fixture(params=[f"{how} {name}" for how in ("bare", "polite") for name in BARE])
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    how, _, name = request.param.partition(" ")
    async with BARE[name](tmp_path) as bare:
        if how == "bare":
            yield bare
            return
        clock = SystemClock()
        async with SharedEngine(
            bare.engine, "mine", clock, ModelScheduler(clock, SchedulerRules()), IdlePolicy()
        ) as polite:
            yield Subject(polite, bare.sleeps)


async def until_ready(engine: Engine) -> None:
    await wait_until(lambda: engine.snapshot().state is EngineState.READY)


async def test_loading_leads_to_ready(subject: Subject) -> None:
    """After a load the engine becomes READY with that model, and says that it is loaded."""
    engine = subject.engine
    for name in ("mine", "other"):
        await engine.load(name)
        await until_ready(engine)
        assert engine.snapshot().model == name
        assert [model.name for model in await engine.list_models() if model.loaded] == [name]


async def test_no_name_is_the_default(subject: Subject) -> None:
    """Loading without a name loads the one model that is listed as the default."""
    engine = subject.engine
    await engine.load("other")
    await until_ready(engine)
    await engine.load("")
    await until_ready(engine)
    defaults = [model.name for model in await engine.list_models() if model.default]
    assert defaults == [engine.snapshot().model]


async def test_a_name_that_is_not_known_is_refused(subject: Subject) -> None:
    """A model that is not listed is not found, and the running one stays."""
    await subject.engine.ready()
    with pytest.raises(NotFoundError) as refused:
        await subject.engine.load("nobody")
    assert refused.value.reason == "MODEL_NOT_FOUND"
    assert subject.engine.snapshot().state is EngineState.READY


async def test_ready_starts_what_is_not_there(subject: Subject) -> None:
    """Waiting for an engine is enough to have it start, from COLD and from its sleep alike."""
    engine = subject.engine
    for rest in (engine.unload, engine.sleep):
        await rest()
        assert engine.snapshot().state is not EngineState.READY
        with anyio.fail_after(60):
            await engine.ready()
        assert engine.snapshot().state is EngineState.READY


async def test_unloading_twice_is_no_error(subject: Subject) -> None:
    """Unloading works in any state, and the engine can be loaded again afterwards."""
    engine = subject.engine
    await engine.unload()
    await engine.unload()
    assert engine.snapshot().state is EngineState.COLD
    await engine.load("mine")
    await until_ready(engine)


async def test_sleep_says_what_it_is(subject: Subject) -> None:
    """An engine that keeps its place is ASLEEP, one that would free nothing so is unloaded and COLD; a repeat
    changes nothing, and no model is said to be loaded."""
    engine = subject.engine
    await engine.ready()
    for _ in range(2):
        await engine.sleep()
        assert engine.snapshot().state is (EngineState.ASLEEP if subject.sleeps else EngineState.COLD)
        assert not [model.name for model in await engine.list_models() if model.loaded]


async def test_waking_leads_to_ready(subject: Subject) -> None:
    """After a sleep the same model wakes, whether or not it kept its place, and a repeat changes nothing."""
    engine = subject.engine
    await engine.load("other")
    await until_ready(engine)
    await engine.sleep()
    for _ in range(2):
        await engine.wake()
        await until_ready(engine)
        assert engine.snapshot().model == "other"


async def test_sleepers_can_be_unloaded_and_exchanged(subject: Subject) -> None:
    """From its sleep an engine can be unloaded, and another model loaded."""
    engine = subject.engine
    await engine.ready()
    await engine.sleep()
    await engine.unload()
    assert engine.snapshot().state is EngineState.COLD
    await engine.ready()
    await engine.sleep()
    await engine.load("other")
    await until_ready(engine)
    assert engine.snapshot().model == "other"


async def test_concurrent_loads_and_unloads_leave_a_usable_engine(subject: Subject) -> None:
    """Loads, sleeps and unloads that come all at once leave an engine that can be used."""
    engine = subject.engine
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for name in ("mine", "other", "mine"):
                tasks.start_soon(engine.load, name)
                tasks.start_soon(engine.sleep)
                tasks.start_soon(engine.ready)
                tasks.start_soon(engine.unload)
                tasks.start_soon(engine.wake)
        await engine.load("other")
        await engine.ready()
    assert engine.snapshot().model == "other"


async def test_who_waits_for_a_change_sees_it(subject: Subject) -> None:
    """Waiting for changes is enough to follow the engine to READY, to another model and back to COLD."""
    engine = subject.engine

    async def until(state: EngineState, model: str) -> None:
        seen = engine.snapshot()
        while (seen.state, seen.model) != (state, model):
            seen = await engine.changed(seen)

    await engine.unload()
    with anyio.fail_after(60):
        for model in ("mine", "other"):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(until, EngineState.READY, model)
                await anyio.wait_all_tasks_blocked()
                await engine.load(model)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(until, EngineState.COLD, "")
            await engine.unload()
