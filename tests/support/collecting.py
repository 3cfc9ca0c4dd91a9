"""Runs watched to their end: by a client in a thread of its own, over every restart, or by asyncio."""

import threading
from collections.abc import Callable
from typing import Self

from aeond_client import AsyncClient
from aeond_client.client import Client
from aeond_client.events import Event, EventKind, Progress, Queued, RunEnded, TextDelta
from aeond_client.records.runs import Run

DEADLINE_SECONDS = 180.0


class Collector:
    """Everything that one watcher of a run received, in order."""

    def __init__(self, socket: str, run_id: str) -> None:
        self._socket = socket
        self._run_id = run_id
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self.events: list[Event] = []
        self.error: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        assert self.wait(lambda seen: bool(seen.events)), "nothing came"
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(0 if self._thread.is_alive() and not self.has_ended else DEADLINE_SECONDS)

    def _collect(self) -> None:
        try:
            with (
                Client(self._socket) as client,
                client.watch(self._run_id, patience_seconds=DEADLINE_SECONDS) as events,
            ):
                for event in events:
                    with self._news:
                        self.events.append(event)
                        self._news.notify_all()
        except Exception as error:  # noqa: BLE001 - raised in the waiting task
            with self._news:
                self.error = error
                self._news.notify_all()

    @property
    def numbered(self) -> list[Event]:
        """The journaled events: no live updates."""
        return [event for event in self.events if not isinstance(event.kind, TextDelta | Progress | Queued)]

    @property
    def seqs(self) -> list[int]:
        return [event.seq for event in self.numbered]

    @property
    def has_ended(self) -> bool:
        return self.has(RunEnded)

    def has(self, kind: type[EventKind]) -> bool:
        """Whether the watcher received an event of this kind."""
        return any(isinstance(event.kind, kind) for event in self.events)

    def text_of(self, step_id: str) -> str:
        """The text of a step as a client that follows the offsets displays it."""
        text = ""
        for event in self.events:
            if isinstance(event.kind, TextDelta) and event.kind.step_id == step_id:
                text = text[: event.kind.offset] + event.kind.text
        return text

    def wait(self, reached: Callable[[Self], bool], deadline_seconds: float = DEADLINE_SECONDS) -> bool:
        """Whether it came true within the deadline; fails when the watcher failed."""
        with self._news:
            came = self._news.wait_for(lambda: self.error is not None or reached(self), deadline_seconds)
        assert self.error is None, f"the watcher failed: {self.error!r}"
        return came

    def wait_for(self, kind: type[EventKind], deadline_seconds: float = DEADLINE_SECONDS) -> None:
        """Returns once the watcher received an event of this kind."""
        came = self.wait(lambda seen: seen.has(kind), deadline_seconds)
        assert came, f"no {kind.__name__}: {self.events[-3:]}"

    def wait_for_end(self, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self.wait_for(RunEnded, deadline_seconds)


async def ended(client: AsyncClient, run_id: str) -> Run:
    """The run, once it has ended."""
    async with client.watch(run_id) as events:
        assert [event async for event in events if isinstance(event.kind, RunEnded)]
    return await client.get_run(run_id)
