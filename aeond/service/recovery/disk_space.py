"""Runs that wait for disk space: they continue automatically once the journal can be written."""

from collections.abc import Callable, Sequence
from typing import Final

from aeond.errors import StoreError
from aeond.ports import Clock, Journal

PROBE_SECONDS: Final = 5.0


class DiskSpaceWait:
    """The waiting runs, and the check of the disk that releases them."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._run_ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._run_ids)

    def add(self, run_id: str) -> None:
        self._run_ids.add(run_id)

    def discard(self, run_id: str) -> None:
        self._run_ids.discard(run_id)

    async def watch(self, free: Callable[[Sequence[str]], None]) -> None:
        """Releases the runs, oldest first, whenever there is space; StoreError if the journal has failed."""
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + PROBE_SECONDS)
            if not self._run_ids:
                continue
            try:
                await self._journal.probe()
            except StoreError as error:
                if error.reason == "JOURNAL_FAILED":
                    raise
                continue
            run_ids = sorted(self._run_ids)
            self._run_ids.clear()
            free(run_ids)
