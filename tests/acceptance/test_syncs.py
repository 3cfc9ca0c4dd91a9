"""How often a run makes the disk sync: counted below SQLite, so the same on any machine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from aeond.api.v1 import parts_pb2
from benchmarks.contenders.aeond_chain import echo_chain, file_chain
from benchmarks.daemon import running_daemon
from benchmarks.syncs import counting, syncs_of


@pytest.mark.parametrize(
    ("chain", "most"), [(echo_chain, 1), (file_chain, 2)], ids=["pure", "with_an_effect"]
)
def test_a_step_costs_few_syncs(tmp_path: Path, chain: Callable[[int], parts_pb2.Plan], most: int) -> None:
    """A pure step costs one sync and a step with an effect at most two, intent and outcome included."""
    count = tmp_path / "syncs"
    with running_daemon(tmp_path, counting(count)) as daemon:
        short, long = (syncs_of(daemon.socket, count, chain, steps, chains=5) for steps in (4, 12))
    assert 0 < long - short <= most * 8
