"""Showing what the engine does to those who watch runs."""

from collections.abc import Sequence

import pytest

from aeond.domain.llm import EngineSnapshot, EngineState
from aeond.domain.runs.events import Event
from aeond.domain.runs.live_updates import LiveUpdate, Progress
from aeond.service.watching.engine_progress import EngineProgress
from aeond.service.watching.feed import HotFeed, Watcher
from tests.support.settable_engine import SettableEngine


async def shown_to(watcher: Watcher) -> Sequence[Event | LiveUpdate]:
    watcher.nudge()
    return await watcher.take()


async def test_a_starting_engine_is_shown_to_every_watched_run() -> None:
    """Every watcher of a run sees the engine's activity and progress."""
    engine, feed = SettableEngine(), HotFeed()
    with feed.watch("a") as first, feed.watch("b") as second:
        first.go_hot(0)
        second.go_hot(0)
        EngineProgress(engine, feed).look()
        assert await shown_to(first) == (Progress("a", "", "downloading the model", 0.25),)
        assert await shown_to(second) == (Progress("b", "", "downloading the model", 0.25),)


async def test_how_far_an_engine_is_need_not_be_known() -> None:
    """A start that tells no progress is shown without a figure, and not as nothing done."""
    engine, feed = SettableEngine(), HotFeed()
    engine.state = EngineSnapshot(EngineState.STARTING, "tiny", "loading")
    with feed.watch("a") as watcher:
        watcher.go_hot(0)
        EngineProgress(engine, feed).look()
        assert await shown_to(watcher) == (Progress("a", "", "loading the model", -1.0),)


async def test_the_end_of_a_start_is_shown_once() -> None:
    """When the engine is ready, watchers receive one final update."""
    engine, feed = SettableEngine(), HotFeed()
    showing = EngineProgress(engine, feed)
    showing.look()
    engine.state = EngineSnapshot(EngineState.READY, "tiny")
    with feed.watch("a") as watcher:
        watcher.go_hot(0)
        showing.look()
        showing.look()
        assert await shown_to(watcher) == (Progress("a", "", "", -1.0),)


@pytest.mark.parametrize("state", [state for state in EngineState if state is not EngineState.STARTING])
async def test_an_engine_at_rest_is_not_shown(state: EngineState) -> None:
    """No watcher hears of an engine that is ready, cold, asleep or dead."""
    engine, feed = SettableEngine(), HotFeed()
    engine.state = EngineSnapshot(state)
    with feed.watch("a") as watcher:
        watcher.go_hot(0)
        EngineProgress(engine, feed).look()
        assert await shown_to(watcher) == ()
