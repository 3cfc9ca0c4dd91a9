import pytest

from aeond.server.wire.times import timestamp


@pytest.mark.parametrize("seconds", [0.0, 1_790_000_000.25, 1_790_000_000.999_999_9, 5.5])
def test_a_time_keeps_its_fraction(seconds: float) -> None:
    """A Unix time arrives with the precision of a double, and its nanoseconds stay below a second."""
    wire = timestamp(seconds)
    assert wire.seconds + wire.nanos / 1e9 == pytest.approx(seconds, abs=1e-6)
    assert 0 <= wire.nanos < 1_000_000_000
