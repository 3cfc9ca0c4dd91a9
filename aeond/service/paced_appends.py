"""The journal as a run uses it: the appends of a user with many runs are paced while other users are active."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import anyio

from aeond.domain.runs.events import Event, RunEnded
from aeond.frozen import frozen
from aeond.ports import Appends
from aeond.service.user_turns import ActiveUsers

UNPACED_RUNS = 2  # of one user that work at about the same time
WORKING_SECONDS = 1.0  # after its last append a run no longer counts as working


class RunTurns:
    """Lets the runs of a user who has more than two append one after the other, with a pause after each append.

    Runs count, child runs among them, that append now or wait to, and those that have appended within the last second and
    not ended: whether two appends of one user meet is chance, because each takes a millisecond. Those that wait for a slot of
    the same user's other runs, which `waiting` gives for a uid, count too: they take the places of those that end.
    """

    def __init__(
        self, active: ActiveUsers, waiting: Callable[[int], Iterable[str]], *, pause_seconds: float = 0.1
    ) -> None:
        self._active = active
        self._waiting = waiting
        self._pause_seconds = pause_seconds
        self._appending: dict[tuple[int, str], float] = {}  # by uid and run: when the last append ended
        self._places: WeakValueDictionary[int, anyio.Semaphore] = WeakValueDictionary()

    def needed(self, uid: int) -> bool:
        """Whether another user is active; if not, nothing is paced."""
        return self._active.has_others(uid)

    @asynccontextmanager
    async def taking(self, uid: int, run_id: str, *, is_last: bool = False) -> AsyncIterator[None]:
        """Waits until this run may append, and counts it as appending while the context is open; after its last append
        no longer.
        """
        clock = self._active.clock
        since = clock.monotonic() - WORKING_SECONDS
        self._appending = {run: ended for run, ended in self._appending.items() if ended > since}
        self._appending[uid, run_id] = math.inf
        runs = {run for owner, run in self._appending if owner == uid}
        paced = len(runs.union(self._waiting(uid))) > UNPACED_RUNS
        try:
            if paced:
                async with self._place(uid):
                    yield
            else:
                yield
        finally:
            self._appending[uid, run_id] = -math.inf if is_last else clock.monotonic()

    @asynccontextmanager
    async def _place(self, uid: int) -> AsyncIterator[None]:
        """The user's only place, which stays empty for a pause afterwards if another user is still active."""
        place = self._places.get(uid)
        if place is None:
            place = self._places[uid] = anyio.Semaphore(1, fast_acquire=True)
        await place.acquire()
        try:
            yield
        finally:
            if self._active.has_others(uid):
                asyncio.get_running_loop().call_later(self._pause_seconds, place.release)
            else:
                place.release()


@frozen
class PacedAppends:
    """Appends the events of a run of the user `uid`.

    A run waits for its events to be durable before it goes on, so that this paces all of its work.
    """

    journal: Appends
    turns: RunTurns
    uid: int

    async def append(self, events: Sequence[Event]) -> None:
        """See ports.Journal."""
        if not events or not self.turns.needed(self.uid):  # ten times faster
            await self.journal.append(events)
            return
        is_last = isinstance(events[-1].kind, RunEnded)
        async with self.turns.taking(self.uid, events[-1].run_id, is_last=is_last):
            await self.journal.append(events)
