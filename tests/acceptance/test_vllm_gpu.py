"""vLLM on a GPU: start, sleep, want of memory and death. The contract suite has its own subject for it."""

import os
import signal
import subprocess
from pathlib import Path

import anyio
import pytest

from aeond.domain.llm import EngineState
from aeond.errors import LLMError
from tests.support.engine import ask
from tests.support.vllm import RealVllm, needs_gpu, processes_in, running_vllm

pytestmark = pytest.mark.gpu

SHORT = ask("Say hello.", max_tokens=8)


def used_mib() -> int:
    """How much of all GPUs' memory is used, in MiB."""
    asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return sum(map(int, subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()))


async def test_it_starts_and_answers(vllm_on_gpu: RealVllm) -> None:
    """With a GPU the engine comes up and answers."""
    assert (await vllm_on_gpu.llm.generate(SHORT)).text
    assert vllm_on_gpu.engine.snapshot().state is EngineState.READY


async def test_sleep_gives_memory_back_and_a_request_wakes_it(vllm_on_gpu: RealVllm) -> None:
    """A sleeping engine leaves most of its GPU memory to others, and the next request is answered."""
    before = (await vllm_on_gpu.llm.generate(SHORT)).text
    awake = used_mib()
    await vllm_on_gpu.engine.sleep()
    assert vllm_on_gpu.engine.snapshot().state is EngineState.ASLEEP
    assert used_mib() < awake / 2
    assert (await vllm_on_gpu.llm.generate(SHORT)).text == before


async def test_a_killed_core_is_replaced(vllm_on_gpu: RealVllm) -> None:
    """After SIGKILL of the core nothing of it keeps GPU memory, and the next request is answered."""
    await vllm_on_gpu.llm.generate(SHORT)
    processes = processes_in(vllm_on_gpu.folder)
    for core in processes.cores:
        os.kill(core.pid, signal.SIGKILL)
    with anyio.fail_after(60):
        while not processes.are_gone():
            await anyio.lowlevel.checkpoint()
    assert (await vllm_on_gpu.llm.generate(SHORT)).text


async def test_want_of_gpu_memory_says_what_to_change(tmp_path: Path) -> None:
    """An engine that asks for more than the GPU has fails at its start with the settings that make it smaller."""
    needs_gpu()
    # Its share is free beside the session's engine, which would be the reason else.
    async with running_vllm(
        tmp_path, gpu=True, gpu_memory_utilization=0.3, kv_cache_gib=100_000.0
    ) as running:
        with pytest.raises(LLMError, match=r"vllm\.kv_cache_gib") as failed:
            await running.llm.generate(SHORT)
    assert failed.value.reason == "ENGINE_OUT_OF_MEMORY"
