"""The start of the writer."""

from pathlib import Path

import anyio
import anyio.to_thread

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from tests.support.failing_vfs import hanging_vfs


async def test_opening_has_a_deadline_of_its_own(tmp_path: Path) -> None:
    """A journal may take longer to open, because of an upgrade, than every other wait for it."""
    journal = SqliteJournal(tmp_path / "journal.db", reserve_bytes=4096, deadline_seconds=0.0)
    async with journal:
        journal._writer._deadline_seconds = 60.0
        await journal.probe()


async def test_opening_can_be_cancelled(tmp_path: Path) -> None:
    """A start that is cancelled does not wait for the journal, whose thread ends once the file is open."""
    with hanging_vfs() as (vfs, hanging), anyio.fail_after(60):
        journal = SqliteJournal(tmp_path / "journal.db", reserve_bytes=4096, vfs=vfs)
        hanging.hangs = True
        async with anyio.create_task_group() as group:
            group.start_soon(journal.__aenter__)
            await anyio.to_thread.run_sync(hanging.arrived.wait)
            group.cancel_scope.cancel()
        hanging.released.set()
        await anyio.to_thread.run_sync(journal._writer._thread.join)
    async with SqliteJournal(tmp_path / "journal.db", reserve_bytes=4096) as again:
        await again.probe()
