import pytest

from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.repair.call_repair import repair_arguments, repair_plan_shape, repair_step_shape
from tests.support.strategy import ADD, LOOK, SEND, validator

CALL: JsonObject = {"tool": "look", "arguments": {"path": "x"}}


@pytest.mark.parametrize(
    "value",
    [
        CALL,
        {"name": "look", "parameters": {"path": "x"}},
        {"function": {"name": "look", "arguments": '{"path": "x"}'}},
        {"action": "look", "input": {"path": "x"}, "thought": "I must look"},
        {"tool_call": {"tool": "look", "args": {"path": "x"}}},
    ],
)
def test_calls_in_other_words_become_ours(value: JsonValue) -> None:
    """Other models' names for tool and arguments are understood."""
    assert repair_step_shape(value) == CALL


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"agent": "llm", "prompt": "Sing."}, {"agent": "llm", "task": "Sing."}),
        ({"agent": "llm"}, {"agent": "llm"}),
        ({"nothing": "known"}, {"nothing": "known"}),
        (5, 5),
    ],
)
def test_tasks_and_what_is_not_understood(value: JsonValue, expected: JsonValue) -> None:
    """Tasks are understood in other words too; a value that is not understood stays as it is."""
    assert repair_step_shape(value) == expected


@pytest.mark.parametrize(
    "value",
    [{"steps": [CALL]}, [CALL], CALL, {"plan": [CALL]}, {"plan": {"steps": [CALL]}}, {"actions": [CALL]}],
)
def test_plans_in_other_shapes_become_ours(value: JsonValue) -> None:
    """A bare list, a bare step and a plan under another name are plans."""
    assert repair_plan_shape(value) == {"steps": [CALL]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"a": "1", "b": 2.0}, {"a": 1, "b": 2}),
        ({"A": 1, "b": 2}, {"a": 1, "b": 2}),
        ({"a": "$s1", "b": "$s2"}, {"a": "$s1", "b": "$s2"}),
        ({"a": "one", "b": None}, {"a": "one", "b": None}),
        ({"a": 1, "A": 2}, {"a": 1, "A": 2}),
        ({"a": 1, "c": 3}, {"a": 1, "c": 3}),
    ],
)
def test_values_get_the_type_that_is_asked_for(given: JsonObject, expected: JsonObject) -> None:
    """A value in the wrong type or under a misspelt name is set right; nothing is dropped or chosen."""
    assert repair_arguments(given, ADD, validator()) == expected


def test_one_value_becomes_a_list_of_one() -> None:
    """A single value where a list is wanted is put into one, and a number where text is wanted is written."""
    assert repair_arguments({"to": 5, "lines": "a"}, SEND, validator()) == {"to": "5", "lines": ["a"]}
    assert repair_arguments({"Path": "x", "depth": "2"}, LOOK, validator()) == {"path": "x", "depth": 2}
