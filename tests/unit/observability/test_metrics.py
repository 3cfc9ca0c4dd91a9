"""The metrics of a daemon with a journal."""

from dataclasses import dataclass

from aeond.domain.daemons import DaemonSnapshot, DaemonState
from aeond.domain.runs.events import Event
from aeond.observability.families import Export
from aeond.observability.metrics import Metrics
from tests.support.golden import golden_journals
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.metrics_page import OPENMETRICS, samples
from tests.support.transcripts import read_lines

ASKED = next(story for story in golden_journals() if story.name == "0.2.0-approved")


@dataclass
class SomeClients:
    connections: int = 2
    streams: int = 1


async def status() -> DaemonSnapshot:
    return DaemonSnapshot("1", DaemonState.READY, pid=1, started_time=0.0, uptime_seconds=0.0)


async def journal_until(kind: str) -> tuple[InMemoryJournal, list[Event]]:
    """A journal with the recorded run up to its first event of this kind, and the events after it."""
    events = list(read_lines(ASKED.lines))
    cut = next(place for place, event in enumerate(events, 1) if type(event.kind).__name__ == kind)
    journal = InMemoryJournal()
    await journal.append(events[:cut])
    return journal, events[cut:]


async def test_open_approvals_of_an_earlier_daemon_are_shown() -> None:
    """After a restart the page shows the approval that a run still waits for, and counts nothing of the past."""
    journal, rest = await journal_until("ApprovalRequested")
    metrics = Metrics()
    await metrics.recall(journal)
    page = metrics.page_of(journal, status, SomeClients(), Export)
    found = samples((await page(OPENMETRICS))[1].decode())
    assert found["aeond_approvals_open"] == 1
    assert found['aeond_approvals_total{event="requested"}'] == 0
    assert found['aeond_runs{state="awaiting_input"}'] == 1
    assert found["aeond_stream_subscribers"] == 1
    await journal.append(rest)
    for event in rest:
        metrics.counts.hear([event])
    found = samples((await page(OPENMETRICS))[1].decode())
    assert found["aeond_approvals_open"] == 0
    assert found['aeond_approvals_total{event="approved"}'] == 1
    assert found['aeond_runs{state="awaiting_input"}'] == 0


async def test_ended_runs_are_not_read_again() -> None:
    """Runs that have ended leave nothing to take note of."""
    journal = InMemoryJournal()
    await journal.append(list(read_lines(ASKED.lines)))
    metrics = Metrics()
    await metrics.recall(journal)
    assert metrics.counts.open_approvals == 0
    assert metrics.counts.ended == {}
