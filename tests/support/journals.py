"""Journals to test with, and events to put into them.

Import the fixture `journal` for a test over every implementation, or `sqlite_journal` for the one on disk.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.journal.encoding import encode
from aeond.capabilities.journal.projection import parts_of
from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.capabilities.journal.writer.changes import Append
from aeond.daemon.clocks import SystemClock
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.events import (
    Event,
    EventKind,
    RunCreated,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)
from aeond.domain.runs.run import Owner, RunRequest, RunState
from aeond.domain.tools import Recovery, ToolCall
from aeond.domain.values import JsonValue
from aeond.observability.histogram import SHORT, Histogram
from aeond.observability.timed_journal import TimedJournal
from aeond.ports import Journal
from tests.support.in_memory_journal import InMemoryJournal

# Small, so that a test costs no more disk than it needs.
RESERVE_BYTES = 64 << 10


def journal_in(folder: Path, **options: Any) -> SqliteJournal:
    """A journal on disk, not yet entered."""
    return SqliteJournal(folder / "journal.db", **{"reserve_bytes": RESERVE_BYTES, **options})


@pytest.fixture
async def sqlite_journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    async with journal_in(tmp_path) as journal:
        yield journal


@pytest.fixture(params=["in_memory", "sqlite", "timed"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
    if request.param == "in_memory":
        yield InMemoryJournal()
        return
    if request.param == "timed":
        yield TimedJournal(InMemoryJournal(), SystemClock(), Histogram(SHORT))
        return
    async with journal_in(tmp_path) as on_disk:
        yield on_disk


def event(run_id: str, seq: int, kind: EventKind, time: float | None = None) -> Event:
    return Event(run_id, seq, float(seq) if time is None else time, seq / 10, kind)


def beginning(
    run_id: str,
    text: str = "add one and one",
    *,
    uid: int = 1000,
    request_id: str = "",
    session_id: str = "",
    time: float | None = None,
) -> list[Event]:
    """A run that was created and started: events 1 and 2."""
    request = RunRequest(text, request_id=request_id, session_id=session_id, owner=Owner(uid, 7))
    return [event(run_id, 1, RunCreated(request, Budget()), time), event(run_id, 2, RunStarted(), time)]


def step_turn(run_id: str, seq: int, output: JsonValue = None) -> list[Event]:
    """The events of one step in a chain: the end of one and the start of the next, with numbers `seq` and
    `seq` + 1."""
    ended = StepEnded(
        f"s{seq}", StepState.SUCCEEDED, StepMode.TOOL, output, used=Amounts(ttl=1, tool_calls=1)
    )
    step = PlanStep(f"s{seq + 1}", "add them", ToolCall("calculator", {"expression": "1 + 1"}, f"c{seq}"))
    started = StepStarted(step, 1, StepMode.TOOL, Recovery.RERUN, Amounts(ttl=1, tool_calls=1))
    return [event(run_id, seq, ended), event(run_id, seq + 1, started)]


def ending(run_id: str, seq: int, state: RunState = RunState.SUCCEEDED, time: float | None = None) -> Event:
    return event(run_id, seq, RunEnded(state), time)


def append_of(*events: Event) -> Append:
    """The change that appends these events."""
    rows = [encode(each) for each in events]
    return Append(parts_of(events), rows, sum(len(row.body) for row in rows))


async def all_events(journal: Journal, run_id: str) -> list[Event]:
    """Every event of a run, page after page."""
    events: list[Event] = []
    while page := await journal.read(run_id, events[-1].seq if events else 0):
        events += page
    return events
