"""The machine's time and names."""

import re
from dataclasses import dataclass
from time import time

import anyio
from hypothesis import given
from hypothesis import strategies as st

from aeond.daemon.clocks import SystemClock, TimeSortedIds


@dataclass
class ToldClock(SystemClock):
    """A wall clock that jumps as a test says."""

    now: float

    def time(self) -> float:
        return self.now


def test_the_clock_shows_the_machine_s_time() -> None:
    """The time for people is the machine's."""
    before = time()
    assert before <= SystemClock().time() <= time()


async def test_waiting_ends_when_the_time_has_come() -> None:
    """Waiting returns at or after the given time, and at once if it has passed."""
    clock = SystemClock()
    moment = clock.monotonic() + 0.01
    with anyio.fail_after(60):
        await clock.sleep_until(moment)
        assert clock.monotonic() >= moment
        await clock.sleep_until(moment - 100)


def test_ids_are_uuids_of_version_7() -> None:
    """An id is a UUID of version 7 with its creation time."""
    new_id = TimeSortedIds(ToldClock(1_700_000_000.123)).new_id()
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", new_id)
    assert int(new_id.replace("-", "")[:12], 16) == 1_700_000_000_123


@given(st.lists(st.floats(-1e5, 1e5), min_size=1, max_size=50))
def test_ids_sort_by_their_making_whatever_the_clock_does(jumps: list[float]) -> None:
    """Ids made one after another sort in that order, also when the wall clock jumps back."""
    clock = ToldClock(1_700_000_000.0)
    ids = TimeSortedIds(clock)
    made = []
    for jump in jumps:
        clock.now += jump
        made += [ids.new_id(), ids.new_id()]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_many_ids_in_one_millisecond_stay_apart() -> None:
    """A burst of ids within one tick of the clock is unique and in order."""
    ids = TimeSortedIds(ToldClock(1_700_000_000.0))
    made = [ids.new_id() for _ in range(10_000)]
    assert made == sorted(set(made))


def test_ids_sort_after_those_of_an_earlier_process() -> None:
    """After a restart new ids sort after the newest known one, also if the wall clock was set back in between."""
    earlier = TimeSortedIds(ToldClock(1_700_000_000.0))
    known = [earlier.new_id() for _ in range(3)]
    ids = TimeSortedIds(ToldClock(1_600_000_000.0))
    ids.follow([*known, "an id of another form"])
    made = [ids.new_id(), ids.new_id()]
    assert sorted([*made, *known]) == [*known, *made]
