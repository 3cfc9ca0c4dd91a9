"""How often a run makes the disk sync: counted below SQLite, so the same on any machine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from aeond.api.v1 import parts_pb2
from benchmarks.contenders.aeond_chain import echo_chain, file_chain
from benchmarks.daemon import running_daemon
from benchmarks.syncs import counting, syncs_of


@pytest.mark.parametrize(
    ("chain", "least", "most"), [(echo_chain, 0, 1), (file_chain, 1, 2)], ids=["pure", "with_an_effect"]
)
def test_a_step_costs_few_syncs(
    tmp_path: Path, chain: Callable[[int], parts_pb2.Plan], least: int, most: int
) -> None:
    """A step with an effect costs one sync or two, intent and outcome included; one that only computes costs at
    most one, and shares it."""
    count = tmp_path / "syncs"
    with running_daemon(tmp_path, counting(count)) as daemon:
        short, long = (syncs_of(daemon.socket, count, chain, steps, chains=5) for steps in (4, 12))
    assert short > 0
    assert least * 8 - 1 <= long - short <= most * 8
