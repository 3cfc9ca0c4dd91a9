"""Signs of life for the service manager's watchdog, given only while the daemon can do its work.

It can while its event loop turns in time, its journal commits, and runs that wait are taken up. How the
engine is does not count: it is a process of its own, and the runs that need it wait or fail by themselves.
"""

import logging
from typing import Final, Protocol

import anyio

from aeond.daemon.notify import Notifier
from aeond.errors import StoreError
from aeond.ports import Clock, Journal

LAG_SECONDS: Final = 2.0
PROBE_SECONDS: Final = 5.0
TICK_SECONDS: Final = 0.5
SIGNS_A_PERIOD: Final = 3  # one of them may fail without consequence

log = logging.getLogger("aeond.daemon")


class Scheduler(Protocol):
    """What takes up runs."""

    @property
    def idle(self) -> bool:
        """Whether no run is being taken up, and none waits that could be."""
        ...

    @property
    def taken_up(self) -> int:
        """How many times a run's turn has come."""
        ...


class Liveness:
    """Judges whether the daemon lives; `watch_loop` is to run all the while."""

    def __init__(self, *, journal: Journal, scheduler: Scheduler, clock: Clock) -> None:
        self._journal = journal
        self._scheduler = scheduler
        self._clock = clock
        self._lag_seconds = 0.0
        self._waited_at: int | None = None

    async def watch_loop(self) -> None:
        """Measures how late the event loop is."""
        while True:
            due = self._clock.monotonic() + TICK_SECONDS
            await self._clock.sleep_until(due)
            self._lag_seconds = max(self._lag_seconds, self._clock.monotonic() - due)

    async def objection(self) -> str:
        """Why no sign of life may be given now, judged over the time since the last look; "" if one may."""
        lag, self._lag_seconds = self._lag_seconds, 0.0
        if lag >= LAG_SECONDS:
            return f"the event loop was {lag:.1f} s late"
        if self._stands_still():
            return "runs wait, and none was taken up"
        try:
            with anyio.fail_after(PROBE_SECONDS):
                await self._journal.probe()
        except TimeoutError:
            return f"the journal did not commit within {PROBE_SECONDS:g} s"
        except StoreError as error:
            # A full disk: the writer is well and says so, and a restart would not help.
            return "" if error.reason == "DISK_FULL" else error.message
        return ""

    def _stands_still(self) -> bool:
        """Whether runs waited at the last look, wait now, and nothing has moved in between."""
        before, taken_up = self._waited_at, self._scheduler.taken_up
        self._waited_at = None if self._scheduler.idle else taken_up
        return self._waited_at is not None and self._waited_at == before

    async def give_signs(self, notifier: Notifier) -> None:
        """Tells the service manager, often enough, for as long as there is no objection."""
        while notifier.watchdog_seconds > 0:
            objection = await self.objection()
            if objection:
                log.error("no sign of life: %s", objection, extra={"kind": "not_alive"})
            else:
                notifier.alive()
            await self._clock.sleep_until(
                self._clock.monotonic() + notifier.watchdog_seconds / SIGNS_A_PERIOD
            )
