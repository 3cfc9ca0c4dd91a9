"""Waiting between tries."""

import pytest

from aeond_client.connection.retries import Retries


@pytest.mark.parametrize(
    ("attempt", "least", "most"), [(1, 0.5, 1.0), (2, 1.0, 2.0), (3, 2.0, 4.0), (99, 4.0, 8.0)]
)
def test_waits_double_up_to_the_longest(attempt: int, least: float, most: float) -> None:
    """Each wait is up to twice the one before, spread by chance over its upper half."""
    retries = Retries(first_seconds=1.0, longest_seconds=8.0)
    assert retries.wait_seconds(attempt, chance=lambda: 0.0) == least
    assert retries.wait_seconds(attempt, chance=lambda: 1.0) == most


@pytest.mark.parametrize(("asked", "waited"), [(3.0, 3.0), (100.0, 8.0), (0.1, 1.0)])
def test_a_requested_delay_is_kept(asked: float, waited: float) -> None:
    """A longer pause that the daemon asks for is made, but never longer than our longest."""
    retries = Retries(first_seconds=1.0, longest_seconds=8.0)
    assert retries.wait_seconds(1, chance=lambda: 1.0, asked_seconds=asked) == waited
