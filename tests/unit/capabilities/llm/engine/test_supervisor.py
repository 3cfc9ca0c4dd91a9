"""Going to sleep takes as long as the weights take to be moved."""

import os
import tempfile
from pathlib import Path

import anyio

from aeond.capabilities.llm.models.catalogue import Catalogue, own_file
from aeond.capabilities.llm.models.store import ModelStore
from aeond.capabilities.llm.vllm.engine import VllmEngine, VllmSettings
from aeond.capabilities.llm.vllm.models import ConvertedModels
from aeond.domain.llm import EngineState
from tests.support.doubles import ManualClock
from tests.support.mute_vllm import mute_python


async def test_an_engine_that_takes_long_to_fall_asleep_is_not_taken_for_dead(tmp_path: Path) -> None:
    """It is silent for longer than any answer may take while it moves its weights, and is asleep then, not gone."""
    clock, settings = ManualClock(), VllmSettings(gpu=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model.safetensors").write_bytes(b"a model")
    python = mute_python(tmp_path)
    store = ConvertedModels(ModelStore(tmp_path / "models"), tmp_path / "converted", python)
    catalogue = Catalogue([own_file("mine", tmp_path / "mine")], "")
    with tempfile.TemporaryDirectory() as run:  # its processes talk over sockets with long names
        pipe = Path(run) / "falling-asleep"
        os.mkfifo(pipe)
        async with VllmEngine(
            catalogue, store, Path(run), clock, settings, python=python, cache=tmp_path / "cache"
        ) as engine:
            with anyio.fail_after(60):
                await engine.ready()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(engine.sleep)
                    # Opens only when the program reads it, that is, after the sleep request has arrived.
                    async with await anyio.open_file(pipe, "w"):
                        clock.advance(10 * settings.stall_seconds)
                        await anyio.wait_all_tasks_blocked()
            assert engine.snapshot().state is EngineState.ASLEEP
            assert engine.snapshot().restarts == 0
