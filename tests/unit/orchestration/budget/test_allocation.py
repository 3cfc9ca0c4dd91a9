from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.plans.profiles import DEFAULT_PROFILE, Breadth, ConfidenceLevel, TaskProfile, ToolUsage
from aeond.domain.runs.budgets import DIMENSIONS, Amounts, Budget
from aeond.orchestration.budget.allocation import FLOOR, at_least, at_most, budget_for, effort_of

EASIEST = TaskProfile(1, 1.0, ToolUsage.NONE, Breadth.NARROW, ConfidenceLevel.LOW)
HARDEST = TaskProfile(5, 0.0, ToolUsage.EXTENSIVE, Breadth.BROAD, ConfidenceLevel.HIGH)

profiles = st.builds(
    TaskProfile,
    st.integers(1, 5),
    st.floats(0, 1),
    st.sampled_from(ToolUsage),
    st.sampled_from(Breadth),
    st.sampled_from(ConfidenceLevel),
)
counts = st.integers(0, 10**6)
bounds = st.builds(Budget, counts, counts, counts, counts, counts, st.floats(0, 10**4), st.integers(0, 5))


def test_the_function_is_what_its_table_says() -> None:
    """The easiest task has effort 0, the hardest 1, and the default one the weighted mean of its parts."""
    assert effort_of(EASIEST) == 0.0
    assert effort_of(HARDEST) == 1.0
    assert effort_of(DEFAULT_PROFILE) == pytest.approx((4 * 0.5 + 2 * 2 / 3 + 2 * 0.5 + 0.5 + 0.5) / 10)


def test_budgets_for_the_default_bound() -> None:
    """The hardest task gets all there is, the easiest what a small plan needs, the default one in between."""
    bound = Budget()
    assert budget_for(HARDEST, bound) == bound
    assert budget_for(EASIEST, bound).amounts == Amounts(13, 16, 60_000, 13, 3)
    assert budget_for(DEFAULT_PROFILE, bound).amounts == Amounts(33, 26, 65_000, 33, 6)


@given(profiles, bounds)
def test_no_budget_is_above_its_bound(profile: TaskProfile, bound: Budget) -> None:
    """Whatever a model thinks of a task, the bound is the bound; time and depth are not touched."""
    budget = budget_for(profile, bound)
    assert budget.amounts.exceeding(bound.amounts) == ""
    assert (budget.wall_seconds, budget.depth) == (bound.wall_seconds, bound.depth)
    assert FLOOR.at_most(bound.amounts).exceeding(budget.amounts) == ""


@given(profiles, profiles, bounds)
def test_a_harder_task_never_gets_less(one: TaskProfile, other: TaskProfile, bound: Budget) -> None:
    """Of two tasks the one that is harder in every respect gets at least as much of everything."""
    harder = TaskProfile(
        max(one.reasoning_depth, other.reasoning_depth),
        min(one.information_sufficiency, other.information_sufficiency),
        max(one.expected_tool_usage, other.expected_tool_usage, key=list(ToolUsage).index),
        max(one.output_breadth, other.output_breadth, key=list(Breadth).index),
        max(one.confidence_requirement, other.confidence_requirement, key=list(ConfidenceLevel).index),
    )
    assert budget_for(one, bound).amounts.exceeding(budget_for(harder, bound).amounts) == ""


@given(profiles, bounds, bounds)
def test_a_larger_bound_never_gives_less(profile: TaskProfile, one: Budget, other: Budget) -> None:
    """Raising a bound lowers no budget."""
    larger = replace(one, **{name: max(getattr(one, name), getattr(other, name)) for name in DIMENSIONS})
    assert budget_for(profile, one).amounts.exceeding(budget_for(profile, larger).amounts) == ""


def test_room_is_made_within_the_bound_and_taken_away() -> None:
    """A budget is widened for what is needed as far as the bound goes, and narrowed to what is wanted."""
    bound = Budget(ttl=10, llm_calls=10, tokens=100, tool_calls=10, passes=10)
    small = replace(bound, ttl=2, tokens=20)
    assert at_least(small, Amounts(ttl=5, tokens=500), bound) == replace(bound, ttl=5, tokens=100)
    assert at_most(bound, Amounts(2, 99, 20, 99, 99)) == small
