import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.plans.plan import MAX_PLAN_STEPS, Plan, PlanStep
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonObject, JsonValue
from tests.support.strategy import ADD, LOOK, calls, thinks, validator


def problems(*steps: PlanStep) -> set[tuple[str, str]]:
    return {(p.reason, p.path) for p in validator().validate_plan(Plan("", steps))}


def test_a_sound_plan_has_no_problems() -> None:
    """A plan that can be carried out passes, unknown tools and agents included: these are repaired later."""
    assert (
        problems(
            calls("s1", "look", path="garden"),
            calls("s2", "store", "s1", key="k", value="$s1.entries[0]"),
            thinks("s3", "Compare $s1 and $s2.", "s2"),
            calls("s4", "mystery", "s1", anything="goes"),
            PlanStep("s5", "ask", agent="somebody"),
        )
        == set()
    )


@pytest.mark.parametrize(
    ("steps", "reason", "path"),
    [
        ((), "PLAN_EMPTY", "/steps"),
        (tuple(thinks(f"s{n}", "x") for n in range(MAX_PLAN_STEPS + 1)), "PLAN_TOO_LONG", "/steps"),
        ((thinks("s1", "x"), thinks("s1", "y")), "STEP_ID_DUPLICATE", "/steps/1/step_id"),
        ((thinks("", "x"),), "STEP_ID_INVALID", "/steps/0/step_id"),
        ((thinks("a b", "x"),), "STEP_ID_INVALID", "/steps/0/step_id"),
        ((thinks("x" * 65, "x"),), "STEP_ID_INVALID", "/steps/0/step_id"),
        ((thinks("s1", "x", "s9"),), "DEPENDENCY_UNKNOWN", "/steps/0/depends_on/0"),
        ((thinks("s1", "x", "s1"),), "PLAN_CYCLE", "/steps"),
        ((thinks("s1", "x", "s2"), thinks("s2", "x", "s1")), "PLAN_CYCLE", "/steps"),
        (
            (calls("s1", "look", path="$s2"), thinks("s2", "x")),
            "REFERENCE_NOT_EARLIER",
            "/steps/0/tool_call/arguments/path",
        ),
        ((calls("s1", "look", path="$s1"),), "REFERENCE_NOT_EARLIER", "/steps/0/tool_call/arguments/path"),
        ((calls("s1", "look", path="$s7.x"),), "REFERENCE_UNKNOWN", "/steps/0/tool_call/arguments/path"),
        ((thinks("s1", "What is $s4?"),), "REFERENCE_UNKNOWN", "/steps/0/description"),
        ((PlanStep("s1", "x"),), "STEP_HAS_NO_ACTION", "/steps/0"),
        ((PlanStep("s1", "x", ToolCall("look", {"path": "x"}), "llm"),), "STEP_HAS_TWO_ACTIONS", "/steps/0"),
        ((PlanStep("s1", " ", agent="llm"),), "TASK_EMPTY", "/steps/0/description"),
        ((PlanStep("s1", "x", ToolCall("")),), "TOOL_UNNAMED", "/steps/0/tool_call/tool"),
        ((calls("s1", "add", a=1),), "ARGUMENT_MISSING", "/steps/0/tool_call/arguments/b"),
        ((calls("s1", "add", a=1, b=2, c=3),), "ARGUMENT_UNKNOWN", "/steps/0/tool_call/arguments/c"),
        ((calls("s1", "add", a=1, b="two"),), "ARGUMENT_INVALID", "/steps/0/tool_call/arguments/b"),
        ((calls("s1", "mystery", x=math.inf),), "JSON_NOT_FINITE", "/steps/0/tool_call/arguments/x"),
        ((calls("s1", "look", path="\udc00"),), "JSON_LONE_SURROGATE", "/steps/0/tool_call/arguments/path"),
    ],
)
def test_each_fault_of_a_plan_is_named_with_its_place(
    steps: tuple[PlanStep, ...], reason: str, path: str
) -> None:
    """Whatever is wrong with a plan is found before anything runs, by reason and path."""
    assert (reason, path) in problems(*steps)


def test_all_faults_are_reported_at_once() -> None:
    """All problems of a plan are reported at once."""
    found = problems(calls("s1", "add", a=1), PlanStep("s2", ""), thinks("s3", "x", "nowhere"))
    assert {reason for reason, _ in found} == {"ARGUMENT_MISSING", "STEP_HAS_NO_ACTION", "DEPENDENCY_UNKNOWN"}


def test_ten_thousand_steps_are_one_problem() -> None:
    """A plan far too long is refused at once and not looked into."""
    assert problems(*(PlanStep("", "") for _ in range(10_000))) == {("PLAN_TOO_LONG", "/steps")}


def test_arguments_nested_too_deep_are_a_problem_and_no_crash() -> None:
    """A client's argument nested 5,000 deep is refused by its depth."""
    deep: JsonValue = "$s1"
    for _ in range(5_000):
        deep = [deep]
    assert {reason for reason, _ in problems(calls("s1", "store", key="k", value=deep))} == {"JSON_TOO_DEEP"}


def test_references_by_a_clients_own_ids_stand_for_values() -> None:
    """A reference to a step with a name of its own is accepted where a number is wanted."""
    assert problems(calls("sum", "add", a=1, b=2), calls("s2", "add", "sum", a="$sum.result", b=1)) == set()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["s1", "s2", "s3", "x y", ""]),
            st.lists(st.sampled_from(["s1", "s2", "s3", "s9"]), max_size=3),
        ),
        max_size=5,
    )
)
def test_no_plan_makes_validation_fail(shape: list[tuple[str, list[str]]]) -> None:
    """Any ids and dependencies are judged; a plan without problems has an order to run in."""
    steps = tuple(PlanStep(name, "task", agent="llm", depends_on=tuple(on)) for name, on in shape)
    if validator().validate_plan(Plan("", steps)) == ():
        done: set[str] = set()
        while len(done) < len(steps):
            ready = {s.step_id for s in steps if set(s.depends_on) <= done} - done
            assert ready
            done |= ready


def test_a_call_of_another_tool_does_not_match() -> None:
    """A call is judged by the schema of its own tool only."""
    (problem,) = validator().validate_tool_call(ToolCall("add", {"path": "x"}), LOOK)
    assert problem.reason == "TOOL_MISMATCH"


def test_a_call_with_a_reference_is_valid_before_it_is_bound() -> None:
    """A numbered reference stands for a value that comes later."""
    assert validator().validate_tool_call(ToolCall("add", {"a": "$s1", "b": 2}), ADD) == ()


def test_a_missing_tool_is_written_into_the_step() -> None:
    """A step whose tool is not registered carries the error, in the words that people look for."""
    step = validator().validate_step_tool(calls("s1", "mystery"))
    assert step.errors == ("Tool 'mystery' not found in registry",)


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (PlanStep("s1", "x"), "The step names neither a tool nor an agent"),
        (PlanStep("s1", "x", agent="somebody"), "Agent 'somebody' not found"),
    ],
)
def test_an_impossible_step_carries_an_error(step: PlanStep, error: str) -> None:
    """A missing action or agent is an error of the step."""
    assert validator().validate_step_tool(step).errors == (error,)


@pytest.mark.parametrize("step", [calls("s1", "look", path="x"), thinks("s1", "x")])
def test_errors_are_cleared_once_the_step_can_be_done(step: PlanStep) -> None:
    """A step whose tool or agent is there loses its old errors."""
    assert validator().validate_step_tool(replace(step, errors=("old",))).errors == ()


OUTPUT: JsonObject = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("output", "reason", "path"),
    [
        ({}, "OUTPUT_MISSING", "/n"),
        ({"n": "one"}, "OUTPUT_INVALID", "/n"),
        ({"n": math.nan}, "JSON_NOT_FINITE", "/n"),
        ({"n": 1, "text": "\ud800"}, "JSON_LONE_SURROGATE", "/text"),
        ([], "OUTPUT_INVALID", ""),
    ],
)
def test_outputs_are_held_to_json_and_to_their_schema(output: JsonValue, reason: str, path: str) -> None:
    """An output that is not sound JSON or breaks its schema is reported with its place."""
    assert (reason, path) in {(p.reason, p.path) for p in validator().validate_output(output, OUTPUT)}


def test_a_deep_output_is_refused_by_its_depth() -> None:
    """An output nested beyond the bound is refused without recursion."""
    deep: JsonValue = 1
    for _ in range(200_000):
        deep = [deep]
    assert [p.reason for p in validator().validate_output(deep, {})] == ["JSON_TOO_DEEP"]


def test_a_good_output_passes() -> None:
    """An output that satisfies its schema has no problems."""
    assert validator().validate_output({"n": 2**70}, OUTPUT) == ()
