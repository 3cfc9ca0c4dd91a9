"""A real vLLM with a real small model, for tests that need an engine and not a good answer.

It is installed in a separate environment by `make engine-setup`. Starting it takes half a minute, so
`vllm_engine` starts once per test session; killed processes are restarted by the engine.
"""

import contextlib
import json
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.adapters.vllm import VllmAdapter
from aeond.capabilities.llm.engine.process import PID_FILE
from aeond.capabilities.llm.models.catalogue import BUILT_IN, SMOLLM2_135M, Catalogue
from aeond.capabilities.llm.models.store import ModelStore
from aeond.capabilities.llm.vllm.engine import VllmEngine, VllmSettings
from aeond.capabilities.llm.vllm.models import ConvertedModels
from aeond.daemon.clocks import SystemClock
from aeond.daemon.config.paths import nvidia_driver
from tests.support.engine import CONTEXT_LENGTH, MODELS, ask
from tests.support.repository import ROOT

ENVIRONMENT = ROOT / ".venv-engine"
PYTHON = ENVIRONMENT / "bin" / "python"
CACHE = MODELS.parent / "engine"
# With it a model that was trained for neither can be made to call tools.
TEMPLATE = ROOT / "tests" / "support" / "tool_template.jinja"
# Found with two cores that others use too.
START_SECONDS = 900.0


@dataclass(frozen=True)
class VllmProcesses:
    """The processes of one engine, from the pid file in its folder."""

    guard: psutil.Process
    server: psutil.Process
    cores: tuple[psutil.Process, ...]

    @property
    def all(self) -> tuple[psutil.Process, ...]:
        return (self.guard, self.server, *self.cores)

    def are_gone(self) -> bool:
        """Whether none of them runs any more."""
        return not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in self.all)


def processes_in(folder: Path) -> VllmProcesses:
    """Those of the engine that is ready there."""
    guard = psutil.Process(int(json.loads((folder / PID_FILE).read_text())["pid"]))
    (server,) = (child for child in guard.children() if "vllm/launcher.py" in " ".join(child.cmdline()))
    cores = [child for child in server.children(recursive=True) if "VLLM::" in " ".join(child.cmdline())]
    assert cores
    return VllmProcesses(guard, server, tuple(cores))


def shared_memory() -> set[str]:
    """The names of all shared memory of this machine."""
    return {path.name for path in Path("/dev/shm").iterdir()}


def needs_vllm() -> None:
    """Skips the test where vLLM is not installed."""
    if not PYTHON.exists():
        pytest.skip(f"there is no vLLM in {ENVIRONMENT.name}: make engine-setup")


def needs_gpu() -> None:
    """Skips the test where there is no GPU, or no vLLM for it."""
    if not nvidia_driver():
        pytest.skip("there is no NVIDIA driver: run it where there is a GPU")
    needs_vllm()


@dataclass(frozen=True)
class RealVllm:
    """An engine with its adapter; `folder` holds its socket and pid file."""

    llm: VllmAdapter
    engine: VllmEngine
    folder: Path

    async def metrics(self) -> dict[str, float]:
        """The engine's own numbers, such as `vllm:num_requests_running`, summed over their labels."""
        async with self.engine.session() as resident:
            text = (await resident.client.get("/metrics")).decode()
        found: dict[str, float] = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                name = name.partition("{")[0]
                found[name] = found.get(name, 0.0) + float(value)
        return found

    async def is_idle(self) -> bool:
        """Whether it has no running and no waiting requests."""
        now = await self.metrics()
        return now["vllm:num_requests_running"] + now["vllm:num_requests_waiting"] == 0


@contextlib.asynccontextmanager
async def running_vllm(folder: Path, **options: Any) -> AsyncIterator[RealVllm]:
    """An engine of one's own; `options` are those of VllmSettings, and of the models `tool_parser` and
    `chat_template`."""
    needs_vllm()
    clock = SystemClock()
    changed = {name: options.pop(name) for name in ("tool_parser", "chat_template") if name in options}
    catalogue = Catalogue([replace(entry, **changed) for entry in BUILT_IN], SMOLLM2_135M.name)
    settings = VllmSettings(
        **{
            "context_length": CONTEXT_LENGTH,
            "dtype": "float32",  # greedy answers are the same however requests are batched
            "enforce_eager": True,
            "load_seconds": START_SECONDS,
            "stall_seconds": 120.0,
            **options,
        }
    )
    store = ConvertedModels(ModelStore(MODELS), CACHE / "models", PYTHON)
    async with VllmEngine(catalogue, store, folder, clock, settings, python=PYTHON, cache=CACHE) as engine:
        yield RealVllm(VllmAdapter(engine, Retries(clock, random.random)), engine, folder)


@pytest.fixture(scope="session")
async def vllm_engine(
    anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RealVllm]:
    """The session's engine, ready to answer, and quick to come back when it is killed. It has a parser for tool calls and a
    chat template with tools, which renders requests without tools as the model's own does."""
    folder = tmp_path_factory.mktemp("vllm")
    tools = {"tool_parser": "hermes", "chat_template": TEMPLATE}
    async with running_vllm(folder, max_deaths=100, first_backoff_seconds=0.05, **tools) as running:
        await running.llm.generate(ask("Hello.", max_tokens=1))
        yield running


@pytest.fixture(scope="session")
async def vllm_on_gpu(
    anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RealVllm]:
    """The session's engine on a GPU."""
    needs_gpu()
    folder = tmp_path_factory.mktemp("gpu")
    async with running_vllm(folder, gpu=True, gpu_memory_utilization=0.3, max_deaths=100) as running:
        await running.llm.generate(ask("Hello.", max_tokens=1))
        yield running
