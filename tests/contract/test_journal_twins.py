"""The in-memory journal and the one on disk behave identically."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.events import (
    Event,
    RunCreated,
    RunEnded,
    RunParked,
    RunResumed,
    RunStarted,
    RunSuspended,
    StepEnded,
)
from aeond.domain.runs.run import Owner, RunRequest, RunState, SuspendReason
from aeond.errors import AeondError
from aeond.ports.journal import RunFilter
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.journals import journal_in

RUN_IDS = st.sampled_from(["a", "b", "c", "ä"])
KINDS = st.one_of(
    st.builds(
        RunCreated,
        st.builds(
            RunRequest,
            st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
            request_id=st.sampled_from(["", "", "q1", "q2"]),
            session_id=st.sampled_from(["", "s1", "s2"]),
            owner=st.builds(Owner, st.integers(-1, 1)),
        ),
        st.just(Budget()),
    ),
    st.sampled_from(
        [
            RunStarted(),
            RunStarted(),
            RunParked(),
            RunResumed(),
            RunSuspended(SuspendReason.DISK_FULL),
            RunEnded(RunState.SUCCEEDED),
            RunEnded(RunState.CANCELLED),
        ]
    ),
    st.builds(
        StepEnded,
        st.just("s"),
        st.just(StepState.SUCCEEDED),
        st.just(StepMode.TOOL),
        st.sampled_from([1, "x" * 150_000, {"a": [None]}, "\ud800"]),
    ),
)
EVENTS = st.lists(
    st.builds(Event, RUN_IDS, st.integers(1, 5), st.floats(0, 10), st.floats(0, 10), KINDS), max_size=4
)
STATES = st.frozensets(st.sampled_from(list(RunState)), max_size=2)

Journals = InMemoryJournal | SqliteJournal
Act = Callable[[Journals], Awaitable[Any]]

ACTS: st.SearchStrategy[Act] = st.one_of(
    st.builds(lambda events: lambda journal: append_in_order(journal, events), EVENTS),
    st.builds(lambda events: lambda journal: journal.append(events), EVENTS),
    st.builds(
        lambda run_id, after, limit: lambda journal: journal.read(run_id, after, limit),
        RUN_IDS,
        st.integers(0, 4),
        st.integers(-1, 5),
    ),
    st.builds(
        lambda states, session, before, limit: (
            lambda journal: journal.list_runs(
                RunFilter(states=states, session_id=session, before=before, limit=limit)
            )
        ),
        STATES,
        st.sampled_from(["", "s1"]),
        st.sampled_from(["", "b", "zz"]),
        st.integers(0, 4),
    ),
    st.builds(lambda run_id: lambda journal: journal.summary(run_id), RUN_IDS),
    st.builds(
        lambda uid, name: lambda journal: journal.find_request(uid, name),
        st.integers(-1, 1),
        st.sampled_from(["", "q1", "q2"]),
    ),
    st.builds(lambda time: lambda journal: journal.prune(time), st.floats(0, 10)),
)


async def append_in_order(journal: Journals, events: Sequence[Event]) -> None:
    """Appends the events as what comes next in their runs, so that most appends are accepted."""
    seqs: dict[str, int] = {}
    ordered = []
    for event in events:
        if event.run_id not in seqs:
            summary = await journal.summary(event.run_id)
            seqs[event.run_id] = summary.last_seq if summary else 0
        seqs[event.run_id] += 1
        kind = event.kind
        if seqs[event.run_id] == 1 and not isinstance(kind, RunCreated):
            kind = RunCreated(RunRequest("begun"), Budget())
        elif seqs[event.run_id] > 1 and isinstance(kind, RunCreated):
            kind = RunStarted()
        ordered.append(Event(event.run_id, seqs[event.run_id], event.time, event.elapsed_seconds, kind))
    await journal.append(ordered)


async def outcome(journal: Journals, act: Act) -> object:
    try:
        return await act(journal)
    except AeondError as error:
        return type(error), error.reason, error.field


# Each example makes a file of its own: a fifth as many as of what costs nothing.
@settings(max_examples=400 if settings.get_current_profile_name() == "nightly" else 20)
@given(acts=st.lists(ACTS, min_size=1, max_size=25))
async def test_both_journals_answer_alike(tmp_path_factory: pytest.TempPathFactory, acts: list[Act]) -> None:
    """Whatever is appended, refused, read, listed or pruned, in whatever order, both give the same."""
    folder: Path = tmp_path_factory.mktemp("twins")
    in_memory = InMemoryJournal()
    async with journal_in(folder) as on_disk:
        for act in acts:
            assert await outcome(on_disk, act) == await outcome(in_memory, act)
