"""Places for work that takes long: so many in all, fewer for each user, so that no user occupies all of them."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


class UserPlaces:
    """A semaphore with a bound for each user below that for all.

    The work of one user waits in the order of arrival, first for a place of its user, then for one of all.
    """

    def __init__(self, in_all: int, of_one_user: int) -> None:
        self._all = anyio.Semaphore(in_all, fast_acquire=True)
        self._of_one_user = of_one_user
        self._by_user: dict[int, anyio.Semaphore] = {}
        self._waiting: Counter[int] = Counter()

    def waiting(self, uid: int) -> int:
        """How much work of this user waits for a place."""
        return self._waiting[uid]

    @property
    def waiting_in_all(self) -> int:
        """How much work of all users waits for a place."""
        return self._waiting.total()

    def acquire_nowait(self, uid: int) -> None:
        """Takes a place for work of this user. anyio.WouldBlock if none is free."""
        own = self._own(uid)
        own.acquire_nowait()
        try:
            self._all.acquire_nowait()
        except anyio.WouldBlock:
            own.release()
            raise

    async def acquire(self, uid: int) -> None:
        """Waits for a place for work of this user."""
        own = self._own(uid)
        self._waiting[uid] += 1
        try:
            await own.acquire()
            complete = False
            try:
                await self._all.acquire()
                complete = True
            finally:
                if not complete:
                    own.release()
        finally:
            self._waiting[uid] -= 1

    def release(self, uid: int) -> None:
        """Gives back a place that was taken for this user."""
        self._all.release()
        self._own(uid).release()

    @asynccontextmanager
    async def taking(self, uid: int) -> AsyncIterator[None]:
        """Waits for a place of this user, and holds it while the context is open."""
        await self.acquire(uid)
        try:
            yield
        finally:
            self.release(uid)

    def _own(self, uid: int) -> anyio.Semaphore:
        found = self._by_user.get(uid)
        if found is None:
            found = self._by_user[uid] = anyio.Semaphore(self._of_one_user, fast_acquire=True)
        return found
