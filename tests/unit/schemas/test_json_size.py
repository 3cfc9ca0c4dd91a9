"""How the size of foreign values is found."""

import json
import math
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.errors import InvalidInputError
from aeond.schemas.json_size import MAX_DEPTH, json_size

UNLIMITED = 1 << 40

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda children: st.lists(children) | st.dictionaries(st.text(max_size=5), children),
    max_leaves=20,
)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 12


@given(json_values)
def test_size_is_that_of_the_compact_text(value: object) -> None:
    """The size of any JSON value is exactly the number of bytes that writing it would take."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert json_size(value, UNLIMITED) == len(text.encode())


@given(json_values)
def test_limit_is_exact(value: object) -> None:
    """A value of exactly the limit passes and one byte less of room refuses it."""
    size = json_size(value, UNLIMITED)
    assert json_size(value, size) == size
    with pytest.raises(InvalidInputError) as refusal:
        json_size(value, size - 1)
    assert refusal.value.reason == "TOO_LARGE"


@pytest.mark.parametrize(
    ("value", "size"), [((1, 2), 5), (Colour.RED, 5), (Level.HIGH, 2), ({}, 2), ([], 2), (-0.0, 4)]
)
def test_values_that_json_writes_are_taken(value: object, size: int) -> None:
    """Tuples and enumerations count as what json would write for them."""
    assert json_size(value, UNLIMITED) == size


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (math.nan, ""),
        (math.inf, ""),
        ({"a": [1, math.nan]}, "/a/1"),
        ({"a/b": {"c~d": b"bytes"}}, "/a~1b/c~0d"),
        ([{1: 2}], "/0"),
        ({"a": {1, 2}}, "/a"),
        (MappingProxyType({"a": 1}), ""),
        (["\ud800"], "/0"),
        ({"\udfff": 1}, ""),
        ([object()], "/0"),
        pytest.param(10**5000, "", id="an integer of 5001 digits"),
        (iter([1]), ""),
        (1j, ""),
    ],
)
def test_a_value_that_is_not_json_is_rejected_with_its_pointer(value: object, pointer: str) -> None:
    """A value that JSON lacks is refused as NOT_JSON with the pointer of the part at fault."""
    with pytest.raises(InvalidInputError) as refusal:
        json_size(value, UNLIMITED)
    assert (refusal.value.reason, refusal.value.field) == ("NOT_JSON", pointer)


def test_depth_is_bounded() -> None:
    """A value nested as deep as allowed passes, one level more does not."""
    assert json_size(nested(MAX_DEPTH), UNLIMITED) == 2 * MAX_DEPTH
    with pytest.raises(InvalidInputError):
        json_size(nested(MAX_DEPTH + 1), UNLIMITED)


def test_value_that_contains_itself_is_refused() -> None:
    """A list and an object that hold themselves are refused instead of walked for ever."""
    ring: list[Any] = []
    ring.append(ring)
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    for value in (ring, loop):
        with pytest.raises(InvalidInputError) as refusal:
            json_size(value, UNLIMITED)
        assert refusal.value.reason == "NOT_JSON"


class Untouched(dict[str, int]):
    def __len__(self) -> int:
        return 50_000_000

    def items(self) -> Any:
        raise AssertionError("it was walked")


class UntouchedList(list[int]):
    def __len__(self) -> int:
        return 50_000_000

    def __iter__(self) -> Any:
        raise AssertionError("it was walked")


def test_large_containers_are_refused_by_their_length() -> None:
    """A container that cannot fit is refused before a single element of it is looked at."""
    for value in (Untouched(), UntouchedList()):
        with pytest.raises(InvalidInputError) as refusal:
            json_size(value, 1 << 20)
        assert refusal.value.reason == "TOO_LARGE"


def test_large_text_is_refused_without_a_copy() -> None:
    """A text of a hundred megabytes is refused without being written out."""
    import tracemalloc

    text = "x" * 100_000_000
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInputError):
            json_size([text], 1 << 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
