"""Histograms."""

from hypothesis import given
from hypothesis import strategies as st

from aeond.observability.histogram import LONG, Histogram


@given(st.lists(st.floats(0, 10_000)))
def test_buckets_count_the_observations_up_to_their_bound(values: list[float]) -> None:
    """Each bucket counts the values up to its bound, the last one all of them."""
    histogram = Histogram(LONG)
    for value in values:
        histogram.observe(value)
    expected = [float(sum(value <= bound for value in values)) for bound in (*LONG, float("inf"))]
    assert [count for _, count in histogram.buckets] == expected
    assert histogram.count == len(values)
    assert histogram.buckets[-1][0] == "+Inf"
