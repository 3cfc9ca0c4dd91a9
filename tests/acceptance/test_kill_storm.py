"""Killed again and again: nothing acknowledged is lost, nothing is done twice."""

from random import Random
from typing import Any

import pytest

from aeond_client.client import Client
from tests.support.collecting import Collector
from tests.support.storms import Storm, judge


@pytest.mark.parametrize(
    ("kills", "seed"),
    [
        pytest.param(15, 1, marks=pytest.mark.slow),
        *(pytest.param(50, seed, marks=pytest.mark.nightly) for seed in range(2, 12)),
    ],
)
def test_no_kill_loses_or_repeats_anything(stage: Any, kills: int, seed: int) -> None:
    """However often the daemon is killed: no acknowledged event is lost, no finished step runs again, and
    no effect happens twice without a person's word."""
    storm = Storm(stage.daemon, stage.ledger, Random(seed))
    storm.blow(kills)
    faults = []
    with Client(stage.socket) as client:
        for run_id, seen in storm.seen.items():
            with Collector(stage.socket, run_id) as again:
                again.wait_for_end()
            faults += judge(client.get_run(run_id), seen.numbered, again.numbered, stage.ledger)
        assert {run.run_id for run in client.list_runs(limit=1_000)} == set(storm.seen)
    assert faults == []
    assert stage.daemon.stop() == 0
    assert "Traceback" not in stage.daemon.log
