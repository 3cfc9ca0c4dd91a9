import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.values import JsonValue
from aeond.orchestration.repair.json_repair import repair_json
from aeond.orchestration.repair.provenance import Material
from aeond.orchestration.repair.strict_json import check_value


def test_sound_json_is_not_touched() -> None:
    """Strictly valid JSON is reported as unchanged."""
    repaired = repair_json('{"a": [1, "two"]}')
    assert (repaired.value, repaired.changes) == ({"a": [1, "two"]}, ())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Here you are:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('```\n{"a": 1}', {"a": 1}),
        ("{'a': 1, 'b': ['x',]}", {"a": 1, "b": ["x"]}),
        ('{"a": 1, "b": "cut of', {"a": 1, "b": "cut of"}),
        ('{a: "x"}', {"a": "x"}),
        ('{"a": True, "b": None}', {"a": True, "b": None}),
        ('{"a": 1} // so be it', {"a": 1}),
    ],
)
def test_broken_json_is_read_by_rule(text: str, value: JsonValue) -> None:
    """Fences, quotes, commas and cut ends are repaired without a model, and the changes are reported."""
    repaired = repair_json(text)
    assert repaired.problem is None
    assert repaired.value == value
    assert repaired.changes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON here",
        "42 is the answer",
        "[" * 200_000,
        '{"a":' * 200_000,
        "{'a': '" + "x" * 70_000,
        '"' * 5000,
    ],
)
def test_text_without_json_is_a_problem(text: str) -> None:
    """Text without an object or list, or beyond the bounds, is not guessed at."""
    repaired = repair_json(text)
    assert repaired.problem is not None
    assert repaired.value is None
    assert repaired.changes == ()


@pytest.mark.parametrize("text", ['{"path": "a", "path": "b"}', '```json\n{"path": "a", "path": "b"}\n```'])
def test_which_of_two_values_was_meant_is_not_guessed(text: str) -> None:
    """An object with a key twice is a problem with its own reason, and no repair keeps one of the values."""
    repaired = repair_json(text)
    assert repaired.problem is not None
    assert (repaired.value, repaired.problem.reason) == (None, "JSON_DUPLICATE_KEY")


def test_a_value_that_the_library_would_fill_in_is_refused() -> None:
    """A missing value is a problem; an invented empty one would be new meaning."""
    assert repair_json('{"path": , "text": "x"}').problem is not None


@given(st.text(alphabet='{}[]",:\\ abn123tfrue\n`$', max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever the text is, reading it ends in sound JSON made of it, or in a problem."""
    repaired = repair_json(text)
    if repaired.problem is None:
        assert check_value(repaired.value) == ()
        if repaired.changes:
            assert Material(text).invented(repaired.value) == ()
