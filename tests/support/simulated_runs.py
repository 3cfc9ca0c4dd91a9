"""Any run that a simulated host can work on, for property tests."""

from dataclasses import replace

from hypothesis import strategies as st

from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.runs.budgets import DIMENSIONS, Amounts, Budget
from aeond.domain.tools import Recovery, ToolCall
from tests.support.simulation import CHATTING, SimulatedHost, StepScript

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
        logic_version=draw(st.sampled_from((1, PHASED, CHATTING))),
        in_session=draw(st.booleans()),
        character=draw(st.integers(0, 1_000)),
        choose=choose,
        spend=spend,
    )
