"""Schedules turns of models: one model is resident, and requests for many share its engine.

The rule. A turn belongs to one model, and all requests for it enter as they arrive. Once a request for another
model waits, the turn goes on until it has served for `turn_seconds`, so that a change of models, which costs
seconds, pays for itself; after that no request enters. The turn passes when the requests at work have left: at
once if its time is over, else when none has arrived for `linger_seconds`, because a run sends its next request as
soon as it has read an answer. It passes to the model of the oldest waiting request, and all requests for that
model enter.

So of the other models each has at most one turn before a request's own, and requests of one model enter in the
order in which they came. A turn is never shorter than its requests want it to be, up to `turn_seconds`: as long as
work for all models goes on, models change no oftener than that.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import anyio

from aeond.concurrency import Changes
from aeond.errors import OverloadedError
from aeond.frozen import frozen
from aeond.ports import Clock


@frozen
class SchedulerRules:
    """How long a turn serves while others wait, how long it lingers without requests, and how many may wait."""

    turn_seconds: float = 60.0
    linger_seconds: float = 1.0
    max_waiting: int = 256


@dataclass(eq=False, slots=True)
class Waiter:
    """A request that has not entered; an urgent one ends the turn of another model at once."""

    model: str
    urgent: bool
    entered: anyio.Event = field(default_factory=anyio.Event)


class ModelScheduler:
    """Lets requests in by the rule above; `keep` is to run all the while.

    Two kinds of block may be cancelled: the wait for a model that starts (`interruptible`), by an urgent request
    for another model, and work beside a turn (`beside`), by a change of models. `alone` cancels both.
    """

    def __init__(self, clock: Clock, rules: SchedulerRules) -> None:
        self._clock = clock
        self._rules = rules
        self._holder = ""
        self._served_since: float | None = None
        self._idle_since = 0.0
        self._at_work = 0
        self._waiting: list[Waiter] = []
        self._startings: set[anyio.CancelScope] = set()
        self._asides: set[anyio.CancelScope] = set()
        self._closed = False
        self._alone = anyio.Lock()
        self._changes = Changes()

    @property
    def holder(self) -> str:
        """The model that has the turn, "" when none has."""
        return self._holder

    @property
    def at_work(self) -> int:
        """How many have entered and not left; those beside do not count."""
        return self._at_work

    @property
    def waiting(self) -> int:
        """How many have not entered."""
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, model: str, *, urgent: bool = False) -> AsyncIterator[None]:
        """Waits for the model's turn and is at work during the block. OverloadedError (reason
        MODEL_QUEUE_FULL) when too many wait already."""
        if len(self._waiting) >= self._rules.max_waiting:
            raise OverloadedError(
                f"{len(self._waiting)} requests wait for their model's turn already: try again later.",
                reason="MODEL_QUEUE_FULL",
            )
        waiter = Waiter(model, urgent)
        self._waiting.append(waiter)
        try:
            self._admit()
            await waiter.entered.wait()
            yield
        finally:
            if waiter.entered.is_set():
                self._at_work -= 1
                self._idle_since = self._clock.monotonic()
            else:
                self._waiting.remove(waiter)
            self._admit()

    def serve(self) -> None:
        """The model of this turn answers from now on: what it took to start is not counted against it."""
        if self._served_since is None:
            self._served_since = self._clock.monotonic()

    @contextmanager
    def interruptible(self) -> Iterator[anyio.CancelScope]:
        """Within a turn, around the wait for its model: something urgent cancels the block."""
        with anyio.CancelScope() as scope:
            self._startings.add(scope)
            if self._closed or any(waiter.urgent for waiter in self._others()):
                scope.cancel()
            try:
                yield scope
            finally:
                self._startings.discard(scope)

    @contextmanager
    def beside(self, model: str) -> Iterator[anyio.CancelScope | None]:
        """Works beside this model's turn, and is cancelled when the turn passes or `alone` begins. None when it
        is not that model's turn, or the engine is already needed."""
        if self._closed or model != self._holder or self._others():
            yield None
            return
        with anyio.CancelScope() as scope:
            self._asides.add(scope)
            try:
                yield scope
            finally:
                self._asides.discard(scope)
                self._admit()

    @asynccontextmanager
    async def alone(self, patience_seconds: float) -> AsyncIterator[bool]:
        """Admits no request. The block begins when all work has left or patience ends; False if requests remain."""
        async with self._alone:
            self._closed = True
            for scope in (*self._startings, *self._asides):
                scope.cancel()
            try:
                with anyio.move_on_after(patience_seconds):
                    while self._at_work or self._asides:
                        await self._changes.next.wait()
                yield not self._at_work
            finally:
                self._closed = False
                self._admit()

    def end_turn(self) -> None:
        """No model is resident any more: the next request gets the turn."""
        self._holder = ""
        self._served_since = None

    async def keep(self) -> None:
        """Passes turns on when their time has come."""
        while True:
            changed = self._changes.next
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._admit_later)
                await changed.wait()
                tasks.cancel_scope.cancel()

    async def _admit_later(self) -> None:
        moment = self._end_of_turn()
        if moment is not None and self._others() and not self._at_work and not self._closed:
            await self._clock.sleep_until(moment)
            self._admit()

    def _others(self) -> list[Waiter]:
        return [waiter for waiter in self._waiting if waiter.model != self._holder]

    def _end_of_turn(self) -> float | None:
        """When the turn passes if no request enters and none is at work; None while its model starts for
        requests at work."""
        lingering = self._idle_since + self._rules.linger_seconds
        if not self._holder or any(waiter.urgent for waiter in self._others()):
            return 0.0
        if self._served_since is None:
            return None if self._at_work else lingering
        return min(self._served_since + self._rules.turn_seconds, lingering)

    def _is_over(self) -> bool:
        """Whether those who wait for other models have waited long enough for this turn."""
        others = self._others()
        if not others:
            return False
        if any(waiter.urgent for waiter in others):
            return True
        served = self._served_since
        return served is not None and self._clock.monotonic() >= served + self._rules.turn_seconds

    def _admit(self) -> None:
        """Lets in everybody who may enter now."""
        others = self._others()
        if not self._closed and others and not self._at_work:
            moment = self._end_of_turn()
            if moment is not None and self._clock.monotonic() >= moment:
                self._pass_to(next((waiter for waiter in others if waiter.urgent), others[0]).model)
        elif not self._closed and any(waiter.urgent for waiter in others):
            for scope in self._startings:
                scope.cancel()
        if not self._closed and not self._is_over():
            for waiter in [waiter for waiter in self._waiting if waiter.model == self._holder]:
                self._waiting.remove(waiter)
                self._at_work += 1
                waiter.entered.set()
        self._changes.notify()

    def _pass_to(self, model: str) -> None:
        if self._asides:
            for scope in self._asides:  # the turn passes when they have left
                scope.cancel()
            return
        self._holder = model
        self._served_since = None
