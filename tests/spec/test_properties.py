"""Properties of every run, for any plan, outcome, order, cost or crash."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import Owner, RunSnapshot, RunState
from aeond.domain.tools import Recovery
from aeond.service.history.replays import Replay
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from tests.support.folding import fold_all
from tests.support.journal_states import unlisted_changes
from tests.support.simulated_runs import AMPLE, harmless, hosts
from tests.support.simulation import SimulatedHost

crash_points = st.sets(st.integers(2, 40), max_size=2)
interruptions = st.dictionaries(
    st.integers(1, 10),
    st.sampled_from((e.CancelRequested(Owner()), e.BudgetExhausted("wall_seconds"))),
    max_size=1,
)


@given(hosts(), crash_points)
def test_bounds_are_never_overshot_and_every_run_ends_or_waits(
    host: SimulatedHost, crashes: set[int]
) -> None:
    """No budget is overshot at any event, and every run ends with an answer or waits for a person."""
    host.crash_before = crashes.__contains__
    run = host.work()
    assert run.state.ended or run.state is RunState.SUSPENDED
    assert run.answer is not None or not run.state.ended
    assert run.ledger.reserved == Amounts()


@given(hosts(), crash_points, interruptions)
def test_interrupted_runs_end_too(
    host: SimulatedHost, crashes: set[int], outside: dict[int, e.EventKind]
) -> None:
    """A run that is cancelled or runs out of time at any point ends, unless it waits for a person."""
    host.crash_before = crashes.__contains__
    host.outside = outside
    run = host.work()
    assert run.state.ended or run.state is RunState.SUSPENDED


@given(hosts(), st.integers(0, 60))
def test_folding_in_pieces_equals_folding_whole(host: SimulatedHost, cut: int) -> None:
    """Folding a journal up to any event and then the rest gives what folding all of it gives."""
    run = host.work()
    before = fold_all(RunSnapshot("run"), host.journal[:cut])
    assert fold_all(before, host.journal[cut:]) == run == fold_all(RunSnapshot("run"), host.journal)


@given(hosts(st.just(AMPLE), harmless), st.integers(2, 60))
def test_a_crash_at_any_append_reaches_the_same_end(host: SimulatedHost, crash: int) -> None:
    """With room in the budget, a run that a crash cuts at any event ends as it would have without it."""
    undisturbed = replace_host(host).work()
    host.crash_before = lambda seq: seq >= crash and host.crashes == 0
    run = host.work()
    assert run.state == undisturbed.state
    assert run.answer == undisturbed.answer
    assert {s.step_id: s.state for s in run.steps.values()} == {
        s.step_id: s.state for s in undisturbed.steps.values()
    }


@given(hosts(), crash_points)
def test_finished_steps_are_never_started_again(host: SimulatedHost, crashes: set[int]) -> None:
    """No step starts after it ended, whatever crashes come between."""
    host.crash_before = crashes.__contains__
    host.work()
    ended: set[str] = set()
    for event in host.journal:
        if isinstance(event.kind, e.StepStarted):
            assert event.kind.step.step_id not in ended
        elif isinstance(event.kind, e.StepEnded):
            ended.add(event.kind.step_id)


@given(hosts(st.just(AMPLE)), st.integers(2, 30))
def test_steps_with_effects_start_once(host: SimulatedHost, crash: int) -> None:
    """A step that asks a person after a crash is started at most once without that person's word."""
    host.crash_before = lambda seq: seq >= crash and host.crashes == 0
    host.work()
    starts = [
        event.kind.step.step_id
        for event in host.journal
        if isinstance(event.kind, e.StepStarted) and event.kind.recovery is Recovery.ASK
    ]
    assert len(starts) == len(set(starts))


@given(hosts())
def test_deciding_twice_asks_for_the_same(host: SimulatedHost) -> None:
    """Decide is a function of the snapshot alone: at every event it gives the same commands again."""
    host.work()
    run = RunSnapshot("run")
    for event in host.journal:
        run = fold(run, event)
        assert decide(run) == decide(replace(run))


def replace_host(host: SimulatedHost) -> SimulatedHost:
    """The same host before it did anything."""
    return SimulatedHost(
        host.plan,
        host.budget,
        host.scripts,
        host.given,
        host.planning_fails,
        host.parallel_steps,
        logic_version=host.logic_version,
        in_session=host.in_session,
        character=host.character,
    )


@given(hosts(), crash_points, interruptions)
def test_a_record_replays_to_itself(
    host: SimulatedHost, crashes: set[int], outside: dict[int, e.EventKind]
) -> None:
    """From the recorded signals alone the same decisions come out: an identical stream of events."""
    host.crash_before = crashes.__contains__
    host.outside = outside
    host.work()
    replay = Replay("run", decide, fold)
    assert [replay.next(event) for event in host.journal] == host.journal


@given(hosts(), crash_points, interruptions)
def test_states_change_only_as_the_tables_say(
    host: SimulatedHost, crashes: set[int], outside: dict[int, e.EventKind]
) -> None:
    """Every change of a run's or a step's state is listed, and a run awaits input exactly while a question is open."""
    host.crash_before = crashes.__contains__
    host.outside = outside
    host.work()
    assert unlisted_changes(host.journal) == []
