"""The listed state of a run always equals the state folded from its events."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.events import RunCreated
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Ancestry, Owner, RunRequest, RunSnapshot, RunState, SuspendReason
from aeond.domain.tools import Recovery, ToolCall
from aeond.ports import Journal
from aeond.ports.journal import RunFilter
from aeond.state_machine.fold import fold
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.journals import beginning, ending, event, journal, journal_in
from tests.support.simulated_runs import hosts
from tests.support.simulation import SimulatedHost

__all__ = ["journal"]

SETTINGS = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


async def _state_follows(journal: Journal, run_id: str, events: list[e.Event], sizes: list[int]) -> None:
    """Appends the events in parts of these sizes and looks at the list after each."""
    run = RunSnapshot(run_id)
    position, turn = 0, 0
    while position < len(events):
        part = events[position : position + sizes[turn % len(sizes)]]
        position, turn = position + len(part), turn + 1
        await journal.append(part)
        for one in part:
            run = fold(run, one)
        summary = await journal.summary(run_id)
        assert summary is not None
        assert (summary.state, summary.last_seq) == (run.state, run.seq)


def _named(host: SimulatedHost, run_id: str) -> list[e.Event]:
    host.work()
    return [e.Event(run_id, one.seq, one.time, one.elapsed_seconds, one.kind) for one in host.journal]


@SETTINGS
@given(host=hosts(), sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5))
async def test_the_listed_state_of_any_run_is_its_folded_one(
    host: SimulatedHost, sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """After every append the list shows the state that folding the events gives, questions included."""
    events = _named(host, "run")
    await _state_follows(InMemoryJournal(), "run", events, sizes)
    async with journal_in(Path(tmp_path_factory.mktemp("journal"))) as on_disk:
        await _state_follows(on_disk, "run", events, sizes)


def _asking(step_id: str) -> e.InputRequested:
    return e.InputRequested(Question(f"{step_id}.1", step_id, InputRequest("which?"), 0.0))


@pytest.mark.parametrize("size", [1, 2, 20])
async def test_a_run_awaits_input_until_its_last_question_has_ended(journal: Journal, size: int) -> None:
    """Two open questions, one answered and one lapsed, with an append for each event or one for all."""
    steps = tuple(PlanStep(name, "ask", ToolCall("ask")) for name in ("a", "b"))
    started = [e.StepStarted(step, 1, StepMode.TOOL, Recovery.RERUN, Amounts(ttl=1)) for step in steps]
    kinds: list[e.EventKind] = [
        RunCreated(RunRequest("ask"), Budget(), Plan("ask", steps)),
        e.RunStarted(),
        e.PassStarted(1),
        *started,
        _asking("a"),
        _asking("b"),
        e.InputAnswered("a.1", "red", Owner()),
        e.StepEnded("b", StepState.FAILED, StepMode.TOOL, reason="INPUT_TIMEOUT"),
        e.PassEnded(1),
    ]
    events = [event("run", seq, kind) for seq, kind in enumerate(kinds, start=1)]
    await _state_follows(journal, "run", events, [size])


def _suspended_beside_a_question(*later: e.EventKind) -> list[e.Event]:
    """A run that the full disk suspended while its question "a.1" was open, and what happened to it later."""
    step = PlanStep("a", "ask", ToolCall("ask"))
    kinds: list[e.EventKind] = [
        RunCreated(RunRequest("ask"), Budget(), Plan("ask", (step,))),
        e.RunStarted(),
        e.PassStarted(1),
        e.StepStarted(step, 1, StepMode.TOOL, Recovery.RERUN, Amounts(ttl=1)),
        _asking("a"),
        e.RunSuspended(SuspendReason.DISK_FULL),
        *later,
    ]
    return [event("run", seq, kind) for seq, kind in enumerate(kinds, start=1)]


@pytest.mark.parametrize("end", [e.CancelRequested(Owner()), e.BudgetExhausted("ttl")])
async def test_a_cancelled_or_exhausted_run_awaits_no_input(journal: Journal, end: e.EventKind) -> None:
    """A run that is cancelled or out of budget awaits no input any more, suspended in between or not."""
    await _state_follows(journal, "run", _suspended_beside_a_question(e.RunResumed(), end), [1])


@pytest.mark.parametrize("size", [1, 20])
async def test_an_answer_to_a_suspended_run_leaves_it_suspended(journal: Journal, size: int) -> None:
    """It does not await that input any more once it goes on, and goes on no sooner."""
    answered = (e.InputAnswered("a.1", "red", Owner()), e.RunResumed(), e.PassEnded(1))
    await _state_follows(journal, "run", _suspended_beside_a_question(*answered), [size])


async def test_the_runs_that_a_run_started_are_listed_apart(journal: Journal) -> None:
    """A filter by parent gives what that run started, newest first, also beside other filters; not others."""
    for run_id in ("p", "q", "x1", "x2", "x3"):
        await journal.append(beginning(run_id))
    for seq, child_run_id in enumerate(("x1", "x3", "gone"), start=3):
        child = ChildRun(child_run_id, "any", Budget(), SubtaskRequest("do it"))
        await journal.append([event("p", seq, e.ChildRunStarted(f"s{seq}", child))])
    await journal.append([ending("x1", 3)])
    assert [run.run_id for run in await journal.list_runs(RunFilter(parent_run_id="p"))] == ["x3", "x1"]
    ended = await journal.list_runs(RunFilter(parent_run_id="p", states=frozenset({RunState.SUCCEEDED})))
    assert [run.run_id for run in ended] == ["x1"]
    assert [run.run_id for run in await journal.list_runs(RunFilter(parent_run_id="p", before="x3"))] == [
        "x1"
    ]
    assert await journal.list_runs(RunFilter(parent_run_id="q")) == []


async def test_a_line_names_the_run_that_started_it(journal: Journal) -> None:
    """A run in a list, or looked up, has the run that started it, whatever happened since; most have none."""
    await journal.append(beginning("p"))
    created = RunCreated(RunRequest("do it"), Budget(), ancestry=Ancestry("p", "s1", ("any:1",)))
    await journal.append([event("x", 1, created), event("x", 2, e.RunStarted())])
    await journal.append([ending("x", 3)])
    assert [(run.run_id, run.parent_run_id) for run in await journal.list_runs()] == [("x", "p"), ("p", "")]
    (ended,) = await journal.list_runs(RunFilter(states=frozenset({RunState.SUCCEEDED})))
    summary = await journal.summary("x")
    assert (ended.parent_run_id, summary and summary.parent_run_id) == ("p", "p")
