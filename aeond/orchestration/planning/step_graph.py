"""What waits for what: the order of a plan's steps, without recursion."""

from collections.abc import Mapping
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter

from aeond.domain.plans.plan import Plan, PlanStep


def cycle_in(plan: Plan) -> tuple[str, ...]:
    """The steps that wait for each other or for such steps, in plan order; empty when there are none.

    Expects unique ids and dependencies that are all in the plan.
    """
    reached = set(_in_order(plan))
    return tuple(step.step_id for step in plan.steps if step.step_id not in reached)


def ancestors_of(plan: Plan) -> Mapping[str, frozenset[str]]:
    """For each step all the steps that have ended before it starts. Expects a plan without cycles."""
    waits = {step.step_id: step.depends_on for step in plan.steps}
    found: dict[str, frozenset[str]] = {}
    for step_id in _in_order(plan):
        earlier = waits[step_id]
        found[step_id] = frozenset(earlier).union(*(found[name] for name in earlier))
    return found


def final_step(plan: Plan) -> PlanStep | None:
    """The last step in plan order that no other waits for; steps added later may stand behind it."""
    awaited = {name for step in plan.steps for name in step.depends_on}
    return next((step for step in reversed(plan.steps) if step.step_id not in awaited), None)


def _in_order(plan: Plan) -> list[str]:
    """Dependencies before what depends on them; steps on a cycle are left out."""
    sorter = TopologicalSorter({step.step_id: step.depends_on for step in plan.steps})
    with suppress(CycleError):
        sorter.prepare()  # steps outside the cycle are still returned
    order: list[str] = []
    while ready := sorter.get_ready():
        order += ready
        sorter.done(*ready)
    return order
