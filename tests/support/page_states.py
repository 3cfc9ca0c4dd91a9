"""A client that delivers the states of the web page."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from aeond_client.errors import DataLossError, NoDaemonError, NotFoundError, UnavailableError
from aeond_client.events import (
    ApprovalDecided,
    Event,
    InputAnswered,
    Progress,
    Queued,
    StepResolved,
    TextDelta,
)
from aeond_client.records.daemon import DaemonStatus
from aeond_client.records.models import Engine
from aeond_client.records.runs import RefusedUndo, RunState, RunSummary, UndoneChange, UndoReport
from aeond_client.records.sessions import Session
from tests.support.page_runs import DIFFERS, EFFECTS, NOW, TEXT, Item, runs, summaries, talks

# What the daemon says of itself in each state.
MESSAGES = {
    "starting": ("The model is loading.",),
    "degraded": ("the engine is not running: it ended with status 1; run `aeond doctor`",),
}


@dataclass
class StatesClient:
    """Replaces AsyncClient: each state is a run of that name, whose events are delivered at once. An event of a run below
    comes with the id of that run.
    """

    kinds: Mapping[str, Sequence[Item]] = field(default_factory=runs)
    up: bool = True
    state: str = "ready"
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    """The calls that fail."""
    listed: Callable[[float], tuple[RunSummary, ...]] = summaries
    talks: Mapping[str, tuple[RunSummary, ...]] = field(default_factory=lambda: talks(NOW))
    """The runs of sessions, newest first."""
    now: Callable[[], float] = time.time
    _watches: list[tuple[asyncio.AbstractEventLoop, asyncio.Queue[Item]]] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        if not self.up:
            raise NoDaemonError("No daemon is listening.")
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    @asynccontextmanager
    async def watch(self, run_id: str, after_seq: int = 0, **_: Any) -> AsyncIterator[AsyncIterator[Event]]:
        queue: asyncio.Queue[Item] = asyncio.Queue()
        if run_id not in self.kinds:
            raise NotFoundError(f"run {run_id!r} does not exist: list the runs to see the existing ones")
        for item in self.kinds[run_id]:
            queue.put_nowait(item)
        watch = (asyncio.get_running_loop(), queue)

        async def events() -> AsyncIterator[Event]:
            seqs: Counter[str] = Counter()
            start = self.now() - 12
            while True:
                item = await queue.get()
                of, kind = item if isinstance(item, tuple) else (run_id, item)
                live = isinstance(kind, TextDelta | Progress | Queued)
                seqs[of] += not live
                seq = seqs[of]
                if live or of != run_id or seq > after_seq:
                    yield Event(of, 0 if live else seq, 0.0 if live else start + seq / 4, seq / 4, kind)

        self._watches.append(watch)
        yield events()
        self._watches.remove(watch)

    def happen(self, item: Item) -> None:
        """Delivers one more event to everyone who watches, from any thread."""
        for loop, queue in self._watches:
            loop.call_soon_threadsafe(queue.put_nowait, item)

    def _called(self, name: str, **given: Any) -> None:
        self.calls.append((name, given))
        self._fails(name)

    def _fails(self, name: str) -> None:
        if name in self.failing:
            raise UnavailableError(f"{name} failed.")

    async def answer_run(self, run_id: str, answer: Any, question_id: str) -> None:
        self._called("answer_run", run_id=run_id, answer=answer, question_id=question_id)
        self.happen((run_id, InputAnswered(question_id, answer)))

    async def decide_approval(
        self, run_id: str, approval_id: str, digest: str, approved: bool, scope: str
    ) -> None:
        self._called("decide_approval", run_id=run_id, digest=digest, approved=approved, scope=scope)
        self.happen((run_id, ApprovalDecided(approval_id, approved, scope=scope)))

    async def decide_run(self, run_id: str, resolution: str, step_id: str) -> None:
        self._called("decide_run", run_id=run_id, resolution=str(resolution), step_id=step_id)
        self.happen((run_id, StepResolved(str(resolution), step_id)))

    async def create_session(self, **_: Any) -> Session:
        return Session("session-1")

    async def create_run(self, text: str, options: Any, **more: Any) -> Any:
        self.calls.append(("create_run", {"text": text, **more}))
        raise UnavailableError("No daemon is listening.")

    async def list_runs(self, *, session_id: str = "", limit: int) -> tuple[RunSummary, ...]:
        self._fails("list_runs")
        return self.talks.get(session_id, ()) if session_id else self.listed(self.now())[:limit]

    async def list_sessions(self, **_: Any) -> tuple[Session, ...]:
        now = self.now()
        return tuple(
            Session(f"session-{at}", title, now - at * 4000, now - at * 3000, 4, at)
            for at, title in enumerate((TEXT, "Photos of last weekend", "Papers"), start=1)
        )

    async def undo_run(self, run_id: str) -> UndoReport:
        self._fails("undo_run")
        if run_id == "cancelled-changes":
            refused = RefusedUndo("report.md", "CHANGED_SINCE", "it was changed since: restore it by hand")
            return UndoReport((UndoneChange(EFFECTS[1].target, "removed"),), (refused,))
        return UndoReport(tuple(UndoneChange(effect.target, "restored") for effect in EFFECTS))

    async def replay_run(self, run_id: str, until_seq: int = 0) -> AsyncIterator[int]:
        for seq in range(1, len(self.kinds[run_id]) + 1):
            if run_id == "differs" and seq == 14:
                raise DataLossError(DIFFERS, reason="REPLAY_MISMATCH")
            yield seq

    async def fork_run(self, run_id: str, after_seq: int, options: Any, *, request_id: str) -> RunSummary:
        self._called("fork_run", run_id=run_id, after_seq=after_seq, request_id=request_id)
        return RunSummary("fork", RunState.RUNNING, TEXT, self.now(), self.now(), 1)

    async def get_status(self) -> DaemonStatus:
        engine = Engine(self.state, "qwen3-4b")
        return DaemonStatus(
            "0.1.0", self.state, 4711, self.now(), 60.0, engine, messages=MESSAGES.get(self.state, ())
        )
