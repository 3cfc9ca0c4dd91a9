"""The counts follow the journal, whatever happens to daemons in between."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import DIMENSIONS, ModelUse
from aeond.domain.runs.run import Ancestry, RunSnapshot
from aeond.observability.run_counts import RunCounts
from tests.support.event_counts import said
from tests.support.folding import fold_all
from tests.support.golden import FOLDER, golden_journals
from tests.support.simulated_runs import hosts
from tests.support.simulation import SimulatedHost
from tests.support.transcripts import read_lines

STORIES = {story.name: list(read_lines(story.lines)) for story in golden_journals()}
USE = ModelUse(prompt_tokens=10, completion_tokens=3, cached_tokens=4, engine_seconds=0.5)


def shown(counts: RunCounts) -> dict[str, object]:
    """The same as counted by the product."""
    used = {
        name: sum(amount for (_, dimension), amount in counts.used.items() if dimension == name)
        for name in DIMENSIONS
    }
    return {
        "created": counts.created.total(),
        "ended": counts.ended,
        "suspended": counts.suspended,
        "resumed": counts.resumed.total(),
        "steps": counts.steps,
        "used": used,
        "tokens": counts.tokens.total(),
        "engine_seconds": sum(counts.engine_seconds.values()),
        "decisions": counts.decisions,
        "approvals": Counter({event: count for (event,), count in counts.approvals.items()}),
    }


def with_models(events: Sequence[e.Event]) -> list[e.Event]:
    """The same events, as if every step and operation had called a model."""
    return [
        replace(event, kind=replace(event.kind, model_use=USE))
        if isinstance(event.kind, e.OperationEnd | e.StepEnded)
        else event
        for event in events
    ]


def check_kill(events: Sequence[e.Event], cut: int) -> None:
    """A daemon that starts after a kill at this point counts the rest of the journal, and what is open at any
    point of it is open in the run."""
    counts = RunCounts()
    counts.recall(events[:cut])
    run = fold_all(RunSnapshot(events[0].run_id), events[:cut])
    for event in events[cut:]:
        counts.hear([event])
        run = fold_all(run, [event])
        assert counts.open_questions == len(run.questions)
        assert counts.open_approvals == len(run.approvals)
    assert shown(counts) == said(events[cut:])
    if run.state.ended and cut < len(events):
        seconds = counts.run_engine_seconds[()]
        expected = said(events)["engine_seconds"]
        assert isinstance(expected, float | int)
        assert seconds.count == 1
        assert seconds.sum == pytest.approx(expected)
        assert counts.run_seconds[run.state,].sum == events[-1].elapsed_seconds


@given(hosts(), st.sets(st.integers(2, 40), max_size=2), st.integers(0, 60))
def test_the_counts_are_those_of_the_journal_after_a_kill(
    host: SimulatedHost, crashes: set[int], cut: int
) -> None:
    """For any run, with crashes, a daemon killed at any event is followed by one that counts exactly the rest."""
    host.crash_before = crashes.__contains__
    host.work()
    check_kill(with_models(host.journal), min(cut, len(host.journal)))


@pytest.mark.parametrize("name", STORIES)
def test_the_counts_of_recorded_runs_are_those_of_their_journals(name: str) -> None:
    """For runs as released versions recorded them, with approvals and decisions, every point of a kill is right."""
    for cut in range(len(STORIES[name])):
        check_kill(STORIES[name], cut)


def test_there_are_recorded_runs_with_approvals() -> None:
    """The recorded runs include some whose calls were approved, so that the counts of approvals are tested."""
    assert FOLDER.is_dir()
    assert any(said(events)["approvals"] for events in STORIES.values())


def test_the_events_that_a_fork_copied_are_not_counted() -> None:
    """A fork counts as a run that was created, and none of the steps that its original executed."""
    events = STORIES["0.2.0-approved"]
    first = events[0].kind
    assert isinstance(first, e.RunCreated)
    forked = replace(events[0], kind=replace(first, ancestry=Ancestry(forked_run_id="other")))
    counts = RunCounts()
    counts.hear([forked, *events[1:-1]])
    assert shown(counts) == {**said([]), "created": 1}
    assert counts.created == {("fork",): 1}
    counts.hear(events[-1:])
    assert shown(counts)["ended"] == said(events)["ended"]


def test_operations_are_counted_and_measured_when_they_end() -> None:
    """Each operation that was started and has ended counts once; a further event of it does not."""
    host = STORIES["0.1.0-planned"]
    counts = RunCounts()
    for event in host:
        counts.hear([event])
    started = Counter(
        event.kind.operation
        for event in host
        if isinstance(event.kind, e.OperationStarted | e.PlanningStarted | e.AnswerStarted)
    )
    assert started
    assert counts.operations == {(operation,): count for operation, count in started.items()}
    assert {labels: histogram.count for labels, histogram in counts.operation_seconds.items()} == {
        (operation,): count for operation, count in started.items()
    }


def test_origins_of_runs_are_distinguished() -> None:
    """A run that a step started counts as a child, one of a client as that."""
    created = STORIES["0.1.0-planned"][0]
    assert isinstance(created.kind, e.RunCreated)
    child = replace(created, run_id="c", kind=replace(created.kind, ancestry=Ancestry(parent_run_id="p")))
    counts = RunCounts()
    counts.hear([created])
    counts.hear([child])
    assert counts.created == {("client",): 1, ("child",): 1}
