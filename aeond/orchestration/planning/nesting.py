"""Nested plans: a step that is too coarse becomes the steps of a plan of its own, within the same graph.

The steps of the fragment for `s2` are called `s2_1`, `s2_2` and so on; the last one keeps the id `s2`, so
that what refers to `s2` gets what the whole fragment gives. Each may be nested again.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from aeond.domain.plans.evaluations import RefinementAction, RefinementOperation
from aeond.domain.plans.plan import Plan, PlanStep, fragment_of, nesting_of
from aeond.orchestration.planning.step_references import references_in_text, renamed_step


def can_be_nested(step: PlanStep, step_ids: Collection[str]) -> bool:
    """Whether a plan can be made for the step alone: it is an agent's, and speaks of none of these by name."""
    return step.agent is not None and not references_in_text(step.description, step_ids)


def nested_in(plan: Plan) -> frozenset[str]:
    """The ids of the steps that were given a plan of their own."""
    return frozenset(fragment_of(step.step_id) for step in plan if nesting_of(step.step_id))


def nested_steps(step: PlanStep, fragment: Plan) -> Iterator[RefinementAction]:
    """The changes that put the fragment in the step's place.

    All its steps wait for what the step waits for. The fragment's references are to its own steps.
    """
    names = {s.step_id: f"{step.step_id}_{n}" for n, s in enumerate(fragment.steps, start=1)}
    names[fragment.steps[-1].step_id] = step.step_id
    for planned in fragment:
        nested = renamed_step(planned, names)
        nested = replace(nested, depends_on=(*step.depends_on, *nested.depends_on))
        last = nested.step_id == step.step_id
        operation = RefinementOperation.REPLACE if last else RefinementOperation.ADD
        yield RefinementAction(operation, nested.step_id, nested, f"{step.step_id} is several steps")
