"""Parts of runs from the wire to records."""

from aeond.api.v1 import parts_pb2
from aeond_client.calls import reading
from aeond_client.records.runs import Budget


def test_a_bound_of_zero_is_not_the_same_as_none() -> None:
    """A budget of zero and an unset budget differ."""
    assert reading.budget(parts_pb2.Budget(ttl=0, wall_seconds=1.5)) == Budget(ttl=0, wall_seconds=1.5)
