"""A disk that fills up or fails under a running daemon."""

import resource
from pathlib import Path

import pytest

from aeond.daemon.exits import Exit
from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.connection.retries import Retries
from aeond_client.errors import AeondError
from aeond_client.events import RunSuspended
from aeond_client.records.runs import RunState
from tests.support.collecting import Collector
from tests.support.ledgers import chain, deed
from tests.support.small_disk import fill, small_disk
from tests.support.stages import Stage, staged

DISK_BYTES = 24 << 20
FIRST_BYTES = 16 << 10


def test_runs_wait_for_room_and_go_on(folder: Path) -> None:
    """On a full disk runs are suspended and say so, everything can be read, and room lets all of them end."""
    with (
        small_disk(folder / "disk", DISK_BYTES) as disk,
        staged(folder, {"daemon": {"state_dir": str(disk)}}) as stage,
        Client(stage.socket, retries=Retries(attempts=1)) as client,
    ):
        gate = stage.gate()
        run = client.create_run(
            "deeds", RunOptions(plan=chain(deed("s1", "pure", gate=gate), deed("s2", "run")))
        )
        with Collector(stage.socket, run.run_id) as seen:
            gate.held()
            ballast = fill(disk)
            gate.open()
            seen.wait_for(RunSuspended)
            assert client.get_run(run.run_id).state is RunState.SUSPENDED
            assert client.list_runs()[0].state is RunState.SUSPENDED
            with pytest.raises(AeondError) as refused:
                client.create_run("one more", RunOptions(plan=chain(deed("s1", "pure"))))
            assert refused.value.reason == "DISK_FULL"
            assert any("disk is full" in message for message in client.get_status().messages)
            ballast.unlink()
            gate.open()
            seen.wait_for_end()
        assert client.get_run(run.run_id).state is RunState.SUCCEEDED
        assert seen.seqs == list(range(1, len(seen.seqs) + 1))
        assert stage.daemon.stop() == 0
    assert stage.ledger.begun(run.run_id)["s2"] == 1


def test_a_disk_that_fails_ends_the_daemon(stage: Stage) -> None:
    """When nothing can be recorded any more the daemon ends with 7 by itself; on a sound disk all goes on."""
    gate = stage.gate()
    with Client(stage.socket) as client:
        plan = chain(deed("s1", "run"), deed("s2", "pure", gate=gate))
        run = client.create_run("deeds", RunOptions(plan=plan))
        with Collector(stage.socket, run.run_id) as seen:
            gate.held()
            # From now on every write behind the first pages of a file fails, as on a disk that dies.
            resource.prlimit(stage.daemon.pid, resource.RLIMIT_FSIZE, (FIRST_BYTES, FIRST_BYTES))
            gate.open()
            assert stage.daemon.wait() == Exit.DISK
            stage.daemon.start()
            gate.open()
            seen.wait_for_end()
        assert client.get_run(run.run_id).state is RunState.SUCCEEDED
        assert seen.seqs == list(range(1, len(seen.seqs) + 1))
    assert stage.ledger.begun(run.run_id) == {"s1": 1, "s2": 2}
