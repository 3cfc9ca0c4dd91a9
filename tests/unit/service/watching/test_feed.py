"""The hot side of streams."""

import anyio
import pytest

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.events import (
    AnswerComposed,
    Event,
    EventKind,
    PassEnded,
    RunEnded,
    RunStarted,
    StepEnded,
)
from aeond.domain.runs.live_updates import Progress, Queued, TextDelta
from aeond.domain.runs.run import Answer, RunState
from aeond.service.watching.feed import MAX_LIVE_CHARS, QUEUE_ITEMS, HotFeed


def event(seq: int, kind: EventKind | None = None, run_id: str = "r") -> Event:
    return Event(run_id, seq, 0.0, 0.0, kind or RunStarted())


async def test_a_hot_watcher_gets_what_is_published_in_order() -> None:
    """A watcher that has caught up takes events and live updates in the order they happened."""
    feed = HotFeed()
    with feed.watch("r") as watcher:
        assert watcher.go_hot(0)
        feed.publish([event(1), event(2)])
        feed.update(Progress("r", "", "thinking"))
        assert await watcher.take() == (event(1), event(2), Progress("r", "", "thinking"))


async def test_a_watcher_gets_nothing_of_other_runs() -> None:
    """A watcher sees its own run alone."""
    feed = HotFeed()
    with feed.watch("r") as watcher:
        watcher.go_hot(0)
        feed.publish([event(1, run_id="other"), event(1)])
        assert await watcher.take() == (event(1),)


async def test_taking_waits_for_news() -> None:
    """A watcher with an empty queue waits until something happens."""
    feed = HotFeed()
    taken: list[object] = []
    with feed.watch("r") as watcher:
        watcher.go_hot(0)

        async def take() -> None:
            taken.extend(await watcher.take())

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(take)
                await anyio.lowlevel.checkpoint()
                assert taken == []
                feed.publish([event(1)])
    assert taken == [event(1)]


async def test_events_are_queued_while_a_watcher_reads() -> None:
    """A watcher that is still reading the journal finds what happened meanwhile in its queue."""
    feed = HotFeed()
    with feed.watch("r") as watcher:
        feed.publish([event(1), event(2)])
        assert watcher.go_hot(0)
        assert await watcher.take() == (event(1), event(2))


def test_a_watcher_that_lost_events_has_to_read_them() -> None:
    """A watcher whose queue overflowed while it read does not go hot before it has read what was dropped."""
    feed = HotFeed()
    with feed.watch("r") as watcher:
        feed.publish([event(seq) for seq in range(1, QUEUE_ITEMS + 2)])
        assert not watcher.go_hot(QUEUE_ITEMS)
        feed.publish([event(QUEUE_ITEMS + 2)])
        assert watcher.go_hot(QUEUE_ITEMS + 1)


async def test_a_full_queue_is_dropped() -> None:
    """A watcher that does not read loses its queue, uses bounded memory, and has to read the journal."""
    feed = HotFeed()
    with feed.watch("r") as watcher:
        watcher.go_hot(0)
        feed.publish([event(seq) for seq in range(1, QUEUE_ITEMS + 2)])
        assert not watcher.hot
        assert await watcher.take() == ()
        feed.publish([event(QUEUE_ITEMS + 2)])
        assert not watcher.go_hot(QUEUE_ITEMS + 1)
        assert watcher.go_hot(QUEUE_ITEMS + 2)


async def test_a_full_queue_holds_as_much_as_promised() -> None:
    """A watcher may be a whole queue behind before it loses anything."""
    feed = HotFeed()
    with feed.watch("r") as watcher:
        watcher.go_hot(0)
        feed.publish([event(seq) for seq in range(1, QUEUE_ITEMS + 1)])
        assert len(await watcher.take()) == QUEUE_ITEMS


async def test_a_late_watcher_gets_the_text_so_far_first() -> None:
    """A late watcher receives the complete partial text first, and then each new piece."""
    feed = HotFeed()
    for offset, text in ((0, "it "), (3, "is ")):
        feed.update(TextDelta("r", "s1", text, offset))
    with feed.watch("r") as watcher:
        watcher.go_hot(0)
        feed.update(TextDelta("r", "s1", "so", 6))
        assert await watcher.take() == (TextDelta("r", "s1", "it is ", 0), TextDelta("r", "s1", "so", 6))


async def test_the_text_so_far_is_given_once() -> None:
    """A watcher that becomes hot repeatedly receives only new items."""
    feed = HotFeed()
    feed.update(TextDelta("r", "s1", "it is", 0))
    with feed.watch("r") as watcher:
        assert watcher.go_hot(0)
        assert watcher.take_now() == (TextDelta("r", "s1", "it is", 0),)
        assert watcher.go_hot(0)
        assert watcher.take_now() == ()


async def test_text_that_starts_over_replaces_what_was_there() -> None:
    """A step that is asked again shows a late watcher its new text only."""
    feed = HotFeed()
    feed.update(TextDelta("r", "s1", "wrong", 0))
    feed.update(TextDelta("r", "s1", "right", 0))
    with feed.watch("r") as watcher:
        watcher.go_hot(0)
        assert await watcher.take() == (TextDelta("r", "s1", "right", 0),)


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        (StepEnded("s1", StepState.SUCCEEDED, StepMode.AGENT), ["", "s2"]),
        (AnswerComposed(Answer("done")), ["s1", "s2"]),
        (RunEnded(RunState.SUCCEEDED), []),
        (PassEnded(1), ["", "s1", "s2"]),
    ],
)
def test_text_is_kept_only_while_it_is_written(kind: EventKind, left: list[str]) -> None:
    """The text of a step is forgotten when the step has ended, the run's when the run has."""
    feed = HotFeed()
    for step_id in ("", "s1", "s2"):
        feed.update(TextDelta("r", step_id, "text", 0))
    feed.publish([event(1, kind)])
    assert [delta.step_id for delta in feed.texts_so_far("r")] == left


async def test_a_watcher_of_a_waiting_run_gets_its_place() -> None:
    """A new watcher gets the place of its run in the queue, and each new place once; a run that left has none."""
    feed = HotFeed()
    feed.show_queue(["first", "r"])
    with feed.watch("r") as watcher:
        watcher.go_hot(0)
        feed.show_queue(["first", "r", "last"])
        feed.show_queue(["r", "last"])
        assert await watcher.take() == (Queued("r", 1), Queued("r", 0))
    feed.show_queue(["last"])
    assert feed.live_state("r") == []


def test_kept_text_is_bounded() -> None:
    """Of an endless text only the newest part is kept, and it says where it starts."""
    feed = HotFeed()
    piece = "x" * 1024
    for number in range(100):
        feed.update(TextDelta("r", "s1", piece, number * len(piece)))
    (kept,) = feed.texts_so_far("r")
    assert len(kept.text) <= MAX_LIVE_CHARS
    assert kept.offset + len(kept.text) == 100 * len(piece)


async def test_closing_wakes_every_reader() -> None:
    """When the feed closes, a waiting watcher gets nothing instead of waiting for ever."""
    feed = HotFeed()
    with feed.watch("r") as watcher, anyio.fail_after(60):
        watcher.go_hot(0)
        async with anyio.create_task_group() as group:
            group.start_soon(watcher.take)
            await anyio.lowlevel.checkpoint()
            feed.close()
        assert await watcher.take() == ()


def test_an_unwatched_run_costs_nothing() -> None:
    """The last watcher to leave takes the run's place in the feed with it."""
    feed = HotFeed()
    with feed.watch("r"), feed.watch("r"):
        assert feed.watched_run_ids == ("r",)
    assert not feed.watched_run_ids


def test_a_listener_hears_everything_that_is_published() -> None:
    """A listener receives the events of every run, watched or not."""
    heard: list[Event] = []
    feed = HotFeed(heard.extend)
    feed.publish([event(1), event(2)])
    assert [one.seq for one in heard] == [1, 2]


def test_listeners_that_came_later_hear_too() -> None:
    """Each listener receives everything published after it was added, in order of addition."""
    heard: list[str] = []
    feed = HotFeed(lambda events: heard.append("first"))
    feed.publish([event(1)])
    feed.listen(lambda events: heard.append("second"))
    feed.publish([event(2)])
    assert heard == ["first", "first", "second"]


def test_one_who_watches_several_runs_is_woken_by_each() -> None:
    """Whatever a watcher gets wakes its owner, who takes what is there without waiting."""
    woken: list[str] = []
    feed = HotFeed()
    with feed.watch("r", lambda: woken.append("r")) as watcher:
        watcher.go_hot(0)
        assert watcher.take_now() == ()
        feed.publish([event(1)])
        assert [item.seq for item in watcher.take_now() if isinstance(item, Event)] == [1]
        feed.close()
    assert woken == ["r", "r"]
