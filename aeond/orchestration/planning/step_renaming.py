"""Steps that get another id: in a step, and in every reference of it."""

from collections.abc import Mapping
from dataclasses import replace

from aeond.domain.plans.plan import PlanStep
from aeond.domain.values import JsonValue
from aeond.orchestration.planning.step_references import references_in_text


def renamed_step(step: PlanStep, names: Mapping[str, str]) -> PlanStep:
    """The step with each of these ids replaced: its own, those it waits for, those it refers to."""
    call = step.tool_call
    return replace(
        step,
        step_id=names.get(step.step_id, step.step_id),
        description=_renamed_text(step.description, names),
        tool_call=None
        if call is None
        else replace(call, arguments={k: _renamed(v, names) for k, v in call.arguments.items()}),
        depends_on=tuple(names.get(name, name) for name in step.depends_on),
    )


def _renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    if isinstance(value, str):
        return _renamed_text(value, names)
    if isinstance(value, Mapping):
        return {key: _renamed(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(item, names) for item in value]
    return value


def _renamed_text(text: str, names: Mapping[str, str]) -> str:
    pieces, position = [], 0
    for reference in references_in_text(text, tuple(names)):
        name = names.get(reference.step_id, reference.step_id)
        path = reference.text[1 + len(reference.step_id) :]
        pieces += [text[position : reference.start], f"${name}{path}"]
        position = reference.end
    return "".join([*pieces, text[position:]])
