"""The hot side of a stream: what just happened, for those who watch right now.

A watcher is *cold* while it reads the journal and *hot* once it has reached what its queue begins with:
at most 256 items of what happened since it came. When the queue is full it is dropped and the watcher
is cold again: the journal has everything that mattered. So neither a slow client nor a stopped one costs
more than one queue, and publishing never waits for anybody.

Text that a model is writing is in no journal. The newest part of it is kept while it is being written,
so that whoever comes late, or fell behind, starts with the text so far.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import anyio

from aeond.domain.events import (
    AnswerComposed,
    Event,
    LiveUpdate,
    Progress,
    RunEnded,
    RunParked,
    RunSuspended,
    StepEnded,
    TextDelta,
)
from aeond.ports import ProgressSink, TextSink

QUEUE_ITEMS = 256
MAX_LIVE_CHARS = 64 * 1024


class LiveText:
    """The text that a step is writing: the newest `MAX_LIVE_CHARS` characters of it, and where they start."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        self._start = 0
        self._length = 0

    def add(self, delta: TextDelta) -> None:
        if delta.offset != self._start + self._length:
            self._pieces.clear()
            self._start, self._length = delta.offset, 0
        self._pieces.append(delta.text)
        self._length += len(delta.text)
        while self._length > MAX_LIVE_CHARS and len(self._pieces) > 1:
            oldest = self._pieces.popleft()
            self._start += len(oldest)
            self._length -= len(oldest)

    def so_far(self, run_id: str, step_id: str) -> TextDelta:
        return TextDelta(run_id, step_id, "".join(self._pieces), self._start)


Wake = Callable[[], None]


def _asleep() -> None:
    """Wakes nobody but who waits for items."""


class Watcher:
    """One client's place at the hot side of one run. Made by `HotFeed.watch`; one task at a time waits on it."""

    def __init__(self, run_id: str, feed: "HotFeed", wake: Wake) -> None:
        self._run_id = run_id
        self._wake = wake
        self._feed = feed
        self._queue: deque[Event | LiveUpdate] = deque()
        self._newest_seq = 0
        self._lost_until = 0  # events up to this one were dropped: only the journal has them
        self._overflowed = False
        self._hot = False
        self._news = anyio.Event()

    @property
    def hot(self) -> bool:
        """Whether everything that happens reaches the queue; if not, the journal is to be read first."""
        return self._hot

    def go_hot(self, cursor: int) -> bool:
        """Goes on from the queue, with the text so far, unless it lacks events after `cursor`; does nothing
        when the watcher is hot already."""
        if self._overflowed:  # from now on the queue has everything again
            self._overflowed, self._lost_until = False, self._newest_seq
        if cursor < self._lost_until:
            return False
        if not self._hot:
            self._queue.extend(self._feed.texts_so_far(self._run_id))
        self._hot = True
        return True

    async def take(self) -> Sequence[Event | LiveUpdate]:
        """All that is at hand, once there is something; empty when the watcher has fallen behind, was
        nudged, or the feed has closed."""
        if self._hot and not self._queue and not self._feed.closed:
            await self._news.wait()
        if self._news.is_set():
            self._news = anyio.Event()
        return self.take_now()

    def take_now(self) -> Sequence[Event | LiveUpdate]:
        """All that is at hand, without waiting for it."""
        items = tuple(self._queue)
        self._queue.clear()
        return items

    def push(self, item: Event | LiveUpdate) -> None:
        """Queues an item if there is room; falls behind if there is not."""
        if isinstance(item, Event):
            self._newest_seq = item.seq
        elif not self._hot:  # a cold watcher gets the text so far when it goes hot
            return
        if self._overflowed:
            return
        if len(self._queue) >= QUEUE_ITEMS:
            self._queue.clear()
            self._overflowed, self._hot = True, False
        else:
            self._queue.append(item)
        self.nudge()

    def nudge(self) -> None:
        """Ends the wait for items, whether there are any or not."""
        self._news.set()
        self._wake()


Listener = Callable[[Sequence[Event]], None]


def unheard(_events: Sequence[Event]) -> None:
    """Listens to nothing."""


class HotFeed:
    """Implements the Feed port for any number of watchers within this process.

    `listener` is told of everything that is published, before any watcher; it must not raise.
    """

    def __init__(self, listener: Listener = unheard) -> None:
        self._listeners = [listener]
        self._watchers: dict[str, set[Watcher]] = {}
        self._texts: dict[str, dict[str, LiveText]] = {}
        self._heads: dict[str, int] = {}  # of runs that go on: the newest event that was published
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def watched_run_ids(self) -> tuple[str, ...]:
        """The runs that are watched by anybody."""
        return tuple(self._watchers)

    def listen(self, listener: Listener) -> None:
        """Tells one more of everything that is published from now on, after those told already."""
        self._listeners.append(listener)

    def close(self) -> None:
        """Wakes everyone who waits; from now on there is nothing to wait for."""
        self._closed = True
        for run_id in self._watchers:
            self.nudge(run_id)

    def nudge(self, run_id: str) -> None:
        """Has everyone who waits for news of this run look again."""
        for watcher in self._watchers.get(run_id, ()):
            watcher.nudge()

    @contextmanager
    def watch(self, run_id: str, wake: Wake = _asleep) -> Iterator[Watcher]:
        """A cold watcher of this run. It misses nothing that is published from now on; `wake` is called
        whenever it has something."""
        watcher = Watcher(run_id, self, wake)
        watchers = self._watchers.setdefault(run_id, set())
        watchers.add(watcher)
        try:
            yield watcher
        finally:
            watchers.discard(watcher)
            if not watchers:
                self._watchers.pop(run_id, None)

    def publish(self, events: Sequence[Event]) -> None:
        for listener in self._listeners:
            listener(events)
        for event in events:
            for watcher in self._watchers.get(event.run_id, ()):
                watcher.push(event)
            self._heads[event.run_id] = event.seq
            self._forget_what_ended(event)

    def head(self, run_id: str) -> int:
        """How far a run that goes on has come, as far as it was published; 0 for one that does not, or of
        which nothing was published here."""
        return self._heads.get(run_id, 0)

    def update(self, update: LiveUpdate) -> None:
        if isinstance(update, TextDelta):
            texts = self._texts.setdefault(update.run_id, {})
            texts.setdefault(update.step_id, LiveText()).add(update)
        for watcher in self._watchers.get(update.run_id, ()):
            watcher.push(update)

    def text_sink(self, run_id: str, step_id: str) -> TextSink:
        offset = 0

        def show(text: str) -> None:
            nonlocal offset
            offset = offset if text else 0
            self.update(TextDelta(run_id, step_id, text, offset))
            offset += len(text)

        return show

    def progress_sink(self, run_id: str) -> ProgressSink:
        return lambda activity, fraction: self.update(Progress(run_id, "", activity, fraction))

    def texts_so_far(self, run_id: str) -> list[TextDelta]:
        """What the steps of this run have written up to now, one piece for each that is still writing."""
        return [text.so_far(run_id, step_id) for step_id, text in self._texts.get(run_id, {}).items()]

    def _forget_what_ended(self, event: Event) -> None:
        match event.kind:
            case StepEnded(step_id=step_id):
                self._texts.get(event.run_id, {}).pop(step_id, None)
            case AnswerComposed():
                self._texts.get(event.run_id, {}).pop("", None)
            case RunEnded() | RunParked() | RunSuspended():
                self._texts.pop(event.run_id, None)
                self._heads.pop(event.run_id, None)
            case _:
                pass
