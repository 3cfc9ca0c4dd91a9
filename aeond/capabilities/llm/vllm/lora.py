"""LoRA adapters over a vLLM engine: callers see each as a separate model, and it needs no engine start.

An adapter is loaded into the engine's process before the first request that names it, once for each life of the
process. A path without its files would end that process, so they are looked at first. Base and adapter never
run at the same time, for on a CPU vLLM then returns the text of one for the other: the shared engine gives each a
turn of its own.
"""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import anyio

from aeond.capabilities.llm.adapters.dialects import VllmDialect
from aeond.capabilities.llm.adapters.vllm import VllmSessions
from aeond.capabilities.llm.vllm.engine import VllmResident
from aeond.concurrency import Changes, first_of
from aeond.domain.llm import EngineSnapshot, EngineState, ModelInfo
from aeond.errors import InvalidInputError, LLMError
from aeond.frozen import frozen
from aeond.ports import Engine

CONFIG: Final = "adapter_config.json"
WEIGHTS: Final = ("adapter_model.safetensors", "adapter_model.bin")
# What vLLM lets its room for adapters be.
RANKS: Final = (8, 16, 32, 64, 128, 256, 320, 512)


@frozen
class LoraAdapter:
    """A folder with an adapter of the model `base`, in the form that peft writes."""

    name: str
    base: str
    path: Path

    @property
    def is_here(self) -> bool:
        return (self.path / CONFIG).is_file() and any((self.path / name).is_file() for name in WEIGHTS)

    def rank(self) -> int:
        """Raises LLMError (reason ADAPTER_UNUSABLE) when its files are not there or cannot be read."""
        if not self.is_here:
            raise self._unusable(f"there is no {CONFIG} with weights beside it")
        try:
            rank = json.loads((self.path / CONFIG).read_text(encoding="utf-8"))["r"]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise self._unusable(f"{CONFIG} cannot be read: {error!r}") from error
        if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= RANKS[-1]:
            raise self._unusable(f"its rank is {rank!r}, not 1 to {RANKS[-1]}")
        return rank

    def _unusable(self, why: str) -> LLMError:
        return LLMError(
            f"The adapter {self.name} in {self.path} cannot be used: {why}.", reason="ADAPTER_UNUSABLE"
        )


def room_for(adapters: Iterable[LoraAdapter]) -> int:
    """The rank to set room aside for, one that vLLM knows; 16 where none of the adapters can be read."""
    largest = max((adapter.rank() for adapter in adapters if adapter.is_here), default=16)
    return next(rank for rank in RANKS if rank >= max(largest, 16))


class SessionEngine(Engine, VllmSessions, Protocol):
    """An Engine that gives sessions."""


class AdaptedEngine:
    """The Engine port, and the sessions, of an engine with adapters.

    InvalidInputError (reason CONFIG_INVALID) when two models share a name.
    """

    def __init__(self, engine: SessionEngine, adapters: Sequence[LoraAdapter]) -> None:
        self._engine = engine
        self._adapters = {adapter.name: adapter for adapter in adapters}
        if len(self._adapters) < len(adapters):
            raise InvalidInputError(
                "Two adapters in model.adapters share a name.",
                reason="CONFIG_INVALID",
                field="model.adapters",
            )
        self._active: LoraAdapter | None = None
        self._activating = anyio.Lock()
        self._life: VllmResident | None = None
        self._loaded: set[str] = set()  # into that life
        self._changes = Changes()
        self.measurements = engine.measurements
        self.mark_dead, self.metrics = engine.mark_dead, engine.metrics
        self.unload, self.sleep, self.wake = engine.unload, engine.sleep, engine.wake

    @property
    def model(self) -> str:
        return self._engine.model if self._active is None else self._active.name

    @property
    def context_length(self) -> int:
        return self._engine.context_length

    @property
    def tool_calls(self) -> bool:
        return self._engine.tool_calls

    @asynccontextmanager
    async def session(self) -> AsyncIterator[VllmResident]:
        async with self._engine.session() as resident:
            await self._activate(resident)
            yield resident

    async def _activate(self, resident: VllmResident) -> None:
        """Has this life of the process know the adapter, and its requests name it."""
        async with self._activating:
            if resident is not self._life:
                self._life, self._loaded = resident, set()
            active = self._active
            if active is not None and active.name not in self._loaded:
                active.rank()
                body = {"lora_name": active.name, "lora_path": str(active.path)}
                await resident.client.act("/v1/load_lora_adapter", body)
                self._loaded.add(active.name)
            resident.dialect = VllmDialect(self.model, schemas=True)

    # ------------------------------------------------------------------ the Engine port

    def snapshot(self) -> EngineSnapshot:
        engine = self._engine.snapshot()
        if self._active is None or engine.model != self._active.base:
            return engine
        return replace(engine, model=self._active.name)

    async def changed(self, seen: EngineSnapshot) -> EngineSnapshot:
        while (snapshot := self.snapshot()).resembles(seen):
            await first_of(self._changes.next.wait, partial(self._engine.changed, self._engine.snapshot()))
        return snapshot

    async def ready(self) -> None:
        async with self.session():
            return

    async def load(self, model: str) -> None:
        """Also LLMError (reason ADAPTER_UNUSABLE) for an adapter whose files are not there."""
        adapter = self._adapters.get(model)
        if adapter is None:
            await self._engine.load(model)
        else:
            adapter.rank()
            await self._engine.load(adapter.base)
        self._active = adapter
        self._changes.notify()

    async def list_models(self) -> Sequence[ModelInfo]:
        engine = self.snapshot()
        models = [
            replace(model, loaded=model.loaded and model.name == engine.model)
            for model in await self._engine.list_models()
        ]
        bases = {model.name: model for model in models}
        for adapter in self._adapters.values():
            base = bases.get(adapter.base)
            models.append(
                ModelInfo(
                    name=adapter.name,
                    description=f"Your own LoRA adapter of {adapter.base}",
                    context_length=base.context_length if base else 0,
                    present=adapter.is_here and base is not None,
                    loaded=engine.state is EngineState.READY and engine.model == adapter.name,
                    base_model=adapter.base,
                )
            )
        return models
