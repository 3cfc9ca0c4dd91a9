"""What every Engine guarantees: the one without a process and the one that supervises a host alike."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.catalogue import Catalogue, own_file
from aeond.capabilities.llm.downloading import ModelStore
from aeond.capabilities.llm.llama_engine import LlamaEngine, LlamaSettings
from aeond.capabilities.llm.scripted import Script, ScriptedLLM
from aeond.capabilities.llm.scripted_engine import ScriptedEngine
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import EngineState
from aeond.errors import NotFoundError
from aeond.ports import Engine

# A host that says it is ready: what is asked of an engine here needs no more.
MUTE = (sys.executable, "-c", "import sys; print('{\"ready\": true}', flush=True); sys.stdin.read()")


@pytest.fixture(params=["scripted", "llama"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    if request.param == "scripted":
        yield ScriptedEngine(ScriptedLLM(Script(model="mine")))
        return
    (tmp_path / "mine.gguf").write_bytes(b"mine")
    catalogue = Catalogue([own_file("mine", tmp_path / "mine.gguf")], "")
    store = ModelStore(tmp_path / "models")
    async with LlamaEngine(
        catalogue, store, tmp_path / "run", tmp_path / "prompts", SystemClock(), LlamaSettings(), MUTE
    ) as entered:
        yield entered


async def until_ready(engine: Engine) -> None:
    with anyio.fail_after(30):
        while engine.snapshot().state is not EngineState.READY:
            await anyio.lowlevel.checkpoint()


async def test_loading_leads_to_ready(engine: Engine) -> None:
    """After a load the engine becomes READY with that model, and says that it is loaded."""
    await engine.load("mine")
    await until_ready(engine)
    assert engine.snapshot().model == "mine"
    assert [model.name for model in await engine.list_models() if model.loaded] == ["mine"]


async def test_no_name_is_the_default(engine: Engine) -> None:
    """Loading without a name loads the one model that is listed as the default."""
    await engine.load("")
    await until_ready(engine)
    defaults = [model.name for model in await engine.list_models() if model.default]
    assert defaults == [engine.snapshot().model]


async def test_a_name_that_is_not_known_is_refused(engine: Engine) -> None:
    """A model that is not listed is not found, and the running one stays."""
    await engine.load("")
    await until_ready(engine)
    with pytest.raises(NotFoundError) as refused:
        await engine.load("nobody")
    assert refused.value.reason == "MODEL_NOT_FOUND"
    assert engine.snapshot().state is EngineState.READY


async def test_unloading_twice_is_no_error(engine: Engine) -> None:
    """Unloading works in any state, and the engine can be loaded again afterwards."""
    await engine.unload()
    await engine.unload()
    await engine.load("mine")
    await until_ready(engine)
