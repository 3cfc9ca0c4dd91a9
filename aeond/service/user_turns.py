"""Lets the work of each user take turns, so that a flood of one user's calls and runs delays only that user."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import anyio

from aeond.ports import Clock

SHARED_SECONDS = 1.0  # after its last call a user no longer counts as active


class ActiveUsers:
    """The users who have made a call within the last second."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._calls: dict[int, float] = {}  # the time of each user's last call, the latest last

    def note(self, uid: int) -> None:
        """Counts this user as active from now on."""
        self._calls.pop(uid, None)
        self._calls[uid] = self.clock.monotonic()

    def has_others(self, uid: int) -> bool:
        """Whether a user other than this one is active."""
        ended = self.clock.monotonic() - SHARED_SECONDS
        while self._calls and next(iter(self._calls.values())) < ended:
            del self._calls[next(iter(self._calls))]
        return len(self._calls) > (uid in self._calls)


@dataclass(eq=False, slots=True)
class UserTurns:
    """Admits a few pieces of work of each user at a time; further ones wait in the order of arrival.

    Work keeps its place for `slice_seconds` at most: if it takes longer, it waits for something else than the daemon's own
    work, such as a tool or a model, and does not delay the user's other work.

    While other users are active, a place stays empty for a pause if more work of its user waits: otherwise it would
    occupy the event loop without interruption, and every step of another user's call would wait for it. Turns
    that are `only_shared` are not taken at all while no other user is active.
    """

    active: ActiveUsers
    places: int
    slice_seconds: float = 0.05
    pause_seconds: float = 0.1
    only_shared: bool = False
    _by_user: WeakValueDictionary[int, anyio.Semaphore] = field(
        init=False, default_factory=WeakValueDictionary
    )

    def needed(self, uid: int) -> bool:
        """Whether `taking` could wait."""
        return not self.only_shared or self.active.has_others(uid)

    @asynccontextmanager
    async def taking(self, uid: int) -> AsyncIterator[None]:
        """Waits for a place of this user, and holds it while the context is open."""
        if not self.needed(uid):
            yield
            return
        places = self._by_user.get(uid)
        if places is None:
            places = self._by_user[uid] = anyio.Semaphore(self.places, fast_acquire=True)
        await places.acquire()
        loop = asyncio.get_running_loop()
        has_place = True

        def leave() -> None:
            nonlocal has_place
            if not has_place:
                return
            has_place = False
            if places.statistics().tasks_waiting and self.active.has_others(uid):
                loop.call_later(self.pause_seconds, places.release)
            else:
                places.release()

        turn = loop.call_later(self.slice_seconds, leave)
        try:
            yield
        finally:
            turn.cancel()
            leave()
