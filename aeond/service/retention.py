"""Forgets runs that ended long ago, if the configuration says so."""

import logging
from collections.abc import Callable
from typing import Final, Protocol

from aeond.errors import OverloadedError, StoreError
from aeond.ports import Clock

LOOK_SECONDS: Final = 60.0
EVERY_SECONDS: Final = 3_600.0
PATIENCE_SECONDS: Final = 86_400.0  # a daemon that is never idle forgets all the same
DAY_SECONDS: Final = 86_400.0

log = logging.getLogger("aeond.service")


class PrunedJournal(Protocol):
    """What is needed of a journal."""

    async def prune(self, before_time: float) -> int: ...


class Retention:
    """Removes runs that ended more than `keep_days()` days ago (0: none), events and all.

    Looks about once an hour, when nothing is being worked on; `is_busy` says whether something is.
    """

    def __init__(
        self,
        journal: PrunedJournal,
        clock: Clock,
        keep_days: Callable[[], float],
        is_busy: Callable[[], bool],
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._keep_days = keep_days
        self._is_busy = is_busy

    async def keep(self) -> None:
        """Works until it is cancelled. What the journal refuses is logged, and tried again in an hour."""
        due = self._clock.monotonic()
        while True:
            now = self._clock.monotonic()
            await self._clock.sleep_until(now + LOOK_SECONDS)
            late = self._clock.monotonic() - due
            if late >= PATIENCE_SECONDS or (late >= 0 and not self._is_busy()):
                await self._forget()
                due = self._clock.monotonic() + EVERY_SECONDS

    async def _forget(self) -> None:
        days = self._keep_days()
        if not days:
            return
        try:
            removed = await self._journal.prune(self._clock.time() - days * DAY_SECONDS)
        except (StoreError, OverloadedError) as error:
            log.warning("runs that ended long ago cannot be removed: %s", error)
        else:
            if removed:
                log.info("removed %d runs that ended more than %g days ago", removed, days)
