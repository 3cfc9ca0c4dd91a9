"""The metrics of a daemon with a journal."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import pytest
from prometheus_client.parser import text_string_to_metric_families

from aeond.domain.daemons import DaemonLoad, DaemonSnapshot, DaemonState
from aeond.domain.llm import EngineMetrics, EngineSnapshot, EngineState
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.events import Event, StepEnded
from aeond.domain.runs.run import RunState
from aeond.observability.families import FAMILIES, Export, Reading
from aeond.observability.histogram import SHORT, Histogram
from aeond.observability.metrics import Metrics, page
from aeond.observability.run_counts import RunCounts
from aeond.state_machine.transitions import STEP_TRANSITIONS
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


# Values of labels from outside the daemon would let the page grow without bound.
MAX_SERIES = 1_200


def reading() -> Reading:
    """One of a daemon that has worked on every recorded run."""
    counts, commits = RunCounts(), Histogram(SHORT)
    states: Counter[RunState] = Counter()
    for story in golden_journals():
        for event in read_lines(story.lines):
            counts.hear([event])
            commits.observe(0.002)
        states[RunState.SUCCEEDED] += 1
    daemon = DaemonSnapshot(
        "1.2.3",
        DaemonState.READY,
        pid=1,
        started_time=1.0,
        uptime_seconds=2.0,
        engine=EngineSnapshot(EngineState.READY, "a-model", restarts=3),
        load=DaemonLoad(running_runs=2, waiting_runs=5, max_running_runs=8, max_waiting_runs=256),
        metrics=EngineMetrics(running_requests=1, prompt_tokens=100, tokens_per_second=12.5),
        messages=("a problem",),
    )
    return Reading(counts, daemon, states, commits, connections=4, streams=3, spans=Export(7, 1))


def test_the_page_is_valid_openmetrics() -> None:
    """Prometheus's own parser accepts the page, and finds the values that were read."""
    content_type, content = page(reading(), OPENMETRICS)
    found = samples(content.decode())
    assert content_type.startswith("application/openmetrics-text")
    assert found['aeond_runs{state="succeeded"}'] == len(golden_journals())
    assert found['aeond_runs{state="failed"}'] == 0
    assert found["aeond_runs_active"] == 2
    assert found["aeond_runs_queued"] == 5
    assert found["aeond_stream_subscribers"] == 3
    assert found["aeond_engine_restarts_total"] == 3
    assert found['aeond_engine_state{state="ready"}'] == 1
    assert found['aeond_engine_state{state="dead"}'] == 0
    assert found["aeond_commit_seconds_count"] == sum(len(story.lines) for story in golden_journals())
    assert found['aeond_trace_spans_total{result="dropped"}'] == 1
    assert found["process_resident_memory_bytes"] > 0


def test_a_reader_that_does_not_ask_for_openmetrics_gets_the_older_format() -> None:
    """Browsers and node_exporter get the format that they read, with the same values."""
    content_type, content = page(reading())
    families = {family.name: family for family in text_string_to_metric_families(content.decode())}
    assert content_type.startswith("text/plain")
    assert families["aeond_runs_queued"].samples[0].value == 5
    assert {family.name for family in FAMILIES} <= {name.removesuffix("_total") for name in families}


@pytest.mark.parametrize("accept", ["", OPENMETRICS])
def test_the_metrics_of_the_process_can_be_left_out(accept: str) -> None:
    """A page without the metrics of the process has the metrics of the daemon alone."""
    _, content = page(reading(), accept, of_process=False)
    lines = [line for line in content.decode().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not line.startswith("aeond_")] == []


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_each_metric_has_a_name_and_a_meaning_by_the_rules(family: object) -> None:
    """Names begin with aeond_ and end with the unit or nothing; each is explained in a sentence."""
    family = next(one for one in FAMILIES if one is family)
    assert family.name.startswith("aeond_")
    assert not family.name.endswith(("_total", "_count", "_sum", "_bucket"))
    assert family.meaning.endswith(".")


def test_labels_are_bounded() -> None:
    """No label holds an id, a user or a text: the page of a busy daemon has a bounded number of lines."""
    names = {label for family in FAMILIES for label in family.labels}
    assert names <= {
        *("dimension", "effect", "event", "kind", "mode", "operation", "origin", "reason"),
        *("result", "state", "verdict", "version"),
    }
    assert len(samples(page(reading(), OPENMETRICS)[1].decode())) < MAX_SERIES


def test_every_series_is_there_before_it_counts_anything() -> None:
    """A daemon that has done nothing shows the series of one that has worked, with 0: Prometheus sees their first increase."""
    worked = reading()
    worked.counts.steps.update(product(StepMode, STEP_TRANSITIONS[StepState.RUNNING][StepEnded]))
    new = replace(worked, counts=RunCounts(), commits=Histogram(SHORT), runs={})
    series = [samples(page(one, OPENMETRICS)[1].decode()).keys() for one in (new, worked)]
    assert series[0] == series[1]
