"""Reads untrusted JSON: bounded, strict, and never recursing into it.

What a model writes is refused rather than guessed at: a key given twice is two contradicting values, NaN
and infinities are no JSON, an integer beyond 64 bits does not survive the journal's readers, a lone
surrogate is no text. Depth is measured before parsing, so that no nesting reaches the parser's stack.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.values import JsonValue, is_unicode
from aeond.schemas.json_size import MAX_DEPTH
from aeond.schemas.pointers import pointer_token

MAX_CHARS: Final = 1_000_000
MAX_VALUES: Final = 200_000  # of a value that is already in memory

_BRACKETS: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
_INT64: Final = range(-(2**63), 2**63)


class _RefusedError(ValueError):
    """Carries a problem out of the parser's callbacks."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def read_json(text: str) -> Outcome[JsonValue]:
    """The value, or a problem whose reason starts with JSON_ and whose message says where."""
    if len(text) > MAX_CHARS:
        message = f"the text has {len(text)} characters, more than {MAX_CHARS}"
        return failure(Problem("JSON_TOO_LARGE", message), None)
    if nesting_exceeds(text, MAX_DEPTH):
        message = f"the text nests deeper than {MAX_DEPTH} levels"
        return failure(Problem("JSON_TOO_DEEP", message), None)
    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_int64,
        )
    except _RefusedError as refused:
        return failure(refused.problem, None)
    except ValueError as error:
        return failure(Problem("JSON_MALFORMED", f"not JSON: {error}"), None)
    problems = check_value(value)
    return failure(problems[0], None) if problems else success(value)


def nesting_exceeds(text: str, max_depth: int) -> bool:
    """Whether brackets outside of strings open deeper than that; stops at the first that does."""
    depth = 0
    for match in _BRACKETS.finditer(text):
        character = match[0]
        if character in "[{":
            depth += 1
            if depth > max_depth:
                return True
        elif character in "]}":
            depth -= 1
    return False


def check_value(value: object) -> tuple[Problem, ...]:
    """What keeps a Python value from being JSON text that everybody can read, each with its path."""
    problems: list[Problem] = []
    waiting: list[tuple[object, str, int]] = [(value, "", 1)]
    seen = 0
    while waiting:
        current, path, depth = waiting.pop()
        seen += 1
        if seen > MAX_VALUES:
            problems.append(Problem("JSON_TOO_LARGE", f"more than {MAX_VALUES} values"))
            break
        if isinstance(current, str):
            if not is_unicode(current):
                problems.append(Problem("JSON_LONE_SURROGATE", "the text holds half a character", path))
        elif isinstance(current, float):
            if not math.isfinite(current):
                problems.append(Problem("JSON_NOT_FINITE", f"{current} is no JSON number", path))
        elif isinstance(current, Mapping | list | tuple):
            if depth > MAX_DEPTH:
                problems.append(Problem("JSON_TOO_DEEP", f"nests deeper than {MAX_DEPTH} levels", path))
            elif isinstance(current, Mapping):
                for key, item in current.items():
                    if not isinstance(key, str) or not is_unicode(key):
                        problems.append(Problem("JSON_BAD_KEY", f"{key!r:.80} is no key", path))
                    else:
                        waiting.append((item, path + pointer_token(key), depth + 1))
            else:
                waiting.extend((item, f"{path}/{i}", depth + 1) for i, item in enumerate(current))
        elif current is not None and not isinstance(current, int):
            problems.append(Problem("JSON_NOT_A_VALUE", f"{type(current).__name__} is no JSON value", path))
    return tuple(problems)


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in unique if keys.count(key) > 1)
        raise _RefusedError(Problem("JSON_DUPLICATE_KEY", f"the key {twice!r:.80} is given twice"))
    return unique


def _no_constant(name: str) -> JsonValue:
    raise _RefusedError(Problem("JSON_NOT_FINITE", f"{name} is no JSON number"))


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _RefusedError(Problem("JSON_NOT_FINITE", f"{digits:.40} is too large for a number"))
    return number


def _int64(digits: str) -> int:
    # Nineteen digits and a sign: more cannot fit, and int() of many digits is slow.
    if len(digits) > 20 or int(digits) not in _INT64:
        raise _RefusedError(Problem("JSON_INTEGER_TOO_LARGE", f"{digits:.40} does not fit 64 bits"))
    return int(digits)
