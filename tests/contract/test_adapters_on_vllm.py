"""LoRA adapters and rest on a real vLLM, shared out as the daemon does it."""

import random
import tempfile
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.adapters.vllm import VllmAdapter
from aeond.capabilities.llm.models.catalogue import SMOLLM2_135M
from aeond.capabilities.llm.sharing.model_scheduler import ModelScheduler, SchedulerRules
from aeond.capabilities.llm.sharing.shared_engine import IdlePolicy, SharedEngine
from aeond.capabilities.llm.sharing.shared_llm import SharedLLM
from aeond.capabilities.llm.vllm.lora import AdaptedEngine, LoraAdapter
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import EngineState
from aeond.errors import LLMError
from tests.support.engine import ask
from tests.support.lora import noise
from tests.support.surfaces import wait_until
from tests.support.vllm import RealVllm, processes_in, running_vllm

pytestmark = pytest.mark.vllm

BASE = SMOLLM2_135M.name
HELLO = ask("Say hello.", max_tokens=12, deadline_seconds=600)


async def said(llm: SharedLLM) -> str:
    response = await llm.generate(HELLO)
    assert response.model == llm.model
    return response.text


async def tell_all(running: RealVllm, folder: Path) -> None:
    clock = SystemClock()
    adapters = [
        LoraAdapter("noise", BASE, noise(folder / "noise")),
        LoraAdapter("gone", BASE, folder / "gone"),
    ]
    engine = AdaptedEngine(running.engine, adapters)
    adapter = VllmAdapter(engine, Retries(clock, random.random))
    turns = ModelScheduler(clock, SchedulerRules(turn_seconds=2.0, linger_seconds=0.2))
    async with SharedEngine(engine, engine.model, clock, turns, IdlePolicy()) as polite:
        base, noisy = SharedLLM(adapter, polite), SharedLLM(adapter, polite, "noise")
        plain, other = await said(base), await said(noisy)
        assert plain != other

        texts: list[tuple[str, str]] = []

        async def one(llm: SharedLLM) -> None:
            texts.append((llm.model, await said(llm)))

        async with anyio.create_task_group() as tasks:
            for llm in (noisy, base, noisy, base, noisy, base):
                tasks.start_soon(one, llm)
        assert sorted(texts) == sorted([(BASE, plain), ("noise", other)] * 3)

        with pytest.raises(LLMError) as refused:
            await said(SharedLLM(adapter, polite, "gone"))
        assert refused.value.reason == "ADAPTER_UNUSABLE"

        await said(noisy)
        restarts = polite.snapshot().restarts
        processes = processes_in(running.folder)
        processes.server.terminate()
        await wait_until(lambda: polite.snapshot().restarts > restarts)
        assert processes.are_gone()
        assert await said(noisy) == other
        assert polite.snapshot().restarts == restarts + 1

        await polite.sleep()
        assert polite.snapshot().state is EngineState.COLD  # on a CPU sleeping would free nothing


async def test_adapters_are_models_that_never_mix(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Base and adapter called concurrently each give their own answer; a missing adapter affects no other; a server that exits
    with status 0 without a request is a dead engine: nothing of it remains, and in its replacement the adapter answers, not its
    base; and put to sleep on a CPU the engine is COLD.
    """
    with tempfile.TemporaryDirectory() as folder:
        async with running_vllm(
            Path(folder), lora_rank=16, max_deaths=100, first_backoff_seconds=0.05
        ) as running:
            await tell_all(running, tmp_path)
    assert "The engine died (exit code 0)" in caplog.text


async def test_who_comes_while_a_long_prompt_is_read_is_answered_before(vllm_engine: RealVllm) -> None:
    """A request, and a health check in particular, is answered while long prompts are still being read."""
    ended: list[str] = []

    async def one(name: str, text: str) -> None:
        await vllm_engine.llm.generate(ask(text, max_tokens=1, deadline_seconds=600))
        ended.append(name)

    with anyio.fail_after(600):
        async with anyio.create_task_group() as tasks:
            for place in ("room", "hall"):
                tasks.start_soon(one, place, " ".join(f"{place} {number}," for number in range(350)))
            while await vllm_engine.is_idle():
                await anyio.lowlevel.checkpoint()
            await one("short", "Hello.")
    assert (ended[0], set(ended)) == ("short", {"short", "room", "hall"})
