"""Lets the calls of each user take turns, so that a flood of one user's calls delays only that user."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import anyio

from aeond.domain.runs.run import Caller

PLACES = 4
SLICE_SECONDS = 0.05
PAUSE_SECONDS = 0.05
SHARED_SECONDS = 1.0  # after its last call a user no longer counts as active


class UserTurns:
    """Admits a few calls of each user at a time; further ones wait in the order of arrival.

    A call keeps its place for `slice_seconds` at most: one that takes longer waits for something else than the
    daemon's own work, such as a tool or a model, and does not hold up the user's other calls.

    While other users are active, a place stays empty for a pause if more calls of its user wait: otherwise these would
    occupy the event loop without interruption, and every step of another user's call would wait for it.
    """

    def __init__(
        self,
        caller_of: Callable[[str], Caller],
        places: int = PLACES,
        slice_seconds: float = SLICE_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._caller_of = caller_of
        self._places = places
        self._slice_seconds = slice_seconds
        self._pause_seconds = pause_seconds
        self._active: dict[int, float] = {}  # the time of each user's last call, the latest last
        self._by_user: WeakValueDictionary[int, anyio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def taking(self, peer: str) -> AsyncIterator[None]:
        """Waits for a place of this peer's user, as named by gRPC, and holds it while the context is open."""
        uid = self._caller_of(peer).owner.uid
        places = self._by_user.get(uid)
        if places is None:
            places = self._by_user[uid] = anyio.Semaphore(self._places, fast_acquire=True)
        loop = asyncio.get_running_loop()
        self._note(uid, loop.time())
        await places.acquire()
        has_place = True

        def leave() -> None:
            nonlocal has_place
            if has_place:
                has_place = False
                places.release()

        turn = loop.call_later(self._slice_seconds, leave)
        try:
            yield
        finally:
            turn.cancel()
            if len(self._active) > 1 and places.statistics().tasks_waiting:
                loop.call_later(self._pause_seconds, leave)
            else:
                leave()

    def _note(self, uid: int, now: float) -> None:
        """Counts this user as active from now on, and no longer those whose last call is too long ago."""
        self._active.pop(uid, None)
        self._active[uid] = now
        while next(iter(self._active.values())) < now - SHARED_SECONDS:
            del self._active[next(iter(self._active))]
