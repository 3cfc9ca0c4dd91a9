"""A run that cannot be continued leaves the journal, and nothing of it is lost."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from aeond.daemon.commands.quarantine import quarantine
from aeond.daemon.config.paths import Paths, paths_of
from aeond.daemon.config.schema import Config
from aeond.daemon.exits import Exit
from aeond.daemon.lifecycle.locking import single_instance
from aeond.daemon.main import main
from aeond.domain.runs.events import Event
from aeond.errors import AlreadyExistsError, NotFoundError, ReplayError
from tests.support.journals import beginning, journal_in, step_turn
from tests.support.transcripts import read_lines


@pytest.fixture
async def paths(tmp_path: Path) -> Paths:
    """The places of a daemon that has two runs and does not run."""
    file = tmp_path / "aeond.toml"
    file.write_text(f'[daemon]\nstate_dir = "{tmp_path}"\n')
    async with journal_in(tmp_path) as journal:
        for run_id in ("good", "bad"):
            await journal.append([*beginning(run_id), *step_turn(run_id, 3)])
    return paths_of(Config.model_validate({"daemon": {"state_dir": str(tmp_path)}}), file)


def break_event(paths: Paths) -> None:
    """An event that no version can read, as a damaged disk or a foreign hand leaves it.

    Closed here: another SQLite library of the same process that closes later would remove the journal's log.
    """
    with closing(sqlite3.connect(paths.journal)) as connection, connection:
        connection.executescript(
            "PRAGMA writable_schema = 1; DELETE FROM sqlite_schema WHERE type = 'trigger';"
        )
    with closing(sqlite3.connect(paths.journal)) as connection, connection:
        connection.execute("UPDATE events SET body = '{no json' WHERE run_id = 'bad' AND seq = 2")


async def events_of(paths: Paths, run_id: str) -> Sequence[Event]:
    async with journal_in(paths.state_dir) as journal:
        return await journal.read(run_id)


async def test_a_run_that_cannot_be_read_is_moved_whole(paths: Paths) -> None:
    """Every event stands in the transcript, the broken one as it is; the other run is untouched."""
    break_event(paths)
    with pytest.raises(ReplayError):
        await events_of(paths, "bad")
    transcript = await quarantine(paths, "bad")
    lines = [json.loads(line) for line in transcript.read_text().splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4]
    assert lines[1]["body"] == "{no json"
    assert transcript.stat().st_mode & 0o777 == 0o600
    assert await events_of(paths, "bad") == []
    assert len(await events_of(paths, "good")) == 4


async def test_the_transcript_holds_the_whole_run(paths: Paths) -> None:
    """The transcript of a run gives back the same events."""
    before = await events_of(paths, "good")
    transcript = await quarantine(paths, "good")
    assert list(read_lines(transcript.read_text().splitlines())) == list(before)
    assert len(before) == 4


async def test_nothing_is_removed_that_is_not_written(paths: Paths) -> None:
    """When the transcript is there already the run stays where it is."""
    paths.quarantine_dir.mkdir()
    (paths.quarantine_dir / "bad.jsonl").touch()
    with pytest.raises(AlreadyExistsError) as refused:
        await quarantine(paths, "bad")
    assert refused.value.reason == "TRANSCRIPT_EXISTS"
    assert len(await events_of(paths, "bad")) == 4


async def test_it_does_nothing_under_a_running_daemon(paths: Paths) -> None:
    """While another process holds the state folder nothing is touched."""
    with single_instance(paths.lock), pytest.raises(AlreadyExistsError) as refused:
        await quarantine(paths, "bad")
    assert refused.value.reason == "ANOTHER_INSTANCE"
    with pytest.raises(NotFoundError):
        await quarantine(paths, "no such run")
    assert not paths.quarantine_dir.exists()


def test_the_command_says_where_the_run_went(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`aeond quarantine RUN` prints the path of the transcript; an unknown run is an error."""
    file = tmp_path / "aeond.toml"
    file.write_text(f'[daemon]\nstate_dir = "{tmp_path}"\n')

    async def fill() -> None:
        async with journal_in(tmp_path) as journal:
            await journal.append(beginning("bad"))

    anyio.run(fill)
    assert main(["quarantine", "--config", str(file), "bad"]) == Exit.OK
    assert capsys.readouterr().out == f"bad was moved to {tmp_path}/quarantine/bad.jsonl\n"
    assert main(["quarantine", "--config", str(file), "bad"]) == Exit.CONFIG
    assert "run 'bad' does not exist" in capsys.readouterr().err
