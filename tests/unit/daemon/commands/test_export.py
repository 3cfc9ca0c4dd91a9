"""A run written down beside the daemon that works on it."""

from pathlib import Path

import pytest

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.daemon.commands.export import export
from aeond.daemon.config.paths import Paths
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.events import Event, RunCreated, RunEnded, RunStarted
from aeond.domain.runs.run import Ancestry, RunRequest, RunState
from aeond.errors import AlreadyExistsError, NotFoundError, RefusedError
from tests.support.transcripts import read_lines

EVENTS = [
    Event("run-1", 1, 5.0, 0.0, RunCreated(RunRequest("hello ☃"), Budget())),
    Event("run-1", 2, 6.0, 0.5, RunStarted()),
]


def paths_in(folder: Path) -> Paths:
    return Paths(folder / "aeond.toml", folder, folder / "aeond.sock", folder / "models", folder / "private")


async def test_a_run_is_written_down_while_its_journal_is_in_use(tmp_path: Path) -> None:
    """The lines are the run's events, read beside an open journal; a file that is there is not replaced."""
    paths, output = paths_in(tmp_path), tmp_path / "run.jsonl"
    async with SqliteJournal(paths.journal) as journal:
        await journal.append(EVENTS)
        assert await export(paths, "run-1", output) == (2, False)
        assert list(read_lines(output.read_text(encoding="utf-8").splitlines())) == EVENTS
        with pytest.raises(AlreadyExistsError) as raised:
            await export(paths, "run-1", output)
    assert raised.value.reason == "TRANSCRIPT_EXISTS"


async def test_a_run_goes_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a file the lines are printed."""
    paths = paths_in(tmp_path)
    async with SqliteJournal(paths.journal) as journal:
        await journal.append(EVENTS)
    await export(paths, "run-1", None)
    assert list(read_lines(capsys.readouterr().out.splitlines())) == EVENTS


async def test_a_run_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    """An unknown run is an error, and no file is made."""
    paths, output = paths_in(tmp_path), tmp_path / "run.jsonl"
    async with SqliteJournal(paths.journal):
        with pytest.raises(NotFoundError):
            await export(paths, "run-9", output)
    assert not output.exists()


async def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    """A folder that is not there, and a file in the place of one, end with an error that names the file, and make none."""
    paths = paths_in(tmp_path)
    async with SqliteJournal(paths.journal) as journal:
        await journal.append(EVENTS)
        (tmp_path / "file").touch()
        for place in ("none", "file"):
            with pytest.raises(RefusedError, match=rf"{place}/run\.jsonl cannot be written") as raised:
                await export(paths, "run-1", tmp_path / place / "run.jsonl")
            assert raised.value.reason == "TRANSCRIPT_REFUSED"
    assert not (tmp_path / "none").exists()


async def test_the_last_run_is_the_newest_that_was_asked_for(tmp_path: Path) -> None:
    """`last` is the newest run that is no child of another; without any it names none."""
    paths, output = paths_in(tmp_path), tmp_path / "run.jsonl"
    child = RunCreated(RunRequest("a part"), Budget(), ancestry=Ancestry("run-1", "s1"))
    async with SqliteJournal(paths.journal) as journal:
        with pytest.raises(NotFoundError):
            await export(paths, "last", output)
        await journal.append(EVENTS)
        await journal.append([Event("run-2", 1, 7.0, 0.0, child)])
        await export(paths, "last", output)
    assert list(read_lines(output.read_text(encoding="utf-8").splitlines())) == EVENTS


async def test_a_run_that_has_ended_is_whole(tmp_path: Path) -> None:
    """The export reports whether it holds the whole run."""
    paths = paths_in(tmp_path)
    async with SqliteJournal(paths.journal) as journal:
        await journal.append([*EVENTS, Event("run-1", 3, 7.0, 1.0, RunEnded(RunState.SUCCEEDED))])
        assert await export(paths, "run-1", tmp_path / "run.jsonl") == (3, True)
