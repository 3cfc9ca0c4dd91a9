"""Preparing a step from what ran before it: its context, its place, its bound arguments."""

from collections.abc import Mapping, Sequence
from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.copying import replace
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, JsonValue, display_json, mapped
from aeond.frozen import frozen
from aeond.orchestration.context.shortening import shorten_together
from aeond.orchestration.planning.step_references import (
    StepReference,
    references_in_text,
    refers,
    substituted,
)
from aeond.ports import Validator
from aeond.schemas.parts import part_at

MAX_CONTEXT_CHARS: Final = 16_000
MAX_INLINE_CHARS: Final = 100  # of a value that is inserted in place of a reference

# What a tool's output is about, when it holds more than one thing; also what `.result` and `.output`
# mean where there is no property of that name.
PRIMARY_NAMES: Final = ("result", "value", "content", "text")
_PRIMARY_ALIASES: Final = ("result", "output")


def prepared_step(step: PlanStep, snapshot: RunSnapshot) -> PlanStep:
    """The step with its place in the plan and, as context, the outputs and handoffs of its dependencies.

    The context has little more than `MAX_CONTEXT_CHARS` at most; it states where long outputs were shortened.
    """
    ids = [planned.step_id for planned in snapshot.plan] if snapshot.plan else []
    index = ids.index(step.step_id) + 1 if step.step_id in ids else 0
    context = context_of(step.depends_on, snapshot, MAX_CONTEXT_CHARS)
    return replace(step, incoming_context=context, step_index=index, total_steps=len(ids))


def bound_arguments(
    arguments: JsonObject, snapshot: RunSnapshot, spec: ToolSpec, validator: Validator
) -> Outcome[JsonObject]:
    """The arguments with every reference replaced.

    A text that is one reference becomes the value: of a whole output its primary value (its only
    property, or the one named result, value, content or text), or the whole output where the schema
    wants that; where it wants text, JSON text. References within longer text become text. A reference
    that leads nowhere is a REFERENCE_UNRESOLVED problem that names what is there instead.
    """
    bound = _bound(arguments, None, snapshot, validator)
    if bound.ok and validator.validate_output(bound.value, spec.input_schema):
        return _bound(arguments, spec.input_schema, snapshot, validator)
    return bound


def _bound(
    arguments: JsonObject, schema: JsonObject | None, snapshot: RunSnapshot, validator: Validator
) -> Outcome[JsonObject]:
    """The arguments with every reference replaced by what the schema wants; without one, by primary values."""
    ids = tuple(snapshot.steps)

    def bound(text: str, place: tuple[str | int, ...]) -> JsonValue:
        def found(reference: StepReference) -> _Followed:
            followed = _follow(reference, snapshot, whole=reference.text == text)
            if (problem := followed.problem) is not None:
                where = "/" + "/".join(map(str, place))
                raise _UnresolvedError(Problem(problem.reason, problem.message, where))
            return followed

        references = references_in_text(text, ids)
        if references and references[0].text == text:
            return _fitting(found(references[0]).value, references[0], schema, place, validator)
        return substituted(text, ids, lambda one: _inserted(found(one)))

    try:
        return success(
            {
                name: mapped(value, bound, (name,)) if refers(value, ids) else value
                for name, value in arguments.items()
            }
        )
    except _UnresolvedError as unresolved:
        return failure(unresolved.problem, arguments)


def _fitting(
    value: JsonValue,
    reference: StepReference,
    schema: JsonObject | None,
    path: tuple[str | int, ...],
    validator: Validator,
) -> JsonValue:
    """The form of a value that the schema wants at this place; if none fits, its primary value."""
    primary = value if reference.path else primary_value(value)
    if schema is None:
        return primary
    wanted = part_at(schema, path)
    for candidate in (primary, value, display_json(primary)):
        if not validator.validate_output(candidate, wanted):
            return candidate
    return primary


@frozen
class _Followed:
    """Where a reference led; `end` is how much of its text belongs to it."""

    value: JsonValue
    end: int
    problem: Problem | None = None


class _UnresolvedError(Exception):
    """Ends the binding of arguments at a reference that leads nowhere."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def primary_value(output: JsonValue) -> JsonValue:
    """What an output is about: its only property, or the one with a primary name, else all of it."""
    if not isinstance(output, Mapping):
        return output
    if len(output) == 1:
        return next(iter(output.values()))
    for name in PRIMARY_NAMES:
        if name in output:
            return output[name]
    return output


def context_of(step_ids: Sequence[str], snapshot: RunSnapshot, max_chars: int) -> str:
    """The outputs and handoffs of these steps as text, long ones shortened."""
    known = [snapshot.steps[step_id] for step_id in step_ids if step_id in snapshot.steps]
    outputs = shorten_together([_shown(step) for step in known], max_chars)
    parts = []
    for step, output in zip(known, outputs, strict=True):
        part = f"${step.step_id} ({step.step.description}):\n{output}"
        if step.step.handoff_to_next:
            part += f"\nNote for the next step: {step.step.handoff_to_next}"
        parts.append(part)
    return "\n\n".join(parts)


def context_length(step_ids: Sequence[str], snapshot: RunSnapshot) -> int:
    """How many characters the outputs of these steps have as text."""
    known = (snapshot.steps[step_id] for step_id in step_ids if step_id in snapshot.steps)
    return sum(len(_shown(step)) for step in known)


def _shown(step: StepSnapshot) -> str:
    """An output as text: one that is about a text of several lines as that text, with its numbers in a line."""
    output, text = step.output, primary_value(step.output)
    if not isinstance(output, Mapping) or not isinstance(text, str) or "\n" not in text.strip():
        return display_json(output)
    left_out = () if output.get("truncated") else ("truncated", "next_offset")
    facts = {name: part for name, part in output.items() if isinstance(part, int | float)}
    numbers = ", ".join(
        f"{name}: {display_json(part)}" for name, part in facts.items() if name not in left_out
    )
    ends = f"\n({numbers})" if numbers else ""
    return f"{text.rstrip()}{ends}"


def with_values(text: str, snapshot: RunSnapshot) -> str:
    """A text with short values in the place of the references to them; longer ones stay references."""

    def short(reference: StepReference) -> tuple[str, int] | None:
        found = _follow(reference, snapshot, whole=False)
        value, _ = inserted = _inserted(found)
        is_short = found.problem is None and len(value) <= MAX_INLINE_CHARS and "\n" not in value
        return inserted if is_short else None

    return substituted(text, tuple(snapshot.steps), short)


def _inserted(found: _Followed) -> tuple[str, int]:
    """What stands in a text for a reference, and for how much of it."""
    return display_json(primary_value(found.value)), found.end


def _follow(reference: StepReference, snapshot: RunSnapshot, *, whole: bool) -> _Followed:
    step = snapshot.steps.get(reference.step_id)
    if step is None or step.state is not StepState.SUCCEEDED:
        state = "is not in the plan" if step is None else f"is {step.state}"
        return _Followed(None, 0, _unresolved(reference.text, f"step '{reference.step_id}' {state}", ()))
    value, so_far = step.output, f"${reference.step_id}"
    for part in reference.path:
        following, instead = _step_into(value, part)
        if instead is not None:
            if not isinstance(value, Mapping | list | tuple) and isinstance(part, str):
                # "$s1.txt" within a text: the name belongs to the text, not to the reference.
                problem = _unresolved(reference.text, f"{so_far} is {_kind(value)}", ())
                return _Followed(value, len(so_far), problem if whole else None)
            return _Followed(None, 0, _unresolved(reference.text, f"{so_far} is {_kind(value)}", instead))
        value = following
        so_far += f"[{part}]" if isinstance(part, int) else f".{part}"
    return _Followed(value, len(so_far))


def _step_into(value: JsonValue, part: str | int) -> tuple[JsonValue, Sequence[str] | None]:
    """The value behind a name or index, and None; or what there is instead."""
    if isinstance(value, Mapping) and isinstance(part, str):
        if part in value:
            return value[part], None
        if part in _PRIMARY_ALIASES and not isinstance(primary_value(value), Mapping):
            return primary_value(value), None
        return None, [f".{name}" for name in value]
    if isinstance(value, Sequence) and not isinstance(value, str) and isinstance(part, int):
        if part < len(value):
            return value[part], None
        return None, [f"[0] to [{len(value) - 1}]"] if value else ["nothing"]
    if part in _PRIMARY_ALIASES and not isinstance(value, Mapping | list | tuple):
        return value, None
    return None, ["[0]"] if isinstance(value, list | tuple) and value else []


def _unresolved(text: str, where: str, instead: Sequence[str]) -> Problem:
    there = f"; there is {', '.join(instead[:20])}" if instead else ""
    return Problem("REFERENCE_UNRESOLVED", f"{text} leads nowhere: {where}{there}")


def _kind(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, Sequence) else "a single value"
