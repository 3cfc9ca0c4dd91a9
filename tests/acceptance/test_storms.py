"""Killed or stopped again and again: nothing acknowledged is lost, nothing is done twice."""

from random import Random

import pytest

from aeond_client.client import Client
from aeond_client.events import RunParked, RunSuspended
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess
from tests.support.stages import Stage
from tests.support.storms import Storm, judge


def faults_of(storm: Storm, stage: Stage) -> list[str]:
    """The oracle's findings about every run of a storm."""
    faults = []
    with Client(stage.socket) as client:
        for run_id, seen in storm.seen.items():
            with Collector(stage.socket, run_id) as again:
                again.wait_for_end()
            faults += judge(client.get_run(run_id), seen.numbered, again.numbered, stage.ledger)
        assert {run.run_id for run in client.list_runs(limit=1_000)} == set(storm.seen)
    return faults


@pytest.mark.parametrize(
    ("kills", "seed"),
    [
        pytest.param(15, 1, marks=pytest.mark.slow),
        *(pytest.param(50, seed, marks=pytest.mark.nightly) for seed in range(2, 12)),
    ],
)
def test_no_kill_loses_or_repeats_anything(stage: Stage, kills: int, seed: int) -> None:
    """However often the daemon is killed: no acknowledged event is lost, no finished step runs again, and
    no effect happens twice without a person's word."""
    storm = Storm(stage.daemon, Random(seed))
    storm.blow(kills)
    assert faults_of(storm, stage) == []
    assert stage.daemon.stop() == 0
    assert "Traceback" not in stage.daemon.log


def _stop_in_order(daemon: DaemonProcess) -> None:
    assert daemon.stop() == 0
    daemon.start()


@pytest.mark.parametrize(
    ("stops", "seed"),
    [pytest.param(4, 1, marks=pytest.mark.slow), pytest.param(20, 2, marks=pytest.mark.nightly)],
)
def test_no_orderly_stop_cuts_an_effect(stage: Stage, stops: int, seed: int) -> None:
    """However often the daemon is stopped among twenty runs: it ends with 0 each time, no step with effects is
    cut, all runs go on, and their watchers miss nothing."""
    storm = Storm(stage.daemon, Random(seed), live_runs=20, strike=_stop_in_order)
    storm.blow(stops)
    assert faults_of(storm, stage) == []
    kinds = [type(event.kind) for seen in storm.seen.values() for event in seen.numbered]
    assert RunParked in kinds
    assert RunSuspended not in kinds
    assert "Traceback" not in stage.daemon.log
