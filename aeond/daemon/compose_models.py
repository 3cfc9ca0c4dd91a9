"""The composition of what shares the engine out: turns for models, and rest."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aeond.capabilities.llm.gpu_memory import GpuMemory
from aeond.capabilities.llm.memory_pressure import MemoryPressure, told_by_environment
from aeond.capabilities.llm.polite_engine import Manners, MemoryWatch, PoliteEngine
from aeond.capabilities.llm.polite_llm import PoliteLLM
from aeond.capabilities.llm.turns import TurnRules, Turns
from aeond.daemon.compose_engine import OPENED
from aeond.daemon.config import Config
from aeond.daemon.config_models import EngineKind, ModelSection
from aeond.daemon.paths import Paths
from aeond.frozen import frozen
from aeond.ports import Clock, LLMAdapter

# Engines that have a process whose memory can be given back.
PROCESSES = frozenset({EngineKind.LLAMA_CPP, EngineKind.VLLM})


@frozen
class OpenModels:
    """The engine, and an adapter for each of its models."""

    engine: PoliteEngine
    adapter: LLMAdapter

    def llm_of(self, model: str) -> LLMAdapter:
        """Asks this model, "" for the one that is chosen when it is asked."""
        return PoliteLLM(self.adapter, self.engine, model)

    def adopt(self, model: ModelSection) -> None:
        """Rests by this configuration from now on."""
        self.engine.adopt(_manners(model))


@asynccontextmanager
async def opened_models(config: Config, paths: Paths, clock: Clock) -> AsyncIterator[OpenModels]:
    """The configured engine, shared out, for as long as the block lasts."""
    model = config.model
    async with OPENED[model.engine](config, paths, clock) as (adapter, inner):
        turns = Turns(clock, TurnRules(turn_seconds=model.turn_seconds))
        watches = _watches(model, clock) if model.engine in PROCESSES else ()
        async with PoliteEngine(inner, adapter.model, clock, turns, _manners(model), watches) as engine:
            if model.load_at_start:
                await engine.wake()
            yield OpenModels(engine, adapter)


def _manners(model: ModelSection) -> Manners:
    return Manners(
        sleep_after_seconds=model.sleep_after_seconds, unload_after_seconds=model.unload_after_seconds
    )


def _watches(model: ModelSection, clock: Clock) -> tuple[MemoryWatch, ...]:
    pressure = (MemoryPressure(told_by_environment()),) if model.yields_memory else ()
    gpu = (GpuMemory(clock, model.gpu_free_mib),) if model.gpu_free_mib else ()
    return (*pressure, *gpu)
