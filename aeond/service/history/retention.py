"""Deletes runs that ended long ago, if configured."""

import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from aeond.errors import OverloadedError, StoreError
from aeond.frozen import frozen
from aeond.ports import Clock

LOOK_SECONDS: Final = 60.0
EVERY_SECONDS: Final = 3_600.0
PATIENCE_SECONDS: Final = 86_400.0  # a daemon that is never idle deletes them all the same
DAY_SECONDS: Final = 86_400.0

log = logging.getLogger("aeond.service")


class PrunedStore(Protocol):
    """The operation of a store that is used here."""

    async def prune(self, before_time: float) -> int: ...


@frozen
class Retention:
    """Deletes runs that ended more than `keep_days()` days ago (0: none), with their events, from the first of the
    stores, and records of that age from the others.

    Runs about once an hour, when no run is active; `is_busy` says whether one is.
    """

    stores: Sequence[PrunedStore]
    clock: Clock
    keep_days: Callable[[], float]
    is_busy: Callable[[], bool]

    async def keep(self) -> None:
        """Works until cancelled. Errors of the journal are logged and retried in an hour."""
        due = self.clock.monotonic()
        while True:
            now = self.clock.monotonic()
            await self.clock.sleep_until(now + LOOK_SECONDS)
            late = self.clock.monotonic() - due
            if late >= PATIENCE_SECONDS or (late >= 0 and not self.is_busy()):
                await self._forget()
                due = self.clock.monotonic() + EVERY_SECONDS

    async def _forget(self) -> None:
        days = self.keep_days()
        if not days:
            return
        try:
            before = self.clock.time() - days * DAY_SECONDS
            removed, *_ = [await store.prune(before) for store in self.stores]
        except (StoreError, OverloadedError) as error:
            log.warning("old runs cannot be deleted: %s", error)
        else:
            if removed:
                log.info("deleted %d runs that ended more than %g days ago", removed, days)
