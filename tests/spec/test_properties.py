"""What holds for every run, whatever plan, outcome, order, spending or crash."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aeond.domain import events as e
from aeond.domain.budgets import DIMENSIONS, Amounts, Budget
from aeond.domain.plans import Plan, PlanStep, StepState
from aeond.domain.runs import Owner, RunSnapshot, RunState
from aeond.domain.tools import Recovery, ToolCall
from aeond.kernel.decide import decide
from aeond.kernel.fold import fold, fold_all
from aeond.service.replaying import Replay
from tests.support.simulation import SimulatedHost, StepScript

PHASED = 2  # the logic version since which runs are routed, profiled and judged

STEP_STATES = (StepState.SUCCEEDED, StepState.SUCCEEDED, StepState.FAILED, StepState.INVALID)
AMPLE = Budget(ttl=10_000, llm_calls=10_000, tokens=10**8, tool_calls=10_000, passes=100)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans of up to eight steps in any order, each waiting for some of the ones planned earlier."""
    count = draw(st.integers(1, 8))
    steps = []
    for index in range(count):
        earlier = [f"s{n}" for n in range(index)]
        depends_on = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        call = ToolCall("echo") if draw(st.booleans()) else None
        agent = None if call else "llm"
        steps.append(PlanStep(f"s{index}", "a step", call, agent, depends_on=tuple(depends_on)))
    return Plan("a goal", tuple(draw(st.permutations(steps))))


scripts = st.builds(
    StepScript,
    state=st.sampled_from(STEP_STATES),
    recovery=st.sampled_from(Recovery),
    repairs=st.integers(0, 2),
    asks=st.sampled_from((False, False, True)),
    subtask=st.sampled_from((False, False, True)),
)
harmless = st.builds(StepScript, state=st.sampled_from(STEP_STATES), repairs=st.integers(0, 1))
budgets = st.builds(
    Budget,
    ttl=st.integers(0, 12),
    llm_calls=st.integers(0, 20),
    tokens=st.integers(0, 60_000),
    tool_calls=st.integers(0, 12),
    passes=st.integers(0, 3),
)


@st.composite
def hosts(
    draw: st.DrawFn,
    budget: st.SearchStrategy[Budget] = budgets,
    script: st.SearchStrategy[StepScript] = scripts,
) -> SimulatedHost:
    """A host with any plan, outcomes, order of ends, spending within the reservation, and some crashes."""
    plan = draw(plans())
    order = draw(st.lists(st.integers(0, 7), min_size=1, max_size=20))
    shares = draw(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=10))
    turns = {"order": 0, "share": 0}

    def choose(count: int) -> int:
        turns["order"] += 1
        return order[turns["order"] % len(order)] % count

    def spend(reservation: Amounts) -> Amounts:
        turns["share"] += 1
        share = shares[turns["share"] % len(shares)]
        used = Amounts(*(int(getattr(reservation, d) * share) for d in DIMENSIONS))
        return replace(used, ttl=reservation.ttl)

    return SimulatedHost(
        plan,
        draw(budget),
        {step.step_id: draw(script) for step in plan},
        given=draw(st.booleans()),
        planning_fails=draw(st.sampled_from((False, False, False, True))),
        parallel_steps=draw(st.integers(1, 5)),
        logic_version=draw(st.sampled_from((1, PHASED))),
        in_session=draw(st.booleans()),
        character=draw(st.integers(0, 1_000)),
        choose=choose,
        spend=spend,
    )


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
    """A run that is cancelled or runs out of time at any moment ends, unless it waits for a person."""
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
