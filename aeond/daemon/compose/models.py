"""Composes the sharing of the engine: scheduling of models, and idle policy."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aeond.capabilities.llm.sharing.gpu_memory import GpuMemory
from aeond.capabilities.llm.sharing.memory_pressure import MemoryPressure, source_from_environment
from aeond.capabilities.llm.sharing.model_scheduler import ModelScheduler, SchedulerRules
from aeond.capabilities.llm.sharing.shared_engine import IdlePolicy, MemoryWatch, SharedEngine
from aeond.capabilities.llm.sharing.shared_llm import SharedLLM
from aeond.daemon.compose.engine import OPENED
from aeond.daemon.config.model_sections import EngineKind, ModelSection
from aeond.daemon.config.paths import Paths
from aeond.daemon.config.schema import Config
from aeond.frozen import frozen
from aeond.ports import Clock, LLMAdapter

# Engines with a process whose memory can be freed.
PROCESSES = frozenset({EngineKind.LLAMA_CPP, EngineKind.VLLM})


@frozen
class OpenModels:
    """The engine, and an adapter for each of its models."""

    engine: SharedEngine
    adapter: LLMAdapter

    def llm_of(self, model: str) -> LLMAdapter:
        """An adapter for this model, "" for the model chosen at the time of each request."""
        return SharedLLM(self.adapter, self.engine, model)

    def adopt(self, model: ModelSection) -> None:
        """Applies the idle policy of this configuration from now on."""
        self.engine.adopt(_manners(model))


@asynccontextmanager
async def opened_models(config: Config, paths: Paths, clock: Clock) -> AsyncIterator[OpenModels]:
    """The configured engine with its sharing, while the context is open."""
    model = config.model
    async with OPENED[model.engine](config, paths, clock) as (adapter, inner):
        turns = ModelScheduler(clock, SchedulerRules(turn_seconds=model.turn_seconds))
        watches = _watches(model, clock) if model.engine in PROCESSES else ()
        async with SharedEngine(inner, adapter.model, clock, turns, _manners(model), watches) as engine:
            if model.load_at_start:
                await engine.wake()
            yield OpenModels(engine, adapter)


def _manners(model: ModelSection) -> IdlePolicy:
    return IdlePolicy(
        sleep_after_seconds=model.sleep_after_seconds, unload_after_seconds=model.unload_after_seconds
    )


def _watches(model: ModelSection, clock: Clock) -> tuple[MemoryWatch, ...]:
    pressure = (MemoryPressure(source_from_environment()),) if model.yields_memory else ()
    gpu = (GpuMemory(clock, model.gpu_free_mib),) if model.gpu_free_mib else ()
    return (*pressure, *gpu)
