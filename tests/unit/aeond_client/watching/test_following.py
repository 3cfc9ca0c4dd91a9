"""Where a watcher stands."""

from collections import deque

import pytest

from aeond_client.errors import TimedOutError, UnavailableError
from aeond_client.events import (
    ChildRunEnded,
    ChildRunStarted,
    Event,
    EventKind,
    PassStarted,
    RunEnded,
    TextDelta,
)
from aeond_client.records.runs import RunState
from aeond_client.watching.following import SETTLED_SECONDS, STREAM_SECONDS, Follower, Outage


class Watched:
    """A follower with a clock of the test's and a record of what its listener heard."""

    def __init__(self, *, after_seq: int = 0, patience_seconds: float = 10.0, children: bool = False) -> None:
        self.now = 100.0
        self.heard: list[Outage | None] = []
        self.follower = Follower(
            "run",
            after_seq=after_seq,
            children=children,
            patience_seconds=patience_seconds,
            on_outage=self.heard.append,
            clock=lambda: self.now,
            chance=lambda: 1.0,
        )


def event(seq: int, kind: EventKind | None = None) -> Event:
    return Event("run", seq, 0.0, 0.0, kind or PassStarted(1))


def gone() -> UnavailableError:
    return UnavailableError("gone")


def test_each_number_is_handed_on_once_and_in_order() -> None:
    """A doubled event is dropped, a live one always passes, and the place is remembered."""
    watched = Watched(after_seq=3)
    accepted = [watched.follower.accept(event(seq)) for seq in (3, 4, 4, 5)]
    assert accepted == [False, True, False, True]
    assert watched.follower.accept(event(0, TextDelta("x")))
    assert watched.follower.last_seq == 5


def test_a_missing_number_is_noticed() -> None:
    """A stream that jumps over an event is dropped, and the event is asked for again."""
    watched = Watched()
    with pytest.raises(UnavailableError) as caught:
        watched.follower.accept(event(2))
    assert caught.value.reason == "EVENTS_MISSING"
    assert watched.follower.last_seq == 0


def test_the_last_event_ends_the_watch() -> None:
    """Nothing is waited for after the run's end."""
    watched = Watched()
    watched.follower.accept(event(1, RunEnded(RunState.SUCCEEDED)))
    assert watched.follower.ended


def test_waits_grow_and_stay_within_the_patience() -> None:
    """During an outage the tries get rarer, and the last one falls on the end of the patience."""
    watched = Watched(patience_seconds=1.0)
    waits: list[float] = []
    while sum(waits) < 0.999_999:
        waits.append(watched.follower.lost(gone()))
        watched.now += waits[-1]
    with pytest.raises(UnavailableError, match="gone"):
        watched.follower.lost(gone())
    assert waits[:4] == [0.02, 0.04, 0.08, 0.16]
    assert sum(waits) == pytest.approx(1.0)


def test_a_new_event_restores_the_patience() -> None:
    """After an outage that brought something new, the next one gets the whole patience again."""
    watched = Watched(patience_seconds=1.0)
    watched.follower.lost(gone())
    watched.now += 0.9
    watched.follower.attached()
    watched.follower.accept(event(1))
    watched.now += 0.9
    watched.follower.lost(gone())
    last = watched.heard[-1]
    assert last is not None
    assert last.waited_seconds == 0


def test_a_daemon_that_opens_and_drops_streams_is_not_followed_for_ever() -> None:
    """Attaching alone does not restore the patience."""
    watched = Watched(patience_seconds=1.0)

    def flap() -> None:
        watched.now += watched.follower.lost(gone())
        watched.follower.attached()

    with pytest.raises(UnavailableError):
        deque(iter(flap, "never"), maxlen=0)
    assert watched.now <= 101.5


def test_a_stream_that_lasted_restores_the_patience() -> None:
    """A quiet run is watched over any number of restarts that are far apart."""
    watched = Watched(patience_seconds=1.0)
    for _ in range(10):
        watched.follower.lost(gone())
        watched.now += 0.9
        watched.follower.attached()
        watched.now += SETTLED_SECONDS
    assert [outage is None for outage in watched.heard] == [False, True] * 10


def test_the_end_of_an_outage_is_reported_once() -> None:
    """The end of an outage is reported exactly once."""
    watched = Watched()
    watched.follower.attached()
    assert watched.heard == []
    watched.follower.lost(gone())
    watched.follower.attached()
    watched.follower.attached()
    assert [outage is None for outage in watched.heard] == [False, True]


def test_renewing_a_stream_is_no_outage() -> None:
    """A stream that reached its time limit is reopened at once without reporting an outage."""
    watched = Watched()
    watched.follower.attached()
    watched.now += STREAM_SECONDS
    assert watched.follower.lost(TimedOutError("renew")) == 0.0
    assert watched.heard == []


def below(seq: int, kind: EventKind | None = None) -> Event:
    return Event("child", seq, 0.0, 0.0, kind or PassStarted(1))


def test_each_run_of_a_tree_has_a_place_of_its_own() -> None:
    """Each run has its own sequence; the resume position below is kept until the parent reports the end."""
    watched = Watched(children=True)
    follower = watched.follower
    assert follower.accept(event(1, ChildRunStarted("s1", "child", "any")))
    assert [follower.accept(below(seq)) for seq in (1, 2, 2)] == [True, True, False]
    with pytest.raises(UnavailableError):
        follower.accept(below(4))
    assert (follower.last_seq, follower.child_seqs) == (1, {"child": 2})
    assert follower.accept(event(2, ChildRunEnded("s1", "child", RunState.SUCCEEDED)))
    assert follower.child_seqs == {}
    assert Watched().follower.child_seqs is None


def test_a_tree_has_ended_when_all_of_it_has() -> None:
    """The end of the run is not the end of the stream while one below goes on."""
    watched = Watched(children=True)
    follower = watched.follower
    follower.accept(event(1, ChildRunStarted("s1", "child", "any")))
    follower.accept(event(2, RunEnded(RunState.CANCELLED)))
    assert not follower.ended
    follower.accept(below(1, RunEnded(RunState.CANCELLED)))
    assert follower.ended


def test_the_daemon_may_say_that_nothing_more_comes() -> None:
    """A stream that ends in order after the run did is over, whatever never began below; before, it is lost."""
    watched = Watched(children=True)
    with pytest.raises(UnavailableError) as early:
        watched.follower.stream_ended()
    assert early.value.reason == "STREAM_ENDED"
    watched.follower.accept(event(1, ChildRunStarted("s1", "never", "any")))
    watched.follower.accept(event(2, RunEnded(RunState.CANCELLED)))
    watched.follower.stream_ended()
    assert watched.follower.ended


def test_a_watch_may_begin_behind_the_end() -> None:
    """A watch that starts after a run's last event ends with its stream; one that received events needs the
    last one too.
    """
    watched = Watched(after_seq=7)
    watched.follower.stream_ended()
    assert watched.follower.ended
    amid = Watched(after_seq=7)
    amid.follower.accept(event(8))
    with pytest.raises(UnavailableError, match="ended before the run"):
        amid.follower.stream_ended()
