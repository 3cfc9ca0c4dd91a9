"""The checker of function calls lets accepted calls through and no others."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.eval.bfcl.checking import MadeCall, problem_with
from tests.eval.bfcl.data import AcceptedCall, Function, read_questions, sample_of, schema_of
from tests.eval.bfcl.judging import names_of

WANTED = AcceptedCall(
    "shop.order",
    {
        "item": ["blue mug", "mug"],
        "count": [2],
        "price": [3.5, ""],
        "tags": [["a", "b"], ""],
        "gift": [True, ""],
        "to": [{"city": ["Bern", "Berne"], "zip": ["3000", ""]}, ""],
    },
)


def made(**arguments: Any) -> MadeCall:
    return MadeCall("shop.order", {"item": "Blue-Mug", "count": 2, **arguments})


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"price": 3.5},
        {"count": 2.0},
        {"tags": ["A", "b"]},
        {"gift": True},
        {"to": {"city": "berne"}},
        {"to": {"city": "Bern", "zip": "3000"}},
    ],
)
def test_an_accepted_call_passes(arguments: dict[str, Any]) -> None:
    """Case, spaces and signs in a text, a whole number for a fraction and an omitted argument do not matter."""
    assert problem_with([made(**arguments)], [WANTED]) == ""


@pytest.mark.parametrize(
    "arguments",
    [
        {"count": 3},
        {"count": "2"},
        {"count": True},
        {"price": "3.5"},
        {"tags": ["b", "a"]},
        {"tags": "a"},
        {"gift": 1},
        {"to": {"zip": "3000"}},
        {"to": {"city": "Basel"}},
        {"colour": "blue"},
    ],
)
def test_any_other_call_fails(arguments: dict[str, Any]) -> None:
    """A wrong value, type or order, a missing argument and one too many are found."""
    assert problem_with([made(**arguments)], [WANTED])


def test_calls_are_counted_in_any_order() -> None:
    """Each accepted call must have been made once, in whatever order; none and one more are both wrong."""
    one, two = AcceptedCall("f", {"x": [1]}), AcceptedCall("f", {"x": [2]})
    calls = [MadeCall("f", {"x": 2}), MadeCall("f", {"x": 1})]
    assert problem_with(calls, [one, two]) == ""
    assert problem_with(calls, [one])
    assert problem_with([], [one])
    assert problem_with([calls[0], calls[0]], [one, two])
    assert problem_with([], []) == ""
    assert problem_with([MadeCall("g", {"x": 1})], [one]) == "called g, not f"


def test_descriptions_become_json_schemas() -> None:
    """Python's names of types are translated, defaults are stated in words, and what is required must be there."""
    node = {
        "type": "dict",
        "required": ["x", "gone"],
        "properties": {
            "x": {"type": "float", "description": "How much.", "default": 1.5},
            "y": {"type": "tuple", "items": {"type": "dict"}},
            "z": {"type": "any"},
        },
    }
    assert schema_of(node) == {
        "type": "object",
        "properties": {
            "x": {"type": "number", "description": "How much. Default: 1.5."},
            "y": {"type": "array", "items": {"type": "object"}},
            "z": {},
        },
        "required": ["x"],
        "additionalProperties": False,
    }


def test_functions_get_names_that_tools_can_have() -> None:
    """Dots and capitals go, and no two functions end up with one name."""
    functions = [Function(name, "", {}) for name in ("Math.Add", "math_add", "2nd", "request_user_input")]
    assert names_of(functions, {"request_user_input"}) == [
        "math_add",
        "math_add_2",
        "f_2nd",
        "request_user_input_2",
    ]


def test_questions_are_read_from_a_wheel(tmp_path: Path) -> None:
    """A question has its words, its functions and the calls that are accepted; a sample is taken at even distances."""
    entry = {
        "question": [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Add 1."}]],
        "function": [
            {"name": "add", "description": "Adds.", "parameters": {"type": "dict", "properties": {}}}
        ],
    }
    with zipfile.ZipFile(tmp_path / "data.whl", "w") as wheel:
        lines = "\n".join(json.dumps({"id": f"multiple_{n}", **entry}) for n in range(6))
        wheel.writestr("bfcl_eval/data/BFCL_v4_multiple.json", lines)
        answers = (
            json.dumps({"id": f"multiple_{n}", "ground_truth": [{"add": {"n": [1]}}]}) for n in range(6)
        )
        wheel.writestr("bfcl_eval/data/possible_answer/BFCL_v4_multiple.json", "\n".join(answers))
    questions = read_questions(tmp_path / "data.whl", "multiple")
    assert questions[0].text == "Be brief.\n\nAdd 1."
    assert questions[0].accepted == (AcceptedCall("add", {"n": [1]}),)
    assert [question.name for question in sample_of(questions, 3)] == [
        "multiple_0",
        "multiple_2",
        "multiple_4",
    ]
