"""Steps that get another id: in a step, and in every reference of it."""

from collections.abc import Mapping
from dataclasses import replace

from aeond.domain.plans.plan import PlanStep
from aeond.domain.values import mapped
from aeond.orchestration.planning.step_references import StepReference, substituted


def renamed_step(step: PlanStep, names: Mapping[str, str]) -> PlanStep:
    """The step with each of these ids replaced: its own, those it waits for, those it refers to."""

    def instead_of(reference: StepReference) -> tuple[str, int]:
        length = 1 + len(reference.step_id)
        return f"${names.get(reference.step_id, reference.step_id)}", length

    def renamed(text: str, *_: object) -> str:
        return substituted(text, tuple(names), instead_of)

    call = step.tool_call
    return replace(
        step,
        step_id=names.get(step.step_id, step.step_id),
        description=renamed(step.description),
        tool_call=None
        if call is None
        else replace(
            call, arguments={name: mapped(value, renamed) for name, value in call.arguments.items()}
        ),
        depends_on=tuple(names.get(name, name) for name in step.depends_on),
    )
