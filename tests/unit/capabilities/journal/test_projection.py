from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.journal.projection import parts_of
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.events import CancelRequested
from aeond.domain.runs.run import Owner, RunSnapshot, RunState
from aeond.domain.tools import Recovery, ToolCall
from tests.support.folding import fold_all
from tests.support.simulation import SimulatedHost, StepScript

PLAN = Plan("a goal", tuple(PlanStep(f"s{n}", "a step", ToolCall("work")) for n in range(4)))


@given(
    states=st.lists(st.sampled_from([StepState.SUCCEEDED, StepState.FAILED]), min_size=4, max_size=4),
    recovery=st.sampled_from(Recovery),
    crash=st.integers(2, 30),
    cancelled=st.integers(1, 20),
    ttl=st.integers(0, 6),
    pieces=st.lists(st.integers(1, 5), min_size=1, max_size=5),
)
def test_lists_show_what_the_kernel_would_fold(
    states: list[StepState], recovery: Recovery, crash: int, cancelled: int, ttl: int, pieces: list[int]
) -> None:
    """For any run, in whatever pieces it was appended, the state in lists is the state of the folded run."""
    scripts = {f"s{n}": StepScript(state, recovery) for n, state in enumerate(states)}
    host = SimulatedHost(
        PLAN,
        Budget(ttl=ttl),
        scripts,
        crash_before=lambda seq: seq == crash,
        outside={cancelled: CancelRequested(Owner())},
    )
    host.work()
    state, folded, place, turn = RunState.PENDING, RunSnapshot("run"), 0, 0
    while place < len(host.journal):
        piece = host.journal[place : place + pieces[turn % len(pieces)]]
        state = parts_of(piece)[0].state_after(state)
        folded = fold_all(folded, piece)
        assert state is folded.state
        place, turn = place + len(piece), turn + 1
