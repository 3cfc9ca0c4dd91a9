"""Keep-alive messages for the service manager's watchdog, sent only while the daemon works.

It works if its event loop runs on time, its journal commits, and waiting runs are started. The state of the
engine does not count: it is a separate process, and the runs that need it wait or fail by themselves.
"""

import logging
from typing import Final, Protocol

import anyio

from aeond.daemon.notify import Notifier
from aeond.errors import StoreError
from aeond.ports import Clock, Journal

LAG_SECONDS: Final = 2.0
PROBE_SECONDS: Final = 5.0
TICK_SECONDS: Final = 2.0
SIGNS_A_PERIOD: Final = 3  # one check may fail without consequence

log = logging.getLogger("aeond.daemon")


class Scheduler(Protocol):
    """The run scheduler."""

    @property
    def idle(self) -> bool:
        """Whether no run is active and no waiting run could be started."""
        ...

    @property
    def taken_up(self) -> int:
        """How often a run was given a slot."""
        ...


class Liveness:
    """Checks whether the daemon works; `watch_loop` must run in the background."""

    def __init__(self, *, journal: Journal, scheduler: Scheduler, clock: Clock) -> None:
        self._journal = journal
        self._scheduler = scheduler
        self._clock = clock
        self._lag_seconds = 0.0
        self._waited_at: int | None = None

    async def watch_loop(self) -> None:
        """Measures the delay of the event loop."""
        while True:
            due = self._clock.monotonic() + TICK_SECONDS
            await self._clock.sleep_until(due)
            self._lag_seconds = max(self._lag_seconds, self._clock.monotonic() - due)

    async def objection(self) -> str:
        """Why no keep-alive may be sent now, judged since the previous check; "" if it may be sent."""
        lag, self._lag_seconds = self._lag_seconds, 0.0
        if lag >= LAG_SECONDS:
            return f"the event loop was {lag:.1f} s late"
        if self._stands_still():
            return "runs are waiting, and none was started"
        try:
            with anyio.fail_after(PROBE_SECONDS):
                await self._journal.probe()
        except TimeoutError:
            return f"the journal did not commit within {PROBE_SECONDS:g} s"
        except StoreError as error:
            # Disk full: the writer works and reports it, and a restart would not help.
            return "" if error.reason == "DISK_FULL" else error.message
        return ""

    def _stands_still(self) -> bool:
        """Whether runs were waiting at the previous check, are waiting now, and none started in between."""
        before, taken_up = self._waited_at, self._scheduler.taken_up
        self._waited_at = None if self._scheduler.idle else taken_up
        return self._waited_at is not None and self._waited_at == before

    async def give_signs(self, notifier: Notifier) -> None:
        """Sends keep-alives, often enough, as long as there is no objection."""
        while notifier.watchdog_seconds > 0:
            objection = await self.objection()
            if objection:
                log.error("no keep-alive sent: %s", objection, extra={"kind": "not_alive"})
            else:
                notifier.alive()
            await self._clock.sleep_until(
                self._clock.monotonic() + notifier.watchdog_seconds / SIGNS_A_PERIOD
            )
