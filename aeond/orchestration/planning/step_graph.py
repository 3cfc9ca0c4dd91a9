"""What waits for what: the order of a plan's steps, without recursion."""

from collections import deque
from collections.abc import Mapping

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
    missing = {step.step_id: len(set(step.depends_on)) for step in plan.steps}
    after: dict[str, list[str]] = {step.step_id: [] for step in plan.steps}
    for step in plan.steps:
        for dependency in set(step.depends_on):
            after[dependency].append(step.step_id)
    ready = deque(step_id for step_id, count in missing.items() if count == 0)
    order = []
    while ready:
        step_id = ready.popleft()
        order.append(step_id)
        for later in after[step_id]:
            missing[later] -= 1
            if missing[later] == 0:
                ready.append(later)
    return order
