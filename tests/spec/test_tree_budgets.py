"""A tree of runs as a whole never exceeds the budget of its root, however it nests and whatever dies."""

from collections import Counter

import anyio
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from aeond.domain.plans.plan import Plan
from aeond.domain.runs.budgets import DIMENSIONS, Amounts, Budget, BudgetRequest
from aeond.domain.runs.events import ChildRunEnded, ChildRunStarted, PassStarted, StepStarted
from aeond.domain.runs.run import RunSnapshot
from aeond.ports.journal import RunFilter
from aeond.service.run_use_cases import Bounds
from aeond.state_machine.fold import fold
from tests.support.service_world import CALLER, World, asking
from tests.support.strategy import calls
from tests.support.trees import PlanByTopic, next_daemon, tree_world

LARGE = Budget(ttl=100, llm_calls=100, tokens=10**6, tool_calls=100, passes=100, depth=5)
AMPLE = Bounds(LARGE, LARGE)
TOPICS = ("a", "b", "c", "d")
PATIENCE = 30.0


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Up to four steps, each a piece of work or a run on any topic, its own included, partly in order."""
    steps = []
    for number in range(draw(st.integers(2, 5))):
        topic = draw(st.sampled_from((*TOPICS, *TOPICS, "")))
        earlier = [f"s{n}" for n in range(number)]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2)) if earlier else []
        tool = (
            calls(f"s{number}", "start", *needs, name=topic) if topic else calls(f"s{number}", "work", *needs)
        )
        steps.append(tool)
    return Plan("a goal", tuple(steps))


budgets = st.builds(
    BudgetRequest,
    ttl=st.integers(6, 24),
    llm_calls=st.integers(4, 40),
    tokens=st.just(10**6),
    tool_calls=st.integers(6, 24),
    passes=st.integers(4, 20),
    depth=st.integers(1, 4),
)


class CountingPlanner(PlanByTopic):
    """Counts how often it is asked, over all daemons."""

    asked = 0

    async def draft(self, *arguments: object) -> object:  # type: ignore[override]  # passed on as they are
        self.asked += 1
        return await super().draft(*arguments)  # type: ignore[arg-type]


async def every_run(world: World) -> list[RunSnapshot]:
    return [
        await world.runs.get(line.run_id, CALLER)
        for line in await world.journal.list_runs(RunFilter(limit=500))
    ]


async def happened(world: World, run_id: str) -> Counter[type]:
    """How often each kind of event is in a run's journal; every state on the way is within the budget."""
    kinds: Counter[type] = Counter()
    run = RunSnapshot(run_id)
    while page := await world.journal.read(run_id, run.seq):
        for event in page:
            run = fold(run, event)
            assert not Amounts().exceeding(run.ledger.left), (run_id, run.ledger)
            kinds[type(event.kind)] += 1
            if isinstance(event.kind, ChildRunEnded):
                child = await world.runs.get(event.kind.child_run_id, CALLER)
                assert event.kind.used == child.ledger.used
            if isinstance(event.kind, ChildRunStarted):
                assert event.kind.child.budget.depth < run.ledger.limit.depth
    return kinds


WORK = Plan("a goal", tuple(calls(f"s{n}", "work", *([f"s{n - 1}"] if n else [])) for n in range(4)))
GREEDY = Plan(
    "a goal",
    tuple(calls(f"s{n}", "start", *([f"s{n - 1}"] if n else []), name=TOPICS[n % 4]) for n in range(5)),
)
TIGHT = BudgetRequest(ttl=18, llm_calls=90, tokens=10**6, tool_calls=18, passes=60, depth=2)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    planned=st.fixed_dictionaries({topic: plans() for topic in TOPICS}),
    root=plans(),
    budget=budgets,
    lives=st.lists(st.integers(0, 400), max_size=2),
)
@example(planned=dict.fromkeys(TOPICS, WORK), root=GREEDY, budget=TIGHT, lives=[])
@example(planned=dict.fromkeys(TOPICS, WORK), root=GREEDY, budget=TIGHT, lives=[60, 60])
async def test_no_tree_exceeds_its_roots_budget(
    planned: dict[str, Plan],
    root: Plan,
    budget: BudgetRequest,
    lives: list[int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Actual calls, plans and runs of a whole tree stay within the root's budget, with up to two daemon
    crashes at any point, and every run of the tree ends."""
    world = tree_world(tmp_path_factory.mktemp("tree"), bounds=AMPLE)
    planner = CountingPlanner(planned)
    world.planner = planner  # type: ignore[assignment]  # another double of the same port
    async with world.working():
        run_id = (await world.runs.create(asking(), root, budget)).run_id
        for _ in range(lives[0] if lives else 0):
            await anyio.lowlevel.checkpoint()
        if not lives:
            with anyio.fail_after(PATIENCE):
                await world.ended(run_id)
    for turns in lives[1:]:
        world = next_daemon(world)
        async with world.working():
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
    last = next_daemon(world)
    async with last.working():
        with anyio.fail_after(PATIENCE):
            limit = (await last.ended(run_id)).bound
            for run in await every_run(last):
                await last.ended(run.run_id)
        runs = await every_run(last)
        counted = sum([await happened(last, run.run_id) for run in runs], Counter[type]())
    calls = sum(len(tool.calls) for tool in last.tools.values())
    used = next(run for run in runs if run.run_id == run_id).ledger.used
    assert calls <= limit.tool_calls
    assert planner.asked <= limit.llm_calls
    assert counted[PassStarted] <= limit.passes
    assert counted[StepStarted] <= limit.ttl
    assert max(run.ancestry.depth for run in runs) <= limit.depth
    assert all(getattr(used, d) <= getattr(limit.amounts, d) for d in DIMENSIONS)
