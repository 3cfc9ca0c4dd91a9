"""Follows a run's events across disconnections: the next expected event, and the delay before reconnecting.

Contains no I/O, so that the async and the sync client share it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from aeond_client.connection.retries import CHANCE, Retries
from aeond_client.errors import AeondError, TimedOutError, UnavailableError
from aeond_client.events import ChildRunEnded, ChildRunStarted, Event, RunEnded

# Longer than a restart of the daemon by systemd, shorter than a person waits.
PATIENCE_SECONDS = 60.0
# Probing a socket costs microseconds: reconnect soon after the daemon is back.
PROBES = Retries(first_seconds=0.02, longest_seconds=0.25)
# A stream is renewed at this interval, so that even a hanging daemon is noticed.
STREAM_SECONDS = 600.0
# A stream that lived this long worked; what follows it is a new outage.
SETTLED_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Outage:
    """The connection to the daemon was lost during a watch.

    `waited_seconds` of `patience_seconds` have passed; the next attempt follows after `wait_seconds` and
    resumes after `last_seq`.
    """

    run_id: str
    last_seq: int
    error: AeondError
    waited_seconds: float
    patience_seconds: float
    wait_seconds: float


OutageListener = Callable[[Outage | None], None]
"""Called for every failed attempt during an outage, and with None after reconnecting."""


def unheard(_outage: Outage | None) -> None:
    """A callback that ignores outages."""


class Follower:
    """The position of one watcher: the events received so far, and the current outage, if any."""

    def __init__(
        self,
        run_id: str,
        *,
        after_seq: int,
        children: bool = False,
        patience_seconds: float,
        on_outage: OutageListener,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = CHANCE,
    ) -> None:
        self.run_id = run_id
        self.last_seq = after_seq
        self.ended = False
        self._first_seq = after_seq
        self._children = children
        self._child_seqs: dict[str, int] = {}
        self._run_ended = False
        self._open: set[str] = set()  # runs below that have started and not ended
        self._patience_seconds = patience_seconds
        self._on_outage = on_outage
        self._clock = clock
        self._chance = chance
        self._lost_at: float | None = None
        self._attached_at: float | None = None
        self._tries = 0
        self._told = False

    def attached(self) -> None:
        """A stream is open, which ends the outage for the user. The patience is restored only by a new event
        or by a stream that lasts, so that a daemon that opens and drops streams is not followed for ever.
        """
        self._attached_at = self._clock()
        if self._told:
            self._told = False
            self._on_outage(None)

    def accept(self, event: Event) -> bool:
        """Whether to return the event: each numbered event once and in order, live updates always.

        Raises UnavailableError (reason EVENTS_MISSING) if an event in between is missing: the stream must be
        dropped and reopened.
        """
        if event.seq == 0:
            return True
        own = event.run_id == self.run_id or not self._children
        last_seq = self.last_seq if own else self._child_seqs.get(event.run_id, 0)
        if event.seq <= last_seq:
            return False
        if event.seq != last_seq + 1:
            raise UnavailableError(
                f"The stream jumped from event {last_seq} to {event.seq}.", reason="EVENTS_MISSING"
            )
        if own:
            self.last_seq = event.seq
        else:
            self._child_seqs[event.run_id] = event.seq
        self._lost_at = None
        self._tries = 0
        self._note_life(event, own=own)
        return True

    @property
    def child_seqs(self) -> dict[str, int] | None:
        """The resume positions in runs below; None if only this run is followed."""
        return self._child_seqs if self._children else None

    def stream_ended(self) -> None:
        """The daemon ended the stream. UnavailableError if events are missing: the run may have ended before
        the start of this watch, but not later without an event.
        """
        if not self._run_ended and not 0 < self._first_seq == self.last_seq:
            raise UnavailableError("The stream ended before the run did.", reason="STREAM_ENDED")
        self.ended = True

    def _note_life(self, event: Event, *, own: bool) -> None:
        match event.kind:
            case RunEnded() if own:
                self._run_ended = True
            case RunEnded():
                self._open.discard(event.run_id)
            case ChildRunStarted(child_run_id=child_run_id) if self._children:
                self._open.add(child_run_id)
            case ChildRunEnded(child_run_id=child_run_id):
                self._open.discard(child_run_id)
                self._child_seqs.pop(child_run_id, None)
            case _:
                pass
        self.ended = self._run_ended and not self._open

    def lost(self, error: AeondError) -> float:
        """The stream, or an attempt to open one, failed; returns the delay before the next attempt in
        seconds.

        Raises the error when the patience is exhausted.
        """
        now = self._clock()
        lasted = self._attached_at is not None and now - self._attached_at >= SETTLED_SECONDS
        self._attached_at = None
        if self._lost_at is None or lasted:
            self._lost_at, self._tries = now, 0
        if lasted and isinstance(error, TimedOutError):
            return 0.0  # our own renewal of a working stream
        self._tries += 1
        waited = now - self._lost_at
        if waited >= self._patience_seconds:
            raise error
        wait = PROBES.wait_seconds(self._tries, chance=self._chance, asked_seconds=error.retry_after_seconds)
        wait = min(wait, self._patience_seconds - waited)
        self._told = True
        self._on_outage(Outage(self.run_id, self.last_seq, error, waited, self._patience_seconds, wait))
        return wait
