import pytest

from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.execution.readiness import (
    MAX_CONTEXT_CHARS,
    bound_arguments,
    context_length,
    prepared_step,
    primary_value,
    with_values,
)
from tests.support.strategy import calls, run_of, spec, thinks, validator

TEXT: JsonObject = {"type": "string"}
NUMBER: JsonObject = {"type": "number"}
ANYTHING: JsonObject = {}

OUTPUTS: dict[str, JsonValue] = {
    "s1": {"result": 420},
    "s2": {"path": ".", "entries": [{"name": "a.txt", "size": 3}, {"name": "b.txt", "size": 5}], "total": 2},
    "s3": "a haiku",
    "s4": {"key": "k", "found": True, "value": [1, 2]},
    "s5": ["x", "y"],
    "s6": 7,
}


def bound(value: JsonValue, schema: JsonObject = ANYTHING) -> object:
    """The argument after conversion to that schema, or the message of the problem."""
    step = PlanStep("s9", "use it", ToolCall("use", {"value": value}))
    run = run_of(*(thinks(name, "x") for name in OUTPUTS), step, outputs=OUTPUTS)
    outcome = bound_arguments({"value": value}, run, spec("use", {"value": schema}), validator())
    if outcome.ok:
        return outcome.value["value"]
    assert outcome.problem is not None
    assert outcome.problem.reason == "REFERENCE_UNRESOLVED"
    assert outcome.problem.path.startswith("/value")
    return outcome.problem.message


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("$s1", NUMBER, 420),
        ("$s1", TEXT, "420"),
        ("$s1", {"type": "object"}, {"result": 420}),
        ("$s1.result", NUMBER, 420),
        ("$s1.output", NUMBER, 420),
        ("$s2.entries[1].name", TEXT, "b.txt"),
        ("$s2.entries[0].size", TEXT, "3"),
        ("$s2.entries", {"type": "array"}, [{"name": "a.txt", "size": 3}, {"name": "b.txt", "size": 5}]),
        ("$s2", {"type": "object"}, OUTPUTS["s2"]),
        ("$s2.total", ANYTHING, 2),
        ("$s3", TEXT, "a haiku"),
        ("$s3.result", TEXT, "a haiku"),
        ("$s4", {"type": "array"}, [1, 2]),
        ("$s4", TEXT, "[1, 2]"),
        ("$s4.found", {"type": "boolean"}, True),
        ("$s5[1]", TEXT, "y"),
        ("$s6", {"anyOf": [TEXT, NUMBER]}, 7),
        ("$s1 * 2 + $s6", TEXT, "420 * 2 + 7"),
        ("The first is $s2.entries[0].name.", TEXT, "The first is a.txt."),
        ("poem-$s3.txt", TEXT, "poem-a haiku.txt"),
        ("It costs $5.", TEXT, "It costs $5."),
        (["$s1", {"deep": "$s3"}], ANYTHING, [420, {"deep": "a haiku"}]),
        (12, NUMBER, 12),
    ],
)
def test_references_become_what_the_schema_wants(
    value: JsonValue, schema: JsonObject, expected: JsonValue
) -> None:
    """A reference becomes the value, its whole output or its text, whichever the tool takes."""
    assert bound(value, schema) == expected


@pytest.mark.parametrize(
    ("value", "there"),
    [
        ("$s1.total", ".result"),
        ("$s2.entries[5]", "[0] to [1]"),
        ("$s2.entries.name", "[0]"),
        ("$s3.title", "text"),
        ("$s5.first", "[0]"),
        ("$s2.entries[0].colour", ".name, .size"),
        (["x", "$s2.nothing"], ".path, .entries, .total"),
        ("$s7", "not in the plan"),
        ("see $s2.nothing", ".path, .entries, .total"),
    ],
)
def test_a_reference_that_leads_nowhere_tells_what_is_there(value: JsonValue, there: str) -> None:
    """An unresolvable reference fails with the names that would have worked."""
    assert there in str(bound(value))


def test_a_step_without_a_result_cannot_be_referred_to() -> None:
    """The error for a reference to a step that has not succeeded names that step's state."""
    step = calls("s2", "look", "s1", path="$s1")
    run = run_of(thinks("s1", "x"), step)
    outcome = bound_arguments({"path": "$s1"}, run, spec("look", {"path": TEXT}), validator())
    assert outcome.problem is not None
    assert StepState.PENDING in outcome.problem.message


def test_dollar_signs_in_results_are_text() -> None:
    """The content of an output is data: a reference in it is not followed."""
    step = calls("s3", "look", path="$s2")
    run = run_of(thinks("s1", "x"), thinks("s2", "y"), step, outputs={"s1": "secret", "s2": "$s1"})
    bound = bound_arguments({"path": "$s2"}, run, spec("look", {"path": TEXT}), validator())
    assert bound.value == {"path": "$s1"}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"anything": 1}, 1),
        ({"a": 1, "text": "x", "value": 2}, 2),
        ({"a": 1, "content": "x", "text": "y"}, "x"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ({}, {}),
        ([1], [1]),
        (None, None),
    ],
)
def test_the_primary_value_of_an_output(output: JsonValue, expected: JsonValue) -> None:
    """An output is about its only property, or about the one called result, value, content or text."""
    assert primary_value(output) == expected


def test_a_step_is_prepared_from_what_it_waits_for() -> None:
    """A ready step knows its place and sees the outputs and handoffs of its dependencies, and no others."""
    first = PlanStep("s1", "Look", ToolCall("look", {"path": "x"}), handoff_to_next="the herbs are dry")
    last = thinks("s3", "Summarise", "s1")
    run = run_of(first, thinks("s2", "other"), last, outputs={"s1": {"herbs": ["mint"]}, "s2": "unrelated"})
    prepared = prepared_step(last, run)
    assert (prepared.step_index, prepared.total_steps) == (3, 3)
    assert prepared.incoming_context == (
        '$s1 (Look):\n{"herbs": ["mint"]}\nNote for the next step: the herbs are dry'
    )


def test_a_missing_dependency_is_left_out_of_the_context() -> None:
    """A dependency that the run does not have keeps no other out of the context."""
    run = run_of(thinks("s1", "Look"), outputs={"s1": "mint"})
    prepared = prepared_step(thinks("s2", "Tell", "s9", "s1"), run)
    assert prepared.incoming_context == "$s1 (Look):\nmint"


def test_a_step_that_waits_for_nothing_has_no_context() -> None:
    """The first step of a plan starts from nothing."""
    step = thinks("s1", "Sing")
    assert prepared_step(step, run_of(step)).incoming_context == ""


def test_long_outputs_are_shortened_visibly_in_the_context() -> None:
    """A huge output leaves room for the small one, and the context says what is missing."""
    run = run_of(thinks("s1", "a"), thinks("s2", "b"), outputs={"s1": "x" * 100_000, "s2": "short"})
    context = prepared_step(thinks("s3", "c", "s1", "s2"), run).incoming_context
    assert len(context) < MAX_CONTEXT_CHARS + 500
    assert f"[... {100_000 + 5 - MAX_CONTEXT_CHARS} characters left out ...]" in context
    assert "$s2 (b):\nshort" in context
    assert context_length(("s1", "s2", "s9"), run) == 100_005


def test_texts_of_several_lines_are_shown_as_they_are() -> None:
    """An agent reads a text, not its JSON; what else there is in numbers follows in a line."""
    read: dict[str, JsonValue] = {
        "path": "a.txt",
        "text": "one\ntwo\n",
        "line_count": 2,
        "truncated": False,
        "next_offset": 8,
    }
    run = run_of(calls("s1", "look", path="a.txt"), outputs={"s1": read})
    context = prepared_step(thinks("s2", "Tell.", "s1"), run).incoming_context
    assert context.endswith(":\none\ntwo\n(line_count: 2)")
    cut = run_of(calls("s1", "look", path="a.txt"), outputs={"s1": {**read, "truncated": True}})
    context = prepared_step(thinks("s2", "Tell.", "s1"), cut).incoming_context
    assert context.endswith(":\none\ntwo\n(line_count: 2, truncated: true, next_offset: 8)")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Clara", "Sign it with Clara."),
        ({"value": 3}, "Sign it with 3."),
        ("one\ntwo", "Sign it with $s1."),
        ("x" * 200, "Sign it with $s1."),
    ],
)
def test_short_values_stand_in_the_place_of_references(output: JsonValue, expected: str) -> None:
    """A short value replaces its reference in an agent's task; a long one stays a reference to the context."""
    run = run_of(thinks("s1", "Ask."), outputs={"s1": output})
    assert with_values("Sign it with $s1.", run) == expected
    assert with_values("It costs $5, see $s9.", run) == "It costs $5, see $s9."
