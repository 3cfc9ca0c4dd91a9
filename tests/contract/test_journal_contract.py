"""Guarantees of every journal implementation."""

import math
from typing import get_args

import anyio
import pytest

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.events import (
    CancelRequested,
    Event,
    EventKind,
    RunEnded,
    RunParked,
    RunResumed,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepResolved,
)
from aeond.domain.runs.run import Owner, Resolution, RunState, SuspendReason
from aeond.errors import AlreadyExistsError, InvalidInputError
from aeond.ports import Journal
from aeond.ports.journal import RunFilter
from tests.support.every_kind import EVERY_KIND
from tests.support.journals import all_events, beginning, ending, event, journal, step_turn

__all__ = ["journal"]


async def test_events_come_back_as_they_went_in(journal: Journal) -> None:
    """Every kind of event is read as exactly what was appended."""
    assert {type(kind) for kind in EVERY_KIND} == set(get_args(EventKind))
    events = [Event("r", seq, seq + 0.25, seq * 1.5, kind) for seq, kind in enumerate(EVERY_KIND, start=1)]
    await journal.append(events)
    assert list(await journal.read("r")) == events


@pytest.mark.parametrize(
    "output",
    [
        None,
        True,
        0,
        -1,
        2**70,
        0.1,
        1e308,
        "",
        "a\x00b",
        "☃\U0001f600",
        [],
        {},
        {"": [[]]},
        [1, [2, [3, {"a": "b"}]]],
    ],
)
async def test_json_values_come_back_exactly(journal: Journal, output: object) -> None:
    """A step's output keeps its value and its types."""
    await journal.append(beginning("r"))
    await journal.append([event("r", 3, StepEnded("s", StepState.SUCCEEDED, StepMode.TOOL, output))])  # type: ignore[arg-type]  # the parameters above are JSON values
    kind = (await journal.read("r", 2))[0].kind
    assert isinstance(kind, StepEnded)
    assert (kind.output, type(kind.output)) == (output, type(output))


async def test_not_a_number_comes_back_as_that(journal: Journal) -> None:
    """A float that is no number is not turned into something else."""
    await journal.append(beginning("r"))
    await journal.append([event("r", 3, StepEnded("s", StepState.SUCCEEDED, StepMode.TOOL, math.nan))])
    kind = (await journal.read("r", 2))[0].kind
    assert isinstance(kind, StepEnded)
    assert isinstance(kind.output, float)
    assert math.isnan(kind.output)


async def test_a_run_is_read_after_a_seq(journal: Journal) -> None:
    """A reader goes on after the last event it has, and gets nothing twice."""
    await journal.append(beginning("r"))
    await journal.append(step_turn("r", 3))
    assert [e.seq for e in await journal.read("r", 1)] == [2, 3, 4]
    assert [e.seq for e in await journal.read("r", 1, limit=2)] == [2, 3]
    assert list(await journal.read("r", 4)) == []
    assert list(await journal.read("r", 99)) == []


async def test_a_run_that_is_not_there_has_no_events(journal: Journal) -> None:
    """Reading a run that does not exist gives nothing."""
    assert list(await journal.read("nobody")) == []
    assert await journal.summary("nobody") is None


async def test_a_page_has_at_most_256_events(journal: Journal) -> None:
    """No reader gets more than 256 events at once, whatever it asks for."""
    await journal.append(beginning("r"))
    for seq in range(3, 303, 2):
        await journal.append(step_turn("r", seq))
    assert len(await journal.read("r", limit=100_000)) == 256
    assert [e.seq for e in await all_events(journal, "r")] == list(range(1, 303))


async def test_a_page_is_bounded_in_bytes(journal: Journal) -> None:
    """A page ends once about 256 KiB are read, and always has at least one event."""
    await journal.append(beginning("r"))
    for seq in range(3, 23, 2):
        await journal.append(step_turn("r", seq, "x" * 100_000))
    assert [e.seq for e in await journal.read("r", 2)] == [3, 4, 5, 6, 7]
    await journal.append(step_turn("r", 23, "x" * 1_000_000))
    assert [e.seq for e in await journal.read("r", 22)] == [23]


@pytest.mark.parametrize("limit", [0, -5])
async def test_a_page_has_at_least_one_event(journal: Journal, limit: int) -> None:
    """A page holds at least one event, so that reading always advances."""
    await journal.append(beginning("r"))
    assert len(await journal.read("r", limit=limit)) == 1


async def test_a_seq_is_taken_once(journal: Journal) -> None:
    """A second event of the same seq is refused, and the first stays."""
    await journal.append(beginning("r"))
    with pytest.raises(AlreadyExistsError) as refused:
        await journal.append([event("r", 2, RunParked())])
    assert refused.value.reason == "SEQ_TAKEN"
    with pytest.raises(AlreadyExistsError):
        await journal.append(beginning("r"))
    assert list(await journal.read("r")) == beginning("r")


async def test_a_run_has_no_gaps(journal: Journal) -> None:
    """An event that would leave a gap is refused."""
    await journal.append(beginning("r"))
    for events in ([event("r", 4, RunParked())], [event("r", 3, RunParked()), event("r", 5, RunResumed())]):
        with pytest.raises(InvalidInputError) as refused:
            await journal.append(events)
        assert refused.value.reason == "SEQ_GAP"
    assert len(await journal.read("r")) == 2


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([event("r", 1, RunStarted())], "RUN_NOT_CREATED"),
        ([*beginning("r"), event("r", 3, beginning("r")[0].kind)], "RUN_NOT_CREATED"),
        ([event("r", 2, RunStarted())], "SEQ_GAP"),
        ([event("r", 0, RunStarted())], "SEQ_TAKEN"),
        ([event("", 1, beginning("")[0].kind)], "RUN_ID_INVALID"),
        ([event("r" * 257, 1, beginning("")[0].kind)], "RUN_ID_INVALID"),
        ([event("\ud800", 1, beginning("")[0].kind)], "RUN_ID_INVALID"),
        ([event("r", 1, beginning("")[0].kind, math.nan)], "EVENT_NOT_JSON"),
        ([], "NO_EVENTS"),
    ],
)
async def test_events_that_begin_no_run_are_rejected(
    journal: Journal, events: list[Event], reason: str
) -> None:
    """Events that begin no run, or are none, are refused and leave nothing."""
    with pytest.raises((InvalidInputError, AlreadyExistsError)) as refused:
        await journal.append(events)
    assert refused.value.reason == reason
    assert list(await journal.list_runs()) == []


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


UNREADABLE = {"surrogate": "\ud800", "deep": nested(200), "deeper": nested(5_000), "huge": 10**5_000}


@pytest.mark.parametrize("output", UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_an_unreadable_value_is_not_written(journal: Journal, output: object) -> None:
    """A value that JSON or its reader cannot hold is refused before it is stored, and the run goes on."""
    await journal.append(beginning("r"))
    with pytest.raises(InvalidInputError) as refused:
        await journal.append([event("r", 3, StepEnded("s", StepState.SUCCEEDED, StepMode.TOOL, output))])  # type: ignore[arg-type]  # that is the test
    assert refused.value.reason == "EVENT_NOT_JSON"
    await journal.append([event("r", 3, StepEnded("s", StepState.FAILED, StepMode.TOOL, error="too deep"))])
    assert len(await journal.read("r")) == 3


async def test_an_endless_event_is_refused(journal: Journal) -> None:
    """An event of more than 16 MiB is refused."""
    await journal.append(beginning("r"))
    with pytest.raises(InvalidInputError) as refused:
        await journal.append(step_turn("r", 3, "x" * (16 << 20)))
    assert refused.value.reason == "EVENT_TOO_LARGE"
    assert len(await journal.read("r")) == 2


async def test_an_append_is_all_or_nothing(journal: Journal) -> None:
    """When one run's part of an append is refused, no other run's part is written."""
    await journal.append(beginning("a"))
    with pytest.raises(AlreadyExistsError):
        await journal.append([*beginning("b"), event("a", 2, RunParked())])
    assert list(await journal.read("b")) == []
    assert await journal.summary("b") is None
    await journal.append([*beginning("b"), event("a", 3, RunParked())])
    assert len(await journal.read("a")) == 3


async def test_a_request_is_made_once(journal: Journal) -> None:
    """A user's request id names one run; another user may use the same id."""
    await journal.append(beginning("a", request_id="q", uid=1))
    with pytest.raises(AlreadyExistsError) as refused:
        await journal.append(beginning("b", request_id="q", uid=1))
    assert refused.value.reason == "REQUEST_ID_TAKEN"
    await journal.append(beginning("c", request_id="q", uid=2))
    assert await journal.find_request(1, "q") == "a"
    assert await journal.find_request(2, "q") == "c"
    assert await journal.find_request(3, "q") is None
    assert await journal.summary("b") is None


async def test_a_request_is_made_once_within_an_append(journal: Journal) -> None:
    """Two runs of one append cannot share a request id either."""
    with pytest.raises(AlreadyExistsError):
        await journal.append([*beginning("a", request_id="q"), *beginning("b", request_id="q")])
    assert list(await journal.list_runs()) == []


async def test_no_request_id_is_no_request(journal: Journal) -> None:
    """Any number of runs may come without a request id, and none is found by it."""
    await journal.append([*beginning("a"), *beginning("b")])
    assert await journal.find_request(1000, "") is None


async def test_a_summary_follows_its_run(journal: Journal) -> None:
    """The line of a run has its first words, its owner, its times, its last seq and its state."""
    await journal.append([event("r", 1, beginning("r", "wörd " * 100, uid=5)[0].kind, 10.0)])
    first = await journal.summary("r")
    assert first is not None
    assert (first.run_id, first.state, first.uid, first.last_seq) == ("r", RunState.PENDING, 5, 1)
    assert first.text == ("wörd " * 100)[:200]
    await journal.append([event("r", 2, RunStarted(), 11.0)])
    await journal.append([event("r", 3, RunSuspended(SuspendReason.UNKNOWN_STEP), 12.0)])
    second = await journal.summary("r")
    assert second is not None
    assert (second.state, second.last_seq) == (RunState.SUSPENDED, 3)
    assert (second.created_time, second.changed_time) == (10.0, 12.0)


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        ([], RunState.RUNNING),
        ([RunSuspended(SuspendReason.DISK_FULL)], RunState.SUSPENDED),
        ([RunSuspended(SuspendReason.DISK_FULL), RunResumed()], RunState.RUNNING),
        (
            [RunSuspended(SuspendReason.UNKNOWN_STEP), StepResolved(Resolution.DONE, Owner())],
            RunState.RUNNING,
        ),
        ([RunParked()], RunState.RUNNING),
        ([CancelRequested(Owner()), RunEnded(RunState.CANCELLED)], RunState.CANCELLED),
        ([RunEnded(RunState.EXPIRED)], RunState.EXPIRED),
    ],
)
async def test_the_state_in_lists_is_the_state_of_the_run(
    journal: Journal, kinds: list[EventKind], state: RunState
) -> None:
    """Lists show the state that the run's events lead to, in one append or in several."""
    await journal.append([*beginning("a"), *(event("a", 3 + i, kind) for i, kind in enumerate(kinds))])
    await journal.append(beginning("b"))
    for i, kind in enumerate(kinds):
        await journal.append([event("b", 3 + i, kind)])
    assert [line.state for line in await journal.list_runs()] == [state, state]


async def test_lists_are_newest_first_in_pages(journal: Journal) -> None:
    """A list goes from the newest run to the oldest, page by page, each run once."""
    for number in range(7):
        await journal.append(beginning(f"r{number}"))
    assert [line.run_id for line in await journal.list_runs(RunFilter(limit=3))] == ["r6", "r5", "r4"]
    page = await journal.list_runs(RunFilter(before="r4", limit=3))
    assert [line.run_id for line in page] == ["r3", "r2", "r1"]
    assert [line.run_id for line in await journal.list_runs(RunFilter(before="r1"))] == ["r0"]
    assert list(await journal.list_runs(RunFilter(before="r0"))) == []


async def test_lists_can_be_narrowed(journal: Journal) -> None:
    """A list shows the runs of some states, of one session, or both."""
    for number in range(6):
        await journal.append(beginning(f"r{number}", session_id="even" if number % 2 == 0 else ""))
    await journal.append([ending("r0", 3), ending("r1", 3), ending("r2", 3, RunState.FAILED)])
    ended = frozenset({RunState.SUCCEEDED, RunState.FAILED})

    async def listed(**conditions: object) -> list[str]:
        return [line.run_id for line in await journal.list_runs(RunFilter(**conditions))]  # type: ignore[arg-type]  # named below

    assert await listed(states=ended) == ["r2", "r1", "r0"]
    assert await listed(states=frozenset({RunState.FAILED})) == ["r2"]
    assert await listed(states=frozenset({RunState.AWAITING_INPUT})) == []
    assert await listed(session_id="even") == ["r4", "r2", "r0"]
    assert await listed(session_id="even", states=ended) == ["r2", "r0"]
    assert await listed(session_id="even", states=ended, before="r2") == ["r0"]
    assert await listed(session_id="odd") == []
    assert await listed(states=ended, limit=2) == ["r2", "r1"]
    assert await listed(limit=0) == ["r5"]


async def test_runs_do_not_mix(journal: Journal) -> None:
    """Many runs appended at once keep their own events in their own order."""

    async def work(run_id: str) -> None:
        await journal.append(beginning(run_id))
        for seq in range(3, 23, 2):
            await journal.append(step_turn(run_id, seq, run_id))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(work, f"r{number:03}")
    for number in range(100):
        events = await all_events(journal, f"r{number:03}")
        assert [e.seq for e in events] == list(range(1, 23))
        assert {e.kind.output for e in events if isinstance(e.kind, StepEnded)} == {f"r{number:03}"}


async def test_one_writer_wins_a_seq(journal: Journal) -> None:
    """Of many that append the same seq at once, exactly one is acknowledged."""
    await journal.append(beginning("r"))
    won: list[int] = []

    async def attempt(number: int) -> None:
        try:
            await journal.append(step_turn("r", 3, number))
        except AlreadyExistsError:
            return
        won.append(number)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(attempt, number)
    kind = (await journal.read("r", 2))[0].kind
    assert isinstance(kind, StepEnded)
    assert won == [kind.output]


async def test_a_cancelled_caller_writes_nothing_more(journal: Journal) -> None:
    """A caller that is cancelled already appends nothing."""
    with anyio.CancelScope() as scope:
        scope.cancel()
        await journal.append(beginning("r"))
    assert scope.cancelled_caught
    assert list(await journal.read("r")) == []


async def test_a_probe_leaves_nothing_to_read(journal: Journal) -> None:
    """A probe passes on a journal that works, and no list shows it."""
    await journal.append(beginning("r"))
    await journal.probe()
    assert [line.run_id for line in await journal.list_runs()] == ["r"]
    assert len(await journal.read("r")) == 2


async def test_a_list_can_be_that_of_one_user(journal: Journal) -> None:
    """With a user, lists in all other ways the same show that user's runs alone; -1 is the unknown user."""
    for number, uid in enumerate([1000, 5, 1000, -1, 1000]):
        await journal.append(beginning(f"r{number}", uid=uid, session_id="s" if number < 3 else ""))
    await journal.append([ending("r0", 3)])

    async def listed(**conditions: object) -> list[str]:
        return [line.run_id for line in await journal.list_runs(RunFilter(**conditions))]  # type: ignore[arg-type]  # named below

    assert await listed(uid=1000) == ["r4", "r2", "r0"]
    assert await listed(uid=1000, limit=1, before="r4") == ["r2"]
    assert await listed(uid=1000, states=frozenset({RunState.SUCCEEDED})) == ["r0"]
    assert await listed(uid=1000, session_id="s") == ["r2", "r0"]
    assert await listed(uid=5) == ["r1"]
    assert await listed(uid=-1) == ["r3"]
    assert await listed(uid=7) == []
    assert len(await listed()) == 5


async def test_runs_are_counted_by_state(journal: Journal) -> None:
    """The count of each state is that of the runs listed in it, and a state without runs is missing."""
    assert await journal.count_runs() == {}
    await journal.append([beginning("a")[0], *beginning("b"), *beginning("c")])
    await journal.append([event("c", 3, RunEnded(RunState.FAILED))])
    counted = await journal.count_runs()
    assert counted == {
        state: len(found)
        for state in RunState
        if (found := await journal.list_runs(RunFilter(states=frozenset({state}))))
    }
    assert counted == {RunState.PENDING: 1, RunState.RUNNING: 1, RunState.FAILED: 1}
