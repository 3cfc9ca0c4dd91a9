"""The engine dies, hangs and cannot start: calls say so or are answered after all, and nothing is left over."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.engine.process import PID_FILE, start_ticks
from aeond.capabilities.llm.llama.engine import HOST_MODULE, LlamaEngine, LlamaSettings
from aeond.capabilities.llm.models.catalogue import Catalogue, own_file
from aeond.capabilities.llm.models.store import ModelStore
from aeond.concurrency import closing
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import EngineState
from aeond.errors import LLMError, LLMGoneError
from tests.support.engine import SmallEngine, ask, running_engine
from tests.support.surfaces import wait_until

pytestmark = pytest.mark.model

STORY = ask("Write a long story about a fox.", max_tokens=80, deadline_seconds=120)
SHORT = ask("Say hello.", max_tokens=5, deadline_seconds=120)


@pytest.fixture
async def mortal(tmp_path: Path) -> AsyncIterator[SmallEngine]:
    """An engine of the test's own that may be killed; it is quick to come back."""
    async with running_engine(tmp_path / "engine", max_deaths=100, first_backoff_seconds=0.01) as running:
        await running.llm.generate(SHORT)
        yield running


def pid_of(running: SmallEngine) -> int:
    return int(json.loads((running.folder / PID_FILE).read_text())["pid"])


async def until_gone(pid: int) -> None:
    """Returns when there is no such process any more."""
    await wait_until(lambda: start_ticks(pid) is None)


async def until_state(engine: LlamaEngine, state: EngineState) -> None:
    await wait_until(lambda: engine.snapshot().state is state)


async def asked_until_it_comes(running: SmallEngine, kills: list[int]) -> str:
    """A streaming caller that retries after an engine death; every attempt but the last is killed."""
    while True:
        text, killed = "", False
        try:
            async with closing(running.llm.stream(STORY)) as chunks:
                async for chunk in chunks:
                    text += chunk.text
                    if kills and not killed and len(text) > 20:
                        killed = True
                        os.killpg(pid_of(running), kills.pop())
        except LLMGoneError:
            continue
        return text


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.nightly)])
async def test_killed_in_mid_stream_and_asked_again(mortal: SmallEngine, kills: int) -> None:
    """A stream cut by SIGKILL says that the engine is gone, and asking again gets the whole answer."""
    first = pid_of(mortal)
    text = await asked_until_it_comes(mortal, [signal.SIGKILL] * kills)
    assert len(text) > 20
    assert mortal.engine.snapshot().restarts == kills
    await until_gone(first)


async def test_a_call_in_one_piece_survives_a_kill(mortal: SmallEngine) -> None:
    """Generate gives nothing until it is done, so it asks again by itself."""
    lengths: list[int] = []

    async def generate() -> None:
        lengths.append((await mortal.llm.generate(STORY)).usage.completion_tokens)

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(generate)
        with anyio.fail_after(60):
            while await mortal.is_idle():
                await anyio.lowlevel.checkpoint()
        os.killpg(pid_of(mortal), signal.SIGKILL)
    assert len(lengths) == 5
    assert mortal.engine.snapshot().state is EngineState.READY


async def test_a_clean_exit_is_a_death(tmp_path: Path) -> None:
    """An engine that leaves with status 0 and was not asked to is started again."""
    leaves = (
        "import os, signal, runpy; signal.signal(signal.SIGUSR1, lambda *_: os._exit(0)); "
        f"runpy.run_module({HOST_MODULE!r}, run_name='__main__')"
    )
    async with running_engine(tmp_path / "engine", program=[sys.executable, "-c", leaves]) as running:
        await running.llm.generate(SHORT)
        os.kill(pid_of(running), signal.SIGUSR1)
        await until_state(running.engine, EngineState.DEAD)
        assert "exit code 0" in running.engine.snapshot().error
        assert (await running.llm.generate(SHORT)).text


@pytest.mark.parametrize("hangs", [1, pytest.param(5, marks=pytest.mark.nightly)])
async def test_a_hang_is_found_by_the_lack_of_progress(tmp_path: Path, hangs: int) -> None:
    """An engine that stands still under a request is killed after the stall limit, and the call goes on."""
    async with running_engine(tmp_path / "engine", stall_seconds=3.0, max_deaths=100) as running:
        await running.llm.generate(SHORT)
        for _ in range(hangs):
            stopped = pid_of(running)
            os.kill(stopped, signal.SIGSTOP)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(running.llm.generate, SHORT)
                await until_state(running.engine, EngineState.DEAD)
                assert "silent" in running.engine.snapshot().error
            await until_gone(stopped)
        assert running.engine.snapshot().restarts >= hangs


async def test_too_many_deaths_end_the_trying(tmp_path: Path) -> None:
    """An engine that dies again and again stays down with an error, and a load brings it back."""
    async with running_engine(tmp_path / "engine", max_deaths=2, first_backoff_seconds=0.01) as running:
        for _ in range(2):
            await running.llm.generate(SHORT)
            os.killpg(pid_of(running), signal.SIGKILL)
            await until_state(running.engine, EngineState.DEAD)
        with pytest.raises(LLMError, match="died 2 times") as failed:
            await running.llm.generate(SHORT)
        assert failed.value.reason == "ENGINE_DEAD"
        assert "died 2 times" in running.engine.snapshot().error
        await running.engine.load("")
        assert (await running.llm.generate(SHORT)).text


async def test_an_unusable_model_is_a_clear_error(tmp_path: Path) -> None:
    """A file that is no model fails at once with the engine's reason, and is not tried in a loop."""
    (tmp_path / "bad.gguf").write_bytes(b"GGUF but not really" * 1000)
    catalogue = Catalogue([own_file("bad", tmp_path / "bad.gguf")], "")
    store = ModelStore(tmp_path / "models")
    async with LlamaEngine(
        catalogue, store, tmp_path / "e", tmp_path / "p", SystemClock(), LlamaSettings()
    ) as engine:
        for _ in range(2):
            with anyio.fail_after(60), pytest.raises(LLMError) as failed:
                async with engine.session():
                    pass
            assert failed.value.reason == "MODEL_UNUSABLE"
        assert engine.snapshot().state is EngineState.DEAD
        assert "load" in engine.snapshot().error
        assert engine.snapshot().restarts == 0


async def test_unload_ends_the_process_and_a_request_brings_it_back(mortal: SmallEngine) -> None:
    """Unloading gives everything back at once; the next request loads the model again."""
    pid = pid_of(mortal)
    await mortal.engine.unload()
    assert start_ticks(pid) is None
    assert mortal.engine.snapshot().state is EngineState.COLD
    assert mortal.engine.snapshot().restarts == 0
    assert (await mortal.llm.generate(SHORT)).text
    listed = {model.name: model for model in await mortal.engine.list_models()}
    assert [name for name, model in listed.items() if model.loaded] == [mortal.llm.model]


async def test_closing_leaves_nothing_behind(tmp_path: Path) -> None:
    """When the engine is closed under a running request, the process and its files are gone."""
    async with running_engine(tmp_path / "engine") as running, closing(running.llm.stream(STORY)) as chunks:
        assert (await anext(chunks)).text
        pid = pid_of(running)
    assert start_ticks(pid) is None
    assert not (tmp_path / "engine" / PID_FILE).exists()


DAEMON = """
import sys
from pathlib import Path
import anyio
from tests.support.engine import ask, running_engine

async def main():
    async with running_engine(Path(sys.argv[1])) as running:
        await running.llm.generate(ask("Say hello.", max_tokens=1))
        print("ready", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


async def test_the_engine_dies_with_the_daemon(tmp_path: Path) -> None:
    """After SIGKILL of the daemon no engine is left running."""
    folder = tmp_path / "engine"
    daemon = subprocess.Popen([sys.executable, "-c", DAEMON, folder], stdout=subprocess.PIPE)
    try:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == b"ready\n"
        pid = int(json.loads((folder / PID_FILE).read_text())["pid"])
    finally:
        daemon.kill()
        daemon.communicate()
    await until_gone(pid)
