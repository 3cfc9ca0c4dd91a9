import pytest

from aeond.domain.plans.plan import Plan
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.planning.plan_parsing import (
    derive_dependencies,
    describe_call,
    in_order,
    plan_from_model,
)
from aeond.orchestration.prompts.run_prompts import WHOLE_REQUEST
from tests.support.strategy import SPECS, calls, thinks


def waits(plan: Plan | None) -> dict[str, tuple[str, ...]]:
    assert plan is not None
    return {step.step_id: step.depends_on for step in plan}


def test_a_models_plan_gets_ids_and_descriptions() -> None:
    """Steps are numbered in their order, and each says in a line what it does."""
    value: JsonValue = {
        "steps": [
            {"tool": "look", "arguments": {"path": "garden", "depth": 2}},
            {"agent": "llm", "task": " What grows in $s1? "},
            {"agent": "llm"},
        ]
    }
    outcome = plan_from_model(value, SPECS)
    assert outcome.value is not None
    assert [step.step_id for step in outcome.value] == ["s1", "s2", "s3"]
    assert [step.description for step in outcome.value] == [
        "look: path=garden, depth=2",
        "What grows in $s1?",
        WHOLE_REQUEST,
    ]
    assert outcome.value.steps[0].tool_call == ToolCall("look", {"path": "garden", "depth": 2})
    assert outcome.value.steps[1].agent == "llm"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, "/steps"),
        ([], "/steps"),
        ({}, "/steps"),
        ({"steps": []}, "/steps"),
        ({"steps": "s1"}, "/steps"),
        ({"steps": [{"agent": "llm"}] * 65}, "/steps"),
        ({"steps": [{"agent": "llm"}, 5]}, "/steps/1"),
        ({"steps": [{"tool": "look", "agent": "llm", "arguments": {}}]}, "/steps/0"),
        ({"steps": [{"tool": 5, "arguments": {}}]}, "/steps/0"),
        ({"steps": [{"tool": "look", "arguments": []}]}, "/steps/0"),
        ({"steps": [{"agent": "llm", "task": ["x"]}]}, "/steps/0"),
    ],
)
def test_a_plan_of_the_wrong_shape_is_reported_by_its_place(value: JsonValue, path: str) -> None:
    """A value that is not a plan is refused with the place of the fault."""
    outcome = plan_from_model(value, SPECS)
    assert outcome.value is None
    assert outcome.problem is not None
    assert outcome.problem.path == path


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # References decide.
        ((calls("s1", "add", a=1, b=2), calls("s2", "add", a="$s1", b=1)), {"s1": (), "s2": ("s1",)}),
        # What only computes waits for nothing else.
        ((calls("s1", "look", path="x"), calls("s2", "add", a=1, b=2)), {"s1": (), "s2": ()}),
        # Looking twice can be done at once.
        ((calls("s1", "look", path="x"), calls("s2", "look", path="y")), {"s1": (), "s2": ()}),
        # A look waits for earlier changes, a change for earlier looks and changes.
        (
            (
                calls("s1", "look", path="x"),
                calls("s2", "store", key="k", value=1),
                calls("s3", "send", to="you"),
                calls("s4", "look", path="x"),
            ),
            {"s1": (), "s2": ("s1",), "s3": ("s1", "s2"), "s4": ("s2", "s3")},
        ),
        # What an unknown tool does to the world is not known.
        (
            (calls("s1", "store", key="k", value=1), calls("s2", "mystery"), calls("s3", "look", path="x")),
            {"s1": (), "s2": ("s1",), "s3": ("s1", "s2")},
        ),
        # A task that refers to nothing speaks about all that came before; one that refers, about that.
        (
            (calls("s1", "add", a=1, b=2), calls("s2", "look", path="x"), thinks("s3", "Compare.")),
            {"s1": (), "s2": (), "s3": ("s1", "s2")},
        ),
        (
            (calls("s1", "add", a=1, b=2), calls("s2", "look", path="x"), thinks("s3", "Is $s2 long?")),
            {"s1": (), "s2": (), "s3": ("s2",)},
        ),
    ],
)
def test_dependencies_follow_from_references_and_effects(
    steps: tuple[object, ...], expected: dict[str, tuple[str, ...]]
) -> None:
    """The order that results and effects demand is derived, and no more than that."""
    derived = derive_dependencies(steps, SPECS)  # type: ignore[arg-type]  # a tuple of steps
    assert {step.step_id: step.depends_on for step in derived} == expected


@pytest.mark.parametrize(
    ("steps", "waits"),
    [
        (["look", "look", "Is $s1 long?"], ("s1", "s2")),
        (["look", "Count the words in $s1.", "look", "Compare $s2 with $s3."], ("s2", "s3")),
        (["look", "Count the words in $s1.", "look", "How much is $s2?"], ("s2", "s3")),
        (["look", "Is $s1 long?", "look"], ()),
    ],
)
def test_the_last_task_gets_what_nothing_else_waits_for(steps: list[str], waits: tuple[str, ...]) -> None:
    """Results that no other step uses are given to the last one, which waits for them."""
    said: list[JsonValue] = [
        {"tool": "look", "arguments": {"path": "x"}} if step == "look" else {"agent": "llm", "task": step}
        for step in steps
    ]
    plan = plan_from_model({"steps": said}, SPECS).value
    assert plan is not None
    assert plan.steps[-1].depends_on == waits


def test_steps_without_any_declared_dependency_run_in_order() -> None:
    """A plan that says nothing about order is carried out as it is written."""
    plan = Plan("", (thinks("a", "x"), thinks("b", "y"), thinks("c", "z")))
    assert waits(in_order(plan)) == {"a": (), "b": ("a",), "c": ("b",)}


def test_one_declared_dependency_leaves_the_order_to_the_plan() -> None:
    """A plan that declares a dependency is taken at its word."""
    plan = Plan("", (thinks("a", "x"), thinks("b", "y"), thinks("c", "z", "a")))
    assert in_order(plan) == plan


def test_a_reference_in_a_clients_plan_is_a_dependency() -> None:
    """A step that declares something else still waits for what it refers to."""
    plan = Plan("", (thinks("a", "x"), thinks("b", "y"), thinks("c", "Compare $a with the other.", "b")))
    assert waits(in_order(plan)) == {"a": (), "b": (), "c": ("b", "a")}


def test_descriptions_are_one_bounded_line() -> None:
    """A call with a huge argument is described in a short line."""
    line = describe_call(ToolCall("store", {"key": "a\nb", "value": "x" * 5000}))
    assert line.startswith("store: key=a b, value=xxx")
    assert len(line) < 200
    assert describe_call(ToolCall("now")) == "now"
