from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.plans.plan import Plan, PlanStep
from aeond.orchestration.planning.step_graph import ancestors_of, cycle_in, final_step


def plan_of(waits: Mapping[str, tuple[str, ...]]) -> Plan:
    return Plan("", tuple(PlanStep(name, "", agent="llm", depends_on=on) for name, on in waits.items()))


def test_steps_that_wait_for_each_other_are_named() -> None:
    """A cycle is found, with what hangs on it and without what does not."""
    plan = plan_of({"a": (), "b": ("d", "a"), "c": ("b",), "d": ("c",), "e": ("a",)})
    assert cycle_in(plan) == ("b", "c", "d")


def test_a_step_that_waits_for_itself_is_a_cycle() -> None:
    """A step cannot wait for itself."""
    assert cycle_in(plan_of({"a": ("a",)})) == ("a",)


def test_a_long_chain_is_walked_without_recursion() -> None:
    """A chain of 10,000 steps is no problem, whatever order it is written in."""
    waits = {f"s{n}": (f"s{n - 1}",) if n else () for n in reversed(range(10_000))}
    assert cycle_in(plan_of(waits)) == ()


@given(st.lists(st.lists(st.integers(0, 11), max_size=4), max_size=12))
def test_ancestors_are_all_that_ended_before(edges: list[list[int]]) -> None:
    """A step's ancestors are its dependencies and theirs, and in a plan without cycles never itself."""
    waits = {f"s{n}": tuple(f"s{d}" for d in set(on) if d < n) for n, on in enumerate(edges)}
    plan = plan_of(waits)
    assert cycle_in(plan) == ()
    ancestors = ancestors_of(plan)
    for name, on in waits.items():
        assert name not in ancestors[name]
        assert ancestors[name] == frozenset(on).union(*(ancestors[d] for d in on))


def test_the_final_step_is_the_last_that_no_other_waits_for() -> None:
    """A step added after the final one for its sake does not take its place; a cycle has no final step."""
    assert final_step(plan_of({"a": (), "b": ("a",)})) == PlanStep("b", "", agent="llm", depends_on=("a",))
    refined = final_step(plan_of({"a": (), "b": ("c",), "c": ()}))
    assert refined is not None
    assert refined.step_id == "b"
    assert final_step(plan_of({"a": ("b",), "b": ("a",)})) is None
    assert final_step(Plan("")) is None
