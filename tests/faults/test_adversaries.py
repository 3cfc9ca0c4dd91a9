"""Bounds that cannot be broken: whole runs under a model that means ill."""

import os

import pytest

from tests.support.adversarial_runs import adversarial_run, check

BATCHES = 20
IN_EVERY_CHECK = 2_000
AT_NIGHT = 100_000


@pytest.mark.parametrize("batch", range(BATCHES))
async def test_no_adversary_breaks_a_bound(batch: int) -> None:
    """Whatever a model says, no bound of any run is overshot, and every run ends with an answer or waits."""
    for seed in range(batch, IN_EVERY_CHECK, BATCHES):
        check(await adversarial_run(seed))


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(BATCHES))
async def test_no_adversary_of_the_night_breaks_a_bound(batch: int) -> None:
    """The same over a hundred thousand seeds, or AEOND_SEEDS of them."""
    for seed in range(
        IN_EVERY_CHECK + batch, IN_EVERY_CHECK + int(os.environ.get("AEOND_SEEDS", AT_NIGHT)), BATCHES
    ):
        check(await adversarial_run(seed))
