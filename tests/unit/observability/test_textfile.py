"""The file for node_exporter."""

import logging
from pathlib import Path

import anyio
import pytest

from aeond.errors import StoreError
from aeond.observability.textfile import Textfile
from tests.support.doubles import ManualClock

SECONDS = 10.0


class Pages:
    """Numbered pages, after some failures."""

    def __init__(self, failures: int = 0) -> None:
        self.count = 0
        self.failures = failures
        self._asked = anyio.Event()

    async def page(self, _accept: str) -> tuple[str, bytes]:
        self.count += 1
        self._asked.set()
        if self.count <= self.failures:
            raise StoreError("not now", reason="JOURNAL_BUSY")
        return "text/plain", f"page {self.count}\n".encode()

    async def asked(self, count: int) -> None:
        with anyio.fail_after(SECONDS):
            while self.count < count:
                self._asked = anyio.Event()
                await self._asked.wait()


async def written(path: Path, text: str) -> None:
    """Returns once the file has this content."""
    with anyio.fail_after(SECONDS):
        while not path.exists() or path.read_text() != text:
            await anyio.lowlevel.checkpoint()


async def test_the_file_is_replaced_and_goes_with_the_daemon(tmp_path: Path) -> None:
    """Other users may read the file; it is written again after its time, alone in its folder, and removed at the
    end."""
    clock, pages, path = ManualClock(), Pages(), tmp_path / "aeond.prom"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Textfile(path, 15.0, pages.page, clock).keep)
        await written(path, "page 1\n")
        assert path.stat().st_mode & 0o777 == 0o644
        clock.advance(15.0)
        await written(path, "page 2\n")
        assert [file.name for file in tmp_path.iterdir()] == ["aeond.prom"]
        tasks.cancel_scope.cancel()
    assert not path.exists()


async def test_a_failure_is_logged_once_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Failures in a row are logged once; the file is written as soon as that works."""
    clock, pages, path = ManualClock(), Pages(failures=2), tmp_path / "aeond.prom"
    with caplog.at_level(logging.WARNING, "aeond.metrics"):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Textfile(path, 15.0, pages.page, clock).keep)
            for count in (1, 2):
                await pages.asked(count)
                await anyio.wait_all_tasks_blocked()
                clock.advance(15.0)
            await written(path, "page 3\n")
            tasks.cancel_scope.cancel()
    assert len(caplog.records) == 1
    assert str(path) in caplog.text


async def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    """A link that another user put there is replaced and its target keeps its content."""
    target, path = tmp_path / "target", tmp_path / "aeond.prom"
    target.write_text("precious")
    path.symlink_to(target)
    (tmp_path / ".aeond.prom.new").symlink_to(target)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Textfile(path, 15.0, Pages().page, ManualClock()).keep)
        await written(path, "page 1\n")
        assert not path.is_symlink()
        assert target.read_text() == "precious"
        tasks.cancel_scope.cancel()
