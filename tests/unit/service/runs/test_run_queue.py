"""The order in which waiting runs get a slot."""

import pytest

from aeond.errors import OverloadedError
from aeond.service.runs.run_queue import RunLimits, RunQueue

A, B, C = 1, 2, 3


def queue(*runs: tuple[str, int]) -> RunQueue:
    waiting = RunQueue()
    for run_id, uid in runs:
        waiting.add(run_id, uid)
    return waiting


def taken(waiting: RunQueue) -> list[str]:
    order = []
    while (uid := waiting.next_user(lambda _: True)) is not None:
        order.append(waiting.take(uid))
    return order


def test_users_take_turns() -> None:
    """However many runs one user has queued, the others' come in between, each user's in their order."""
    waiting = queue(("a1", A), ("a2", A), ("a3", A), ("b1", B), ("c1", C), ("b2", B))
    expected = ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert list(waiting) == expected
    assert len(waiting) == 6
    assert taken(waiting) == expected
    assert (len(waiting), list(waiting)) == (0, [])


def test_a_user_without_a_place_is_passed_over() -> None:
    """The next run is that of a user who may start one."""
    waiting = queue(("a1", A), ("a2", A), ("b1", B))
    assert waiting.next_user(lambda uid: uid != A) == B
    assert waiting.next_user(lambda _: False) is None


def test_a_discarded_run_is_not_taken() -> None:
    """A discarded run gives back its place, and the other runs keep their turns."""
    waiting = queue(("a1", A), ("b1", B), ("a2", A), ("c1", C))
    assert [waiting.discard("a1", A), waiting.discard("c1", C)] == [True, True]
    assert [waiting.discard("a1", A), waiting.discard("b1", C)] == [False, False]
    assert (waiting.count(A), waiting.count(C), len(waiting)) == (1, 0, 2)
    assert taken(waiting) == ["a2", "b1"]


def test_a_user_at_the_limit_is_refused_and_others_are_not() -> None:
    """The refusal says whose limit it is and which key raises it; a run that is being created counts."""
    limits = RunLimits(waiting=4, waiting_per_user=2)
    waiting = queue(("a1", A))
    waiting.reserve(A, limits)
    assert (waiting.count(A), len(waiting)) == (2, 2)
    with pytest.raises(OverloadedError, match=r"user 1 .* runs[.]max_waiting_per_user") as raised:
        waiting.reserve(A, limits)
    assert raised.value.reason == "USER_RUNS"
    waiting.reserve(B, limits)
    waiting.reserve(C, limits)
    with pytest.raises(OverloadedError, match=r"of all users .* runs[.]max_waiting") as raised:
        waiting.reserve(C, limits)
    assert raised.value.reason == "TOO_MANY_RUNS"
    waiting.release(A)
    waiting.reserve(C, limits)
