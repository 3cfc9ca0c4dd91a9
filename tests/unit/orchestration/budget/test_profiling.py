import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.llm import LLMRequest
from aeond.domain.plans.evaluations import Evaluation, Issue, Severity
from aeond.domain.plans.plan import Clarity
from aeond.domain.plans.profiles import DEFAULT_PROFILE, TaskProfile, ToolUsage
from aeond.domain.runs.budgets import Amounts, Budget, BudgetLedger
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.budget.allocation import budget_for
from aeond.orchestration.budget.profiling import PROFILE_SECONDS, AdaptiveDepth, signals_in
from tests.support.judging import after_pass, model_of, preamble, ran
from tests.support.strategy import calls, grant, run_of, says, thinks

SAID = '{"depth":2,"known":90,"tools":"minimal","breadth":"narrow","confidence":"low","why":"one look"}'


def depth_over(*answers: Any) -> tuple[AdaptiveDepth, Any]:
    llm = says(*answers)
    return AdaptiveDepth(model_of(llm), preamble()), llm


async def test_one_call_tells_how_hard_a_request_is() -> None:
    """The profile comes from one constrained call, behind the same beginning as every other question."""
    depth, llm = depth_over(SAID)
    purse = grant()
    outcome = await depth.infer(run_of(request="What grows there?"), purse)
    assert outcome.ok
    assert outcome.value.reasoning_depth == 2
    assert outcome.value.expected_tool_usage is ToolUsage.MINIMAL
    assert outcome.value.raw_inference == "one look"
    assert purse.used.llm_calls == 1
    messages = llm.requests[0].messages
    assert [m.content for m in messages[:-1]] == [m.content for m in preamble().messages(run_of())]
    assert "What grows there?" in str(messages[-1].content)
    assert llm.requests[0].deadline_seconds == PROFILE_SECONDS < LLMRequest(()).deadline_seconds


async def test_a_malformed_profile_is_repaired_not_asked_for_again() -> None:
    """A profile in a code fence is read by rule: the model is not asked for it twice."""
    depth, llm = depth_over(f"```json\n{SAID}\n```")
    assert (await depth.infer(run_of(), grant())).value.reasoning_depth == 2
    assert len(llm.requests) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"fail": "BAD_ANSWER"}, "BAD_ANSWER"),
        ({"gone": True}, "LLM_GONE"),
        ({"text": "I think it is hard."}, "REPAIR_FAILED"),
        ({"text": json.dumps({**json.loads(SAID), "depth": 9})}, "REPAIR_FAILED"),
    ],
)
async def test_on_failure_the_task_is_an_average_one(answer: dict[str, Any], reason: str) -> None:
    """A model that fails or says something else gives the default profile and the problem."""
    depth, _ = depth_over(answer)
    outcome = await depth.infer(run_of(), grant(2, 20_000))
    assert not outcome.ok
    assert outcome.value == DEFAULT_PROFILE
    assert outcome.problem is not None
    assert outcome.problem.reason == reason


async def test_without_a_grant_the_model_is_not_asked() -> None:
    """With nothing to spend the default profile is the profile."""
    depth, llm = depth_over(SAID)
    outcome = await depth.infer(run_of(), grant(0, 0))
    assert (outcome.ok, outcome.value, len(llm.requests)) == (False, DEFAULT_PROFILE, 0)


def test_the_budget_is_computed_from_the_profile() -> None:
    """A budget is the documented function of profile and bound."""
    depth, _ = depth_over()
    assert depth.allocate(DEFAULT_PROFILE, Budget()) == budget_for(DEFAULT_PROFILE, Budget())


def adapted_of(run: RunSnapshot, profile: TaskProfile) -> tuple[TaskProfile, Budget, tuple[str, ...]] | None:
    return depth_over()[0].adapt(replace(run, profile=profile))


ISSUE = Issue("BLOCKED", Severity.HIGH, "s2", "it cannot be done")
GOOD = ran(calls("s1", "look", path="garden"))
STUCK = ran(thinks("s2", "Count them."), clarity=Clarity.BLOCKED)
BOUND = Budget()
ALL = ("NOT_CONVERGED", "ISSUES_PRESENT", "BLOCKED")


def judged(
    *steps: Any, converged: bool = False, issues: tuple[Issue, ...] = (ISSUE,), **more: Any
) -> RunSnapshot:
    """A run between two passes, whose budget is that of its default profile."""
    evaluation = Evaluation(1, converged, issues=issues)
    ledger = BudgetLedger(budget_for(DEFAULT_PROFILE, BOUND), Amounts(2, 4, 9_000, 1, 1))
    return after_pass(1, *steps, **{"evaluation": evaluation, "bound": BOUND, "ledger": ledger, **more})


@pytest.mark.parametrize(
    ("run", "signals"),
    [
        (judged(GOOD, STUCK, converged=True), ("ISSUES_PRESENT", "BLOCKED")),
        (judged(GOOD, STUCK, issues=()), ("NOT_CONVERGED", "BLOCKED")),
        (judged(GOOD), ("NOT_CONVERGED", "ISSUES_PRESENT")),
        (judged(GOOD, STUCK, evaluation=None), ()),
        (judged(GOOD, STUCK, evaluation=Evaluation(0, False, issues=(ISSUE,))), ()),
        (replace(judged(GOOD, STUCK), pass_index=2), ()),
    ],
)
def test_two_signals_do_not_move_a_budget(run: RunSnapshot, signals: tuple[str, ...]) -> None:
    """Not converged, issues, BLOCKED: without all three of this very pass everything stays as it is."""
    assert signals_in(run) == signals
    assert adapted_of(run, DEFAULT_PROFILE) is None


def test_a_run_that_gets_on_goes_deeper() -> None:
    """Blocked in part and getting on: the task is harder than it looked, and may cost more."""
    run = judged(GOOD, STUCK)
    adapted = adapted_of(run, DEFAULT_PROFILE)
    assert adapted is not None
    profile, budget, reasons = adapted
    assert profile == replace(
        DEFAULT_PROFILE,
        reasoning_depth=4,
        information_sufficiency=0.25,
        expected_tool_usage=ToolUsage.EXTENSIVE,
    )
    assert run.ledger.limit.tokens < budget.tokens <= BOUND.tokens
    assert reasons == (*ALL, "DEEPER")


def test_a_run_that_gave_nothing_new_goes_shallower() -> None:
    """Blocked and nothing else: more of the same will not help, and the budget moves down."""
    run = judged(STUCK)
    adapted = adapted_of(run, DEFAULT_PROFILE)
    assert adapted is not None
    profile, budget, reasons = adapted
    assert (profile.reasoning_depth, profile.expected_tool_usage) == (2, ToolUsage.MINIMAL)
    assert budget.ttl < run.ledger.limit.ttl
    assert reasons[-1] == "SHALLOWER"
    assert budget.amounts.exceeding((budget_for(DEFAULT_PROFILE, BOUND)).amounts) == ""


def test_going_shallower_never_raises_a_budget() -> None:
    """A run that gave nothing new and has spent much is given no more than it had."""
    ledger = BudgetLedger(budget_for(DEFAULT_PROFILE, BOUND), Amounts(2, 4, 40_000, 1, 1))
    adapted = adapted_of(judged(STUCK, ledger=ledger), DEFAULT_PROFILE)
    assert adapted is not None
    assert adapted[2][-1] == "SHALLOWER"
    assert adapted[1].amounts.exceeding(ledger.limit.amounts) == ""


def test_a_budget_does_not_move_below_what_is_spent() -> None:
    """The new budget covers the amounts used and reserved, and the needs of one more pass."""
    spent = BudgetLedger(Budget(), Amounts(49, 39, 99_000, 49, 7), Amounts(tokens=500))
    adapted = adapted_of(judged(STUCK, ledger=spent), DEFAULT_PROFILE)
    assert adapted is not None
    assert (spent.used + spent.reserved).exceeding(adapted[1].amounts) == ""
    assert adapted[1].passes == 8


def test_at_its_end_of_the_scale_nothing_changes() -> None:
    """The deepest profile with all that the run may have is not adjusted to itself."""
    deepest = TaskProfile(5, 0.0, ToolUsage.EXTENSIVE)
    assert adapted_of(judged(GOOD, STUCK, ledger=BudgetLedger(BOUND)), deepest) is None


counts = st.integers(0, 200)
amounts = st.builds(Amounts, counts, counts, counts, counts, counts)


@given(amounts, amounts, amounts, amounts, st.booleans(), st.integers(-2, 9))
def test_every_adapted_budget_fits_its_ledger(
    limit: Amounts, more: Amounts, used: Amounts, reserved: Amounts, getting_on: bool, depth: int
) -> None:
    """Whatever is spent and however small the bound, the ledger takes the new budget."""
    used = used.at_most(limit)
    reserved = reserved.at_most(limit - used)
    now = replace(
        BOUND, **{n: getattr(limit, n) for n in ("ttl", "llm_calls", "tokens", "tool_calls", "passes")}
    )
    over = limit + more
    bound = replace(
        now, **{n: getattr(over, n) for n in ("ttl", "llm_calls", "tokens", "tool_calls", "passes")}
    )
    run = judged(
        *([GOOD] if getting_on else []), STUCK, ledger=BudgetLedger(now, used, reserved), bound=bound
    )
    adapted = adapted_of(run, replace(DEFAULT_PROFILE, reasoning_depth=depth))
    if adapted is not None:
        assert run.ledger.adjust(adapted[1], bound).limit == adapted[1]
        assert 1 <= adapted[0].reasoning_depth <= 5
