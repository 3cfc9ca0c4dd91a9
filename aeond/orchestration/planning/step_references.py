"""References from a step to the outputs of others: `$s1`, `$s1.result`, `$s1.entries[0].name`.

A reference is a dollar sign, a step id, and a path of names and indices. It stands for a whole value or
inside a longer text. A dollar sign before anything else is a dollar sign.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.plans.plan import PlanStep
from aeond.domain.values import JsonValue, mapped
from aeond.frozen import frozen
from aeond.schemas.pointers import pointer_token

STEP_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_REFERENCE: Final = re.compile(rf"\$({STEP_ID.pattern})(?![A-Za-z0-9_])((?:\.{_NAME}|\[\d{{1,6}}\])*)")
_PART: Final = re.compile(rf"\.({_NAME})|\[(\d+)\]")
_NUMBERED: Final = re.compile(r"s[0-9]+")


@frozen
class StepReference:
    """One reference as it stands in a text, from `start` to `end`."""

    text: str
    step_id: str
    path: tuple[str | int, ...]
    start: int
    end: int


def references_in_text(text: str, step_ids: Collection[str]) -> tuple[StepReference, ...]:
    """The references to these steps, and those of the form `$s7` whether or not there is such a step."""
    if "$" not in text:  # as most are
        return ()
    found = []
    for match in _REFERENCE.finditer(text):
        if match[1] in step_ids or _NUMBERED.fullmatch(match[1]):
            path = tuple(p[1] or int(p[2]) for p in _PART.finditer(match[2])) if match[2] else ()
            found.append(StepReference(match[0], match[1], path, match.start(), match.end()))
    return tuple(found)


def substituted(
    text: str, step_ids: Collection[str], instead_of: Callable[[StepReference], tuple[str, int] | None]
) -> str:
    """The text with `instead_of(reference)` for each reference in it: another text, and how many characters of the reference it stands
    for; None leaves the reference."""
    pieces: list[str] = []
    position = 0
    for reference in references_in_text(text, step_ids):
        instead = instead_of(reference)
        if instead is not None:
            pieces += [text[position : reference.start], instead[0]]
            position = reference.start + instead[1]
    return "".join([*pieces, text[position:]])


def references_in_value(
    value: JsonValue, step_ids: Collection[str], path: str = ""
) -> Iterator[tuple[str, StepReference]]:
    """Every reference within a value with the JSON pointer of the text that it stands in."""
    waiting: list[tuple[str, JsonValue]] = [(path, value)]
    while waiting:
        where, current = waiting.pop(0)
        if isinstance(current, str):
            for reference in references_in_text(current, step_ids):
                yield where, reference
        elif isinstance(current, Mapping):
            waiting.extend((where + pointer_token(key), item) for key, item in current.items())
        elif isinstance(current, Sequence):
            waiting.extend((f"{where}/{i}", item) for i, item in enumerate(current))


def refers(value: JsonValue, step_ids: Collection[str]) -> bool:
    """Whether there is such a reference anywhere within a value."""
    return next(references_in_value(value, step_ids), None) is not None


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
