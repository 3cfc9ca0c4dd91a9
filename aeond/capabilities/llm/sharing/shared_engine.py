"""Shares one engine between models by turns, awake while it is needed and at rest otherwise.

A request first waits for its model's turn (`model_scheduler.py`), then for the model to be loaded, woken or started
again. The engine rests only when no request is at work, so none ever reaches a sleeping engine. It rests after a
long idle time, on request, and when other programs need the memory.
"""

import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Protocol, Self

import anyio

from aeond.capabilities.llm.adapters.requests import out_of_time
from aeond.capabilities.llm.sharing.model_scheduler import ModelScheduler
from aeond.concurrency import BackgroundTasks, Changes, closing, first_of
from aeond.domain.llm import EngineMetrics, EngineSnapshot, EngineState
from aeond.errors import LLMError, NotFoundError, OverloadedError, WrongStateError
from aeond.frozen import frozen
from aeond.ports import Clock, Engine

LOOK_SECONDS = 1.0
# A model may have to be downloaded first, which a request's deadline must not end.
START_SECONDS = 3_600.0
# Time for what works beside a turn to leave.
LEAVE_SECONDS = 5.0

logger = logging.getLogger(__name__)


class MemoryWatch(Protocol):
    """Knows when memory is wanted elsewhere."""

    def shortages(self) -> AsyncIterator[str]:
        """Says in words that memory runs short, each time it does and now and then while it stays so; begun when
        the engine has all that it wants. Ends where nothing can be known."""
        ...


@frozen
class IdlePolicy:
    """When the engine rests by itself (0: never), both counted from the last request's end.

    On a request to sleep or unload, requests at work have `patience_seconds` to end. A model that cannot be had is not
    tried again for `rest_seconds` when it is not the one that was chosen.
    """

    sleep_after_seconds: float = 900.0
    unload_after_seconds: float = 3_600.0
    patience_seconds: float = 20.0
    rest_seconds: float = 60.0


class SharedEngine(BackgroundTasks):
    """The Engine port over another one, whose default model is `default` ("" where only a server of its own
    knows it); `async with` watches over it.

    `load` chooses the model for those who name none; others have theirs by `at_work`. All changes wait for
    requests at work to end, except `unload`, whose patience ends.
    """

    def __init__(
        self,
        engine: Engine,
        default: str,
        clock: Clock,
        turns: ModelScheduler,
        manners: IdlePolicy,
        watches: Sequence[MemoryWatch] = (),
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._turns = turns
        self._manners = manners
        self._watches = tuple(watches)
        self._chosen = default
        self._resident = default
        self._coming = ""  # a chosen model that waits for its turn
        self._names: frozenset[str] = frozenset()
        self._failures: dict[str, tuple[LLMError, float]] = {}
        self._last_used = 0.0
        self._loading = anyio.CancelScope()
        self._changes = Changes()
        self.list_models = engine.list_models

    async def __aenter__(self) -> Self:
        self._last_used = self._clock.monotonic()
        await super().__aenter__()
        self._tasks.start_soon(self._turns.keep)
        self._tasks.start_soon(self._rest_when_idle)
        for watch in self._watches:
            self._tasks.start_soon(self._rest_when_short, watch)
        return self

    @property
    def chosen(self) -> str:
        """The model of those who name none."""
        return self._chosen

    def adopt(self, manners: IdlePolicy) -> None:
        """Rests by these from now on."""
        self._manners = manners
        self._changes.notify()

    # ------------------------------------------------------------------ the Engine port

    def snapshot(self) -> EngineSnapshot:
        engine = self._engine.snapshot()
        if not self._coming:
            return engine
        return replace(
            engine, state=EngineState.STARTING, model=self._coming, activity="waiting to load", progress=0.0
        )

    async def changed(self, seen: EngineSnapshot) -> EngineSnapshot:
        while (snapshot := self.snapshot()).resembles(seen):
            await first_of(self._changes.next.wait, partial(self._engine.changed, self._engine.snapshot()))
        return snapshot

    async def load(self, model: str) -> None:
        name = model or next(one.name for one in await self._engine.list_models() if one.default)
        await self._check(name)
        self._failures.pop(name, None)
        self._chosen = name
        self._begin(name)

    async def unload(self) -> None:
        """Ends requests at work after some patience; they are asked again, which starts it again."""
        self._stop_loading()
        async with self._turns.alone(self._manners.patience_seconds) as alone:
            await self._engine.unload()
            if alone:
                self._turns.end_turn()

    async def sleep(self) -> None:
        """WrongStateError (reason ENGINE_BUSY) when requests are at work for longer than patience lasts."""
        self._stop_loading()
        async with self._turns.alone(self._manners.patience_seconds) as alone:
            if not alone:
                raise WrongStateError(
                    "The engine is at work and will be for a while: try again later, or unload the model.",
                    reason="ENGINE_BUSY",
                )
            await self._engine.sleep()

    async def wake(self) -> None:
        self._begin(self._engine.snapshot().model or self._chosen)

    async def ready(self) -> None:
        async with self.at_work("", START_SECONDS):
            return

    async def metrics(self) -> EngineMetrics | None:
        """Who waits for the turn of a model waits too."""
        metrics = await self._engine.metrics()
        if metrics is None:
            return None
        return replace(metrics, waiting_requests=metrics.waiting_requests + self._turns.waiting)

    # ------------------------------------------------------------------ for the adapter

    @asynccontextmanager
    async def at_work(self, model: str, deadline_seconds: float) -> AsyncIterator[float]:
        """The engine with this model ("": the chosen one) for the block; gives what is left of the deadline.

        Waiting for a turn counts against the deadline, the start of a model does not. Raises LLMError (reason
        DEADLINE_EXCEEDED or why the model cannot be had), NotFoundError, OverloadedError.
        """
        left = deadline_seconds
        while True:
            name = model or self._chosen
            await self._check(name)
            async with AsyncExitStack() as stack:
                began = self._clock.monotonic()
                with anyio.move_on_after(left) as waiting:
                    await stack.enter_async_context(self._turns.turn(_key(name)))
                left -= self._clock.monotonic() - began
                if waiting.cancelled_caught or left <= 0:
                    raise out_of_time(deadline_seconds)
                stack.callback(self._used)
                with self._turns.interruptible() as starting:
                    await self._bring(name)
                if not starting.cancelled_caught:
                    yield left
                    return

    @contextmanager
    def beside(self, model: str) -> Iterator[bool]:
        """Works beside this model's turn without waking, loading or keeping anything; False when the model is not
        ready or the engine is needed for other work. Other work cancels the block without an exception."""
        engine = self._engine.snapshot()
        if engine.state is not EngineState.READY or engine.model != model:
            yield False
            return
        with self._turns.beside(_key(model)) as beside:
            yield beside is not None

    async def _bring(self, name: str) -> None:
        """Has the model answer; within its turn."""
        try:
            with anyio.fail_after(START_SECONDS):
                if name != self._resident:
                    await self._engine.load(name)
                    self._resident = name
                elif self._engine.snapshot().state is EngineState.ASLEEP:
                    await self._engine.wake()
                await self._engine.ready()
        except TimeoutError:
            raise out_of_time(START_SECONDS) from None
        except LLMError as error:
            if name != self._chosen:
                self._failures[name] = (error, self._clock.monotonic() + self._manners.rest_seconds)
            raise
        self._turns.serve()

    def _used(self) -> None:
        self._last_used = self._clock.monotonic()

    async def _check(self, name: str) -> None:
        """Raises NotFoundError for a model that does not exist, LLMError for one that failed recently."""
        if name not in self._names and name not in (self._chosen, self._resident):
            self._names = frozenset(model.name for model in await self._engine.list_models())
        if name not in self._names and name not in (self._chosen, self._resident):
            known = ", ".join(sorted(self._names))
            raise NotFoundError(
                f"There is no model {name!r}. There are: {known}.", reason="MODEL_NOT_FOUND", field="model"
            )
        error, until = self._failures.get(name, (None, 0.0))
        if error is not None and self._clock.monotonic() < until:
            raise LLMError(error.message, reason=error.reason)

    # ------------------------------------------------------------------ loading in the background

    def _begin(self, name: str) -> None:
        """Makes this model resident as soon as those at work have left."""
        self._used()
        self._stop_loading()
        engine = self._engine.snapshot()
        up = engine.state in (EngineState.STARTING, EngineState.READY)
        if up and name == self._resident and _key(name) == self._turns.holder:
            return
        self._coming = "" if up and name == self._resident else name
        self._changes.notify()
        self._loading = anyio.CancelScope()
        self._tasks.start_soon(self._load, name, self._loading)

    def _stop_loading(self) -> None:
        self._loading.cancel()
        self._coming = ""
        self._changes.notify()

    async def _load(self, name: str, loading: anyio.CancelScope) -> None:
        with loading:
            try:
                async with self._turns.turn(_key(name), urgent=True):
                    if self._coming:
                        await self._engine.load(name)
                        self._resident = name
            except (LLMError, OverloadedError) as error:
                logger.warning("the model %s is not loaded: %s", name, error.message)
            self._coming = ""
            self._changes.notify()

    # ------------------------------------------------------------------ resting

    async def _rest_when_idle(self) -> None:
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + LOOK_SECONDS)
            await self._look()
            await self._until_next_rest()

    async def _until_next_rest(self) -> None:
        """Returns when the engine may have been idle for long enough, when its state changes, and at once while
        there is something to wait for."""
        change, snapshot, manners = self._changes.next, self._engine.snapshot(), self._manners
        state = snapshot.state
        if state is EngineState.STARTING or (state is EngineState.DEAD and self._resident != self._chosen):
            return
        limits = {
            EngineState.READY: (manners.sleep_after_seconds, manners.unload_after_seconds),
            EngineState.ASLEEP: (manners.unload_after_seconds,),
        }.get(state, ())
        due = [self._last_used + limit for limit in limits if limit > 0]
        alarms = [partial(self._clock.sleep_until, min(due))] if due else []
        await first_of(change.wait, partial(self._engine.changed, snapshot), *alarms)

    async def _look(self) -> None:
        state, manners = self._engine.snapshot().state, self._manners
        idle = self._clock.monotonic() - self._last_used
        if not self._is_idle:
            return
        if state is EngineState.STARTING:
            self._used()  # the time counts from when it could be used
        elif state is EngineState.DEAD and self._resident != self._chosen:
            await self._rest(unloads=True, why=f"{self._resident} cannot be had")
        elif state in (EngineState.READY, EngineState.ASLEEP) and 0 < manners.unload_after_seconds <= idle:
            await self._rest(unloads=True, why="no request for a long time")
        elif state is EngineState.READY and 0 < manners.sleep_after_seconds <= idle:
            await self._rest(unloads=False, why="no request for a while")

    async def _rest_when_short(self, watch: MemoryWatch) -> None:
        """Watches while the engine is ready: what it has taken then is no news."""
        engine = self._engine.snapshot()
        while True:
            async with anyio.create_task_group() as tasks:
                if engine.state is EngineState.READY:
                    tasks.start_soon(self._yield_to, watch)
                state = engine.state
                while engine.state is state:
                    engine = await self._engine.changed(engine)
                tasks.cancel_scope.cancel()

    async def _yield_to(self, watch: MemoryWatch) -> None:
        """Gives memory back when it runs short and the engine is idle; a shortage while it works is skipped."""
        async with closing(watch.shortages()) as shortages:
            async for why in shortages:
                if self._is_idle and self._engine.snapshot().state is EngineState.READY:
                    await self._rest(unloads=False, why=why)

    @property
    def _is_idle(self) -> bool:
        return not (self._turns.at_work or self._turns.waiting or self._coming)

    async def _rest(self, *, unloads: bool, why: str) -> None:
        async with self._turns.alone(LEAVE_SECONDS) as alone:
            if not alone:
                return  # a request entered just before
            logger.info("the engine rests: %s", why, extra={"kind": "engine_rests", "why": why})
            if unloads:
                await self._engine.unload()
                self._turns.end_turn()
            else:
                await self._engine.sleep()


def _key(name: str) -> str:
    """Whose turn it is when the engine alone knows its default."""
    return name or "the default"
