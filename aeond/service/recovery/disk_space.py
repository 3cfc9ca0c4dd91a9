"""Runs that wait for disk space, or for a locked journal: they continue automatically once it can be written."""

from collections.abc import Callable
from typing import Final

from aeond.errors import OverloadedError, StoreError
from aeond.ports import Clock, Journal

PROBE_SECONDS: Final = 5.0


class DiskSpaceWait:
    """The waiting runs, and the check of the disk that releases them."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._uids: dict[str, int] = {}  # by run id

    def __len__(self) -> int:
        return len(self._uids)

    def add(self, run_id: str, uid: int) -> None:
        """Adds a run of this user."""
        self._uids[run_id] = uid

    def discard(self, run_id: str) -> None:
        self._uids.pop(run_id, None)

    async def watch(self, free: Callable[[str, int], None]) -> None:
        """Releases the runs, oldest first, whenever there is space; StoreError if the journal has failed."""
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + PROBE_SECONDS)
            if not self._uids:
                continue
            try:
                await self._journal.probe()
            except (OverloadedError, StoreError) as error:
                if error.reason == "JOURNAL_FAILED":
                    raise
                continue
            uids, self._uids = self._uids, {}
            for run_id in sorted(uids):
                free(run_id, uids[run_id])
