"""Following a run's events over losses: which event is next, and how long to wait for a lost daemon.

Knows no channel and waits for nothing, so that the async and the sync client share it.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from aeond_client.errors import AeondError, TimedOutError, UnavailableError
from aeond_client.events import ChildRunEnded, ChildRunStarted, Event, RunEnded
from aeond_client.retries import Retries

# Longer than a restart of the daemon by systemd takes, shorter than a person waits.
PATIENCE_SECONDS = 60.0
# Looking at a socket costs microseconds: be there soon after the daemon is back.
PROBES = Retries(first_seconds=0.02, longest_seconds=0.5)
# A stream is renewed this often, so that even a daemon that hangs is noticed.
STREAM_SECONDS = 600.0
# A stream that lived this long was no accident: what comes after it is a new outage.
SETTLED_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Outage:
    """The daemon went away in the middle of a watch, and what is being done about it.

    `waited_seconds` of `patience_seconds` have gone by; the next try comes after `wait_seconds` and asks
    for what follows `last_seq`.
    """

    run_id: str
    last_seq: int
    error: AeondError
    waited_seconds: float
    patience_seconds: float
    wait_seconds: float


OutageListener = Callable[[Outage | None], None]
"""Is told of every failed try during an outage, and None when the watch is attached again."""


def unheard(_outage: Outage | None) -> None:
    """For those who do not want to be told."""


class Follower:
    """Where one watcher stands: the events seen so far, and the outage it is in, if any."""

    def __init__(
        self,
        run_id: str,
        *,
        after_seq: int,
        children: bool = False,
        patience_seconds: float,
        on_outage: OutageListener,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.run_id = run_id
        self.last_seq = after_seq
        self.ended = False
        self._first_seq = after_seq
        self._children = children
        self._child_seqs: dict[str, int] = {}
        self._run_ended = False
        self._open: set[str] = set()  # runs below that have begun and not ended
        self._patience_seconds = patience_seconds
        self._on_outage = on_outage
        self._clock = clock
        self._chance = chance
        self._lost_at: float | None = None
        self._attached_at: float | None = None
        self._tries = 0
        self._told = False

    def attached(self) -> None:
        """A stream is open. The outage is over for the user; our patience is restored only by a new event
        or by a stream that lasts, so that a daemon that opens and drops streams is not followed for ever.
        """
        self._attached_at = self._clock()
        if self._told:
            self._told = False
            self._on_outage(None)

    def accept(self, event: Event) -> bool:
        """Whether the event is to be handed on: each numbered one once and in order, live ones always.

        Raises UnavailableError (reason EVENTS_MISSING) when one is missing in between: the stream is to be
        dropped and asked again.
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
        """Where to go on in runs below; None when only this one is followed."""
        return self._child_seqs if self._children else None

    def stream_ended(self) -> None:
        """The daemon says that there is nothing more. UnavailableError when there must be: a run may have ended
        before the place where this watch began, but not without a word after it."""
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
        """The stream, or a try to open one, failed: how many seconds to wait before the next try.

        Raises the error when the patience is spent.
        """
        now = self._clock()
        lasted = self._attached_at is not None and now - self._attached_at >= SETTLED_SECONDS
        self._attached_at = None
        if self._lost_at is None or lasted:
            self._lost_at, self._tries = now, 0
        if lasted and isinstance(error, TimedOutError):
            return 0.0  # our own renewal of a stream that worked
        self._tries += 1
        waited = now - self._lost_at
        if waited >= self._patience_seconds:
            raise error
        wait = PROBES.wait_seconds(self._tries, chance=self._chance, asked_seconds=error.retry_after_seconds)
        wait = min(wait, self._patience_seconds - waited)
        self._told = True
        self._on_outage(Outage(self.run_id, self.last_seq, error, waited, self._patience_seconds, wait))
        return wait
