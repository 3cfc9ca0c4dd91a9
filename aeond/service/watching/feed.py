"""The live side of a stream: new events for clients that are watching.

A watcher is *cold* while it reads the journal and *hot* once it has reached the start of its queue, which
holds at most 256 items. A full queue is dropped and the watcher is cold again: the journal has every event. A
slow or stopped client therefore costs at most one queue, and publishing never waits.

Partial text is not journaled. The newest part is kept while the text is being generated, so that a late or
slow watcher starts with the text so far.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import anyio

from aeond.domain.runs.events import AnswerComposed, Event, RunEnded, RunParked, RunSuspended, StepEnded
from aeond.domain.runs.live_updates import LiveUpdate, Progress, Queued, TextDelta
from aeond.ports import ProgressSink, TextSink

QUEUE_ITEMS = 256
MAX_LIVE_CHARS = 64 * 1024


class LiveText:
    """The text that a step is generating: its newest `MAX_LIVE_CHARS` characters, and their offset."""

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
    """An event that wakes only the task waiting for items."""


class Watcher:
    """One client's view of the live side of one run. Created by `HotFeed.watch`; one task at a time waits on
    it.
    """

    def __init__(self, run_id: str, feed: "HotFeed", wake: Wake, attends: bool) -> None:
        self.attends = attends
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
        """Whether the queue receives every event; if not, the journal must be read first."""
        return self._hot

    def go_hot(self, cursor: int) -> bool:
        """Continues from the queue, with the text so far, unless the queue lacks events after `cursor`. Does
        nothing if the watcher is hot already.
        """
        if self._overflowed:  # from now on the queue is complete again
            self._overflowed, self._lost_until = False, self._newest_seq
        if cursor < self._lost_until:
            return False
        if not self._hot:
            self._queue.extend(self._feed.live_state(self._run_id))
        self._hot = True
        return True

    async def take(self) -> Sequence[Event | LiveUpdate]:
        """Waits for items and returns all of them; empty if the watcher has fallen behind, was nudged, or the
        feed has closed.
        """
        if self._hot and not self._queue and not self._feed.closed:
            await self._news.wait()
        if self._news.is_set():
            self._news = anyio.Event()
        return self.take_now()

    def take_now(self) -> Sequence[Event | LiveUpdate]:
        """All available items, without waiting."""
        items = tuple(self._queue)
        self._queue.clear()
        return items

    def push(self, item: Event | LiveUpdate) -> None:
        """Queues an item if there is space; otherwise falls behind."""
        if isinstance(item, Event):
            self._newest_seq = item.seq
        elif not self._hot:  # a cold watcher receives the text so far when it becomes hot
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
        """Ends the wait for items, even if there are none."""
        self._news.set()
        self._wake()


Listener = Callable[[Sequence[Event]], None]


def unheard(_events: Sequence[Event]) -> None:
    """A listener that ignores everything."""


class HotFeed:
    """Implements the Feed port for any number of watchers in this process.

    `listener` is called with everything that is published, before any watcher; it must not raise.
    """

    def __init__(self, listener: Listener = unheard) -> None:
        self._listeners = [listener]
        self._watchers: dict[str, set[Watcher]] = {}
        self._texts: dict[str, dict[str, LiveText]] = {}
        self._places: dict[str, Queued] = {}
        self._heads: dict[str, int] = {}  # for running runs: the newest published event
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def watched_run_ids(self) -> tuple[str, ...]:
        """The runs that have watchers."""
        return tuple(self._watchers)

    def listen(self, listener: Listener) -> None:
        """Adds a listener, called after the existing ones."""
        self._listeners.append(listener)

    def close(self) -> None:
        """Wakes all waiting tasks and ends the feed."""
        self._closed = True
        for run_id in self._watchers:
            self.nudge(run_id)

    def nudge(self, run_id: str) -> None:
        """Wakes all watchers of this run."""
        for watcher in self._watchers.get(run_id, ()):
            watcher.nudge()

    def attended(self, run_id: str) -> bool:
        """Whether a client watches this run."""
        return any(watcher.attends for watcher in self._watchers.get(run_id, ()))

    @contextmanager
    def watch(self, run_id: str, wake: Wake = _asleep, *, attends: bool = False) -> Iterator[Watcher]:
        """Creates a cold watcher of this run. It receives everything published from now on; `wake` is called
        whenever it has an item. `attends` says that it watches for a client.
        """
        watcher = Watcher(run_id, self, wake, attends)
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
        """The last published sequence number of a running run; 0 if it is not running or has not published
        here.
        """
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

    def show_queue(self, run_ids: Iterable[str]) -> None:
        """Shows the watchers of the runs in the queue their new places. `run_ids` is the whole queue, in order."""
        before = self._places
        self._places = {run_id: Queued(run_id, ahead) for ahead, run_id in enumerate(run_ids)}
        for run_id, place in self._places.items():
            if place != before.get(run_id):
                self.update(place)

    def live_state(self, run_id: str) -> list[LiveUpdate]:
        """The live updates for a new watcher: the run's place in the queue, and the text so far."""
        place = self._places.get(run_id)
        return [*([place] if place else ()), *self.texts_so_far(run_id)]

    def texts_so_far(self, run_id: str) -> list[TextDelta]:
        """The partial text of this run's steps, one piece for each step that is still generating."""
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
