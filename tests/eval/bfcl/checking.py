"""Whether calls are among those that are accepted.

Text is compared without case, spaces and the signs , . / - _ * ^; a whole number stands for a number with a
fraction; the order of calls does not matter. An argument may be left out where "" is among its values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.eval.bfcl.data import AcceptedCall

IGNORED: Final = re.compile(r"[ ,./\-_*^]")
OMITTED: Final = ""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that was made, by the function's own name."""

    function: str
    arguments: Mapping[str, Any]


def problem_with(made: Sequence[MadeCall], accepted: Sequence[AcceptedCall]) -> str:
    """Why these are not the calls that are wanted, each exactly once; "" when they are."""
    if len(made) != len(accepted):
        return f"{len(made)} calls, {len(accepted)} wanted"
    left = list(made)
    for wanted in accepted:
        fitting = next((call for call in left if call_problem(call, wanted) == ""), None)
        if fitting is None:
            problems = [call_problem(call, wanted) for call in left]
            return problems[0] if len(problems) == 1 else f"no call fits {wanted.function}: {problems}"
        left.remove(fitting)
    return ""


def call_problem(made: MadeCall, wanted: AcceptedCall) -> str:
    """Why one call is not the one that is wanted; "" when it is."""
    if made.function != wanted.function:
        return f"called {made.function}, not {wanted.function}"
    return _fields_problem(made.arguments, wanted.arguments)


def _fields_problem(made: Mapping[str, Any], wanted: Mapping[str, Sequence[Any]]) -> str:
    for name in made:
        if name not in wanted:
            return f"{name} is not expected"
    for name, values in wanted.items():
        if name not in made:
            if OMITTED not in values:
                return f"{name} is missing"
        elif not any(_same(made[name], value) for value in values):
            return f"{name} is {made[name]!r}, not one of {list(values)!r}"
    return ""


def _same(made: Any, wanted: Any) -> bool:
    """Whether a value is an accepted one. Objects in `wanted` have lists of accepted values for each field."""
    if isinstance(wanted, bool) or isinstance(made, bool):
        return made is wanted
    if isinstance(wanted, int | float):
        return isinstance(made, int | float) and made == wanted
    if isinstance(wanted, str):
        return isinstance(made, str) and _plain(made) == _plain(wanted)
    if isinstance(wanted, list):
        return (
            isinstance(made, list)
            and len(made) == len(wanted)
            and all(_same(one, other) for one, other in zip(made, wanted, strict=True))
        )
    if isinstance(wanted, dict):
        return isinstance(made, dict) and _fields_problem(made, wanted) == ""
    return made is wanted


def _plain(text: str) -> str:
    return IGNORED.sub("", text).lower().replace("'", '"')
