"""The program is killed while it appends."""

import subprocess
import sys
from pathlib import Path
from random import Random

import anyio
import apsw
import pytest

from tests.support.journals import all_events, journal_in
from tests.support.repository import ROOT


def acknowledged_until_killed(path: Path, prefix: str, acknowledgements: int) -> dict[str, int]:
    """Starts a program that appends, kills it after it has acknowledged so much, and returns the last seq
    that it acknowledged of each run."""
    program = [sys.executable, "-m", "tests.support.appending", str(path), prefix, "4"]
    last: dict[str, int] = {}
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout):
            if not line.endswith(b"\n"):
                break  # killed in the middle of saying so
            run_id, seq = line.split()
            last[run_id.decode()] = int(seq)
            if number == acknowledgements:
                process.kill()
    assert process.returncode == -9
    return last


@pytest.mark.slow
@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.nightly)])
async def test_no_acknowledged_event_is_lost_in_a_kill(tmp_path: Path, kills: int) -> None:
    """After each of many kills every acknowledged event is there, and each run is gapless."""
    random = Random(kills)
    acknowledged: dict[str, int] = {}
    for number in range(kills):
        killed = acknowledged_until_killed(tmp_path / "journal.db", f"k{number}", random.randint(0, 300))
        acknowledged |= killed
        async with journal_in(tmp_path) as journal:
            for run_id, seq in killed.items():
                with anyio.fail_after(60):
                    seqs = [event.seq for event in await all_events(journal, run_id)]
                assert seqs == list(range(1, len(seqs) + 1))
                assert len(seqs) >= seq
    async with journal_in(tmp_path) as journal:
        for run_id, seq in acknowledged.items():
            summary = await journal.summary(run_id)
            assert summary is not None
            assert summary.last_seq >= seq
    connection = apsw.Connection(str(tmp_path / "journal.db"))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
