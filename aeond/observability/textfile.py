"""Writes the metrics page into a file for the textfile collector of node_exporter."""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from aeond.errors import AeondError
from aeond.observability.http_endpoint import Page
from aeond.ports import Clock

MODE: Final = 0o644  # node_exporter runs as another user

log = logging.getLogger("aeond.metrics")


class Textfile:
    """Replaces the file every `seconds` and removes it at the end, so that no collector reads the metrics of a stopped
    daemon. A failure is logged once, and writing is tried again."""

    def __init__(self, path: Path, seconds: float, page: Page, clock: Clock) -> None:
        self._path = path
        self._seconds = seconds
        self._page = page
        self._clock = clock

    async def keep(self) -> None:
        """Writes until cancelled."""
        failed = False
        try:
            while True:
                due = self._clock.monotonic() + self._seconds
                try:
                    _, content = await self._page("")
                    await anyio.to_thread.run_sync(_replace, self._path, content)
                    failed = False
                except (OSError, AeondError) as error:
                    if not failed:
                        log.warning("cannot write metrics.textfile %s: %s", self._path, error)
                    failed = True
                await self._clock.sleep_until(due)
        finally:
            with suppress(OSError):
                self._path.unlink()


def _replace(path: Path, content: bytes) -> None:
    """Readers see the old content or the new one, never a part."""
    draft = path.with_name(f".{path.name}.new")
    with suppress(FileNotFoundError):
        draft.unlink()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, MODE)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no path
        os.fchmod(descriptor, MODE)
        file.write(content)
    draft.replace(path)
