import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.orchestration.repair.strict_json import check_value, nesting_exceeds, read_json
from aeond.schemas.json_size import MAX_DEPTH

SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
)
VALUES = st.recursive(
    SCALARS.filter(lambda value: not isinstance(value, float) or math.isfinite(value)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_sound_json_is_read_as_it_is(value: object) -> None:
    """Whatever can be written as JSON is read back unchanged."""
    assert read_json(json.dumps(value)).value == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "JSON_MALFORMED"),
        ("{'a': 1}", "JSON_MALFORMED"),
        ('{"a": 1', "JSON_MALFORMED"),
        ('{"a": 1} {"a": 2}', "JSON_MALFORMED"),
        ("NaN", "JSON_NOT_FINITE"),
        ('{"a": [-Infinity]}', "JSON_NOT_FINITE"),
        ("1e999", "JSON_NOT_FINITE"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "JSON_DUPLICATE_KEY"),
        (str(2**63), "JSON_INTEGER_TOO_LARGE"),
        (str(-(2**63) - 1), "JSON_INTEGER_TOO_LARGE"),
        ("9" * 100_000, "JSON_INTEGER_TOO_LARGE"),
        (r'"\ud83d"', "JSON_LONE_SURROGATE"),
        (r'{"\udc00": 1}', "JSON_BAD_KEY"),
        ("[" * 65 + "]" * 65, "JSON_TOO_DEEP"),
        ("[" * 200_000, "JSON_TOO_DEEP"),
        ('{"a":' * 200_000, "JSON_TOO_DEEP"),
        ('"' + "a" * 1_000_000 + '"', "JSON_TOO_LARGE"),
    ],
)
def test_ambiguous_json_is_rejected_with_its_reason(text: str, reason: str) -> None:
    """Text that readers would disagree about is refused by name, however deep or long it is."""
    outcome = read_json(text)
    assert not outcome.ok
    assert outcome.problem is not None
    assert outcome.problem.reason == reason


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0, -1])
def test_integers_of_64_bits_are_exact(number: int) -> None:
    """An integer that fits 64 bits arrives with every digit."""
    assert read_json(str(number)).value == number


def test_brackets_within_strings_do_not_nest() -> None:
    """A text full of brackets is a text."""
    text = json.dumps(["[" * 1000, '"\\[' * 100])
    assert read_json(text).ok
    assert not nesting_exceeds(text, 1)


def test_depth_at_the_bound_is_read() -> None:
    """The bound on depth is itself allowed."""
    assert read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH).ok


def test_a_surrogate_pair_is_one_character() -> None:
    """An escaped character outside the basic plane is read whole."""
    assert read_json(r'"\ud83d\ude00"').value == "\U0001f600"


def test_each_unreadable_part_of_a_value_is_named_with_its_place() -> None:
    """Each part that keeps a value from being JSON is reported with its JSON pointer."""
    value = {"a": [1, math.nan], "b/c": {"~": "\ud800"}, "d": {1: 2}, "e": object()}
    problems = {(problem.path, problem.reason) for problem in check_value(value)}
    assert problems == {
        ("/a/1", "JSON_NOT_FINITE"),
        ("/b~1c/~0", "JSON_LONE_SURROGATE"),
        ("/d", "JSON_BAD_KEY"),
        ("/e", "JSON_NOT_A_VALUE"),
    }


def test_a_value_that_is_too_deep_is_refused_without_recursion() -> None:
    """A value nested 200,000 deep is a problem and no crash."""
    value: list[object] = []
    for _ in range(200_000):
        value = [value]
    assert [problem.reason for problem in check_value(value)] == ["JSON_TOO_DEEP"]


def test_a_value_with_too_many_parts_is_refused() -> None:
    """The number of values that are looked at has a bound."""
    assert [problem.reason for problem in check_value([0] * 200_001)] == ["JSON_TOO_LARGE"]
