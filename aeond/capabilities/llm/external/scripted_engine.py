"""The engine of a scripted model: the life of an engine without a process, by whatever clock it is given."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from anyio.lowlevel import checkpoint

from aeond.capabilities.llm.adapters.scripted import ScriptedLLM
from aeond.concurrency import Changes, first_of
from aeond.domain.llm import EngineMetrics, EngineSnapshot, EngineState, ModelInfo
from aeond.errors import NotFoundError
from aeond.ports import Clock


class ScriptedEngine:
    """The Engine port over a scripted model, which has one of the script's models resident or none.

    It begins READY. `life` tells which models were loaded, and when it was put to sleep ("sleep") or unloaded
    ("unload"), in order.
    """

    def __init__(self, adapter: ScriptedLLM, clock: Clock) -> None:
        self._adapter = adapter
        self._clock = clock
        self._model = adapter.script.model
        self._up_time: float | None = 0.0  # when it is ready, or was; None: it is not to be
        self._asleep = False
        self._changes = Changes()
        self.life: list[str] = []

    def snapshot(self) -> EngineSnapshot:
        if self._up_time is None:
            state = EngineState.ASLEEP if self._asleep else EngineState.COLD
            return EngineSnapshot(state, self._model if self._asleep else "")
        left, whole = self._up_time - self._clock.monotonic(), self._adapter.script.load_seconds
        if left > 0:
            return EngineSnapshot(EngineState.STARTING, self._model, "loading", 1 - left / whole)
        self._adapter.resident = self._model
        return EngineSnapshot(EngineState.READY, self._model, progress=1.0)

    async def changed(self, seen: EngineSnapshot) -> EngineSnapshot:
        while (snapshot := self.snapshot()).resembles(seen):
            waits: list[Callable[[], Awaitable[object]]] = [self._changes.next.wait]
            if self._up_time is not None and snapshot.state is EngineState.STARTING:
                waits.append(partial(self._clock.sleep_until, self._up_time))
            await first_of(*waits)
        return snapshot

    async def ready(self) -> None:
        while self.snapshot().state is not EngineState.READY:
            if self._up_time is None:
                self._start(self._model)
            assert self._up_time is not None
            await self._clock.sleep_until(self._up_time)

    async def load(self, model: str) -> None:
        await checkpoint()
        name = model or self._adapter.script.model
        if name not in self._names:
            raise NotFoundError(
                f"There is no model {name!r}. There are: {', '.join(self._names)}.",
                reason="MODEL_NOT_FOUND",
                field="model",
            )
        if name != self._model or self._up_time is None:
            self._start(name)

    async def unload(self) -> None:
        await checkpoint()
        self._stop("unload", asleep=False)

    async def sleep(self) -> None:
        await checkpoint()
        ready = self.snapshot().state is EngineState.READY
        if self._adapter.script.sleeps and ready:
            self._stop("sleep", asleep=True)
        elif not self._asleep:
            self._stop("unload", asleep=False)

    async def wake(self) -> None:
        await checkpoint()
        if self._up_time is None:
            self._start(self._model)

    async def list_models(self) -> Sequence[ModelInfo]:
        await checkpoint()
        engine = self.snapshot()
        return tuple(
            ModelInfo(
                name=name,
                description="Answers from a script",
                context_length=self._adapter.capabilities.context_length,
                present=True,
                loaded=engine.state is EngineState.READY and name == engine.model,
                default=name == self._adapter.script.model,
            )
            for name in self._names
        )

    @property
    def _names(self) -> tuple[str, ...]:
        return (self._adapter.script.model, *self._adapter.script.models)

    def _start(self, model: str) -> None:
        self.life.append(model)
        self._model, self._asleep = model, False
        self._adapter.resident = ""
        self._up_time = self._clock.monotonic() + self._adapter.script.load_seconds
        self._changes.notify()

    def _stop(self, how: str, *, asleep: bool) -> None:
        if self._up_time is not None or self._asleep:
            self.life.append(how)
        self._up_time, self._asleep = None, asleep
        self._adapter.resident = ""
        self._changes.notify()

    async def metrics(self) -> EngineMetrics | None:
        """Nothing is measured: answers come without waiting."""
        await checkpoint()
        return None
