import json
from typing import Any

import pytest

from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Outcome
from aeond.domain.plans.plan import PlanStep
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.strategy import ADD, LOOK, SPECS, STORE, calls, grant, says, spec, validator

PERSON: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


def supervisor(*answers: Any) -> tuple[Supervisor, Any]:
    llm = says(*answers)
    return Supervisor(llm, validator()), llm


def changes(outcome: Outcome[Any]) -> str:
    """The report of a successful repair about its changes."""
    assert outcome.ok, outcome.problem
    assert outcome.problem is not None
    assert outcome.problem.reason == "REPAIRED"
    return outcome.problem.message


def refused(outcome: Outcome[Any]) -> str:
    assert not outcome.ok
    assert outcome.problem is not None
    assert outcome.problem.reason == "REPAIR_FAILED"
    return outcome.problem.message


async def test_sound_json_needs_no_repair() -> None:
    """A valid object comes back unchanged, with no problem and no budget spent."""
    repairer, _ = supervisor()
    purse = grant()
    outcome = await repairer.repair_json('{"name": "Ada", "age": 36}', PERSON, purse)
    assert outcome.ok
    assert outcome.problem is None
    assert outcome.value == {"name": "Ada", "age": 36}
    assert purse.used.llm_calls == 0


async def test_a_repair_by_rule_costs_no_model_call() -> None:
    """Broken syntax is repaired by rule, and the repair says so."""
    repairer, llm = supervisor()
    outcome = await repairer.repair_json("```json\n{'name': 'Ada', 'age': 36,}\n```", PERSON, grant())
    assert outcome.value == {"name": "Ada", "age": 36}
    assert "code fence" in changes(outcome)
    assert not llm.requests


async def test_the_model_repairs_what_rules_cannot() -> None:
    """The model is asked with the schema and the problem, and its answer is checked like any other."""
    repairer, llm = supervisor('{"name": "Ada", "age": 36}')
    outcome = await repairer.repair_json("name is Ada and age is 36", PERSON, grant())
    assert outcome.value == {"name": "Ada", "age": 36}
    assert "attempt 1" in changes(outcome)
    assert llm.requests[0].schema == PERSON


async def test_a_second_attempt_may_succeed() -> None:
    """A repair that went wrong is tried once more."""
    repairer, llm = supervisor("not JSON at all", '{"name": "Ada"}')
    outcome = await repairer.repair_json("name = Ada", PERSON, grant())
    assert "attempt 2" in changes(outcome)
    assert len(llm.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        '{"name": "Grace"}',  # a new value
        '{"name": "Ada", "age": 37}',
        '{"surname": "Ada"}',  # against the schema
        '{"name": "Ada"',  # not even JSON, although a rule would repair it
        "sorry",
    ],
)
async def test_repairs_that_do_not_hold_are_refused_after_two_attempts(answer: str) -> None:
    """A model that adds meaning or breaks the form gets two attempts and then the repair has failed."""
    repairer, llm = supervisor({"text": answer})
    purse = grant()
    outcome = await repairer.repair_json(
        "name: Ada; age: unknown" if answer != '{"name": "Ada"' else "x", PERSON, purse
    )
    refused(outcome)
    assert len(llm.requests) == 2
    assert purse.used.llm_calls == 2


@pytest.mark.parametrize(("llm_calls", "tokens", "asked"), [(0, 10_000, 0), (1, 10_000, 1), (5, 20, 0)])
async def test_a_repair_stays_within_its_grant(llm_calls: int, tokens: int, asked: int) -> None:
    """With no calls or tokens left the model is not asked."""
    repairer, llm = supervisor({"text": "sorry"})
    purse = grant(llm_calls, tokens)
    refused(await repairer.repair_json("name: Ada", PERSON, purse))
    assert len(llm.requests) == asked
    assert purse.used.exceeding(purse.reservation) == ""


async def test_text_too_long_for_the_model_is_not_sent_to_it() -> None:
    """A huge malformed text fails at once instead of filling the prompt."""
    repairer, llm = supervisor({"text": "{}"})
    assert "too long" in refused(await repairer.repair_json("x" * 50_000, PERSON, grant()))
    assert not llm.requests


async def test_a_failing_model_ends_the_repair() -> None:
    """An error of the model is part of the failed repair's message."""
    repairer, _ = supervisor({"fail": "BAD_ANSWER"})
    assert "failed" in refused(await repairer.repair_json("name: Ada", PERSON, grant()))


async def test_values_in_other_types_cost_no_model_call() -> None:
    """A number written as text, and an argument name in another case, are repaired by rule."""
    repairer, llm = supervisor()
    outcome = await repairer.repair_tool_call(ToolCall("add", {"A": "1", "b": 2.0}), ADD, grant())
    assert outcome.value == ToolCall("add", {"a": 1, "b": 2})
    assert changes(outcome)
    assert not llm.requests


@pytest.mark.parametrize(
    "answer",
    [
        '{"name": "add", "parameters": {"A": 1, "B": 2}}',
        '{"tool": "add", "arguments": {"a": 1, "b": 2,}}',
        '{"function": {"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": 2}"}}',
    ],
)
async def test_a_repaired_call_in_another_form_is_set_right_by_rule(answer: str) -> None:
    """Other models' words and broken JSON in a repair by the model are repaired without asking it again."""
    repairer, llm = supervisor(answer)
    outcome = await repairer.repair_tool_call(ToolCall("add", {"first": 1, "second": 2}), ADD, grant())
    assert outcome.value == ToolCall("add", {"a": 1, "b": 2})
    assert changes(outcome)
    assert len(llm.requests) == 1


@pytest.mark.parametrize(
    ("given", "meant"),
    [({"on": "True"}, {"on": True}), ({"items": '["a", "b"]'}, {"items": ["a", "b"]})],
)
async def test_values_in_another_type_are_set_right_by_rule(given: JsonObject, meant: JsonObject) -> None:
    """A truth value and a list that were written as texts are the same values, and lose no meaning."""
    switch = spec("t", {"on": {"type": "boolean"}, "items": {"type": "array", "items": {"type": "string"}}})
    repairer = Supervisor(says(), validator(switch))
    outcome = await repairer.repair_tool_call(ToolCall("t", given), switch, grant())
    assert outcome.value == ToolCall("t", meant)
    assert changes(outcome)


async def test_a_misnamed_argument_is_repaired_by_the_model() -> None:
    """An argument under a name that no rule can guess is moved by the model, its value kept."""
    repairer, llm = supervisor('{"tool": "look", "arguments": {"path": "garden"}}')
    outcome = await repairer.repair_tool_call(ToolCall("look", {"where": "garden"}), LOOK, grant())
    assert outcome.value == ToolCall("look", {"path": "garden"})
    assert len(llm.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"tool": "look", "arguments": {"path": "kitchen"}},  # another value
        {"tool": "store", "arguments": {"key": "garden", "value": 3}},  # another tool
        {"tool": "look", "arguments": {"path": "garden"}},  # the depth was dropped
    ],
)
async def test_a_repaired_call_means_what_the_call_meant(answer: Any) -> None:
    """A repair may neither change nor drop a value, nor call another tool."""
    repairer, _ = supervisor({"text": json.dumps(answer)})
    call = ToolCall("look", {"where": "garden", "levels": 3})
    refused(await repairer.repair_tool_call(call, LOOK, grant()))


async def test_a_plan_in_another_form_is_set_right_by_rule() -> None:
    """A fenced plan of calls in other words is read, its types set right, its order derived."""
    text = '```json\n[{"name": "add", "args": {"a": "1", "b": 2}}, {"name": "store", "args": {"key": "k", "value": "$s1"}}]\n```'
    repairer, llm = supervisor()
    outcome = await repairer.repair_plan(text, SPECS, grant())
    assert outcome.value is not None
    assert [step.tool_call for step in outcome.value] == [
        ToolCall("add", {"a": 1, "b": 2}),
        ToolCall("store", {"key": "k", "value": "$s1"}),
    ]
    assert outcome.value.steps[1].depends_on == ("s1",)
    assert "corrected the form" in changes(outcome)
    assert not llm.requests


async def test_declared_cycles_in_a_models_plan_do_not_survive() -> None:
    """Dependencies that a model declares are derived again, so that they can form no cycle."""
    steps: list[JsonValue] = [
        {"tool": "look", "arguments": {"path": p}, "depends_on": ["s2", "s1"]} for p in ("x", "y")
    ]
    repairer, _ = supervisor()
    outcome = await repairer.repair_plan(json.dumps({"steps": steps}), SPECS, grant())
    assert outcome.value is not None
    assert [step.depends_on for step in outcome.value] == [(), ()]


async def test_an_unknown_tool_stays_the_steps_own_problem() -> None:
    """A plan with a tool that is not registered is kept; no other tool is put in its place."""
    plan = '{"steps": [{"name": "mystery", "args": {"x": 1}}]}'
    repairer, llm = supervisor()
    outcome = await repairer.repair_plan(plan, SPECS, grant())
    assert outcome.value is not None
    assert outcome.value.steps[0].tool_call == ToolCall("mystery", {"x": 1})
    assert not llm.requests


@pytest.mark.parametrize(
    "answer",
    [
        {
            "steps": [
                {"tool": "look", "arguments": {"path": "x"}},
                {"tool": "store", "arguments": {"key": "x", "value": "x"}},
            ]
        },
        {
            "steps": [
                {"tool": "look", "arguments": {"path": "x"}},
                {"tool": "look", "arguments": {"path": "x"}},
            ]
        },
        {"steps": [{"tool": "look", "arguments": {"path": "cellar"}}]},
        {"steps": [{"agent": "llm", "task": "Look at x."}]},
        {"steps": []},
    ],
)
async def test_a_repaired_plan_adds_nothing(answer: Any) -> None:
    """A repair of a plan with new tools, steps, values or tasks is refused."""
    repairer, llm = supervisor({"text": json.dumps(answer)})
    refused(await repairer.repair_plan("tool: look, path is x", SPECS, grant()))
    assert len(llm.requests) == 2


async def test_a_plan_repaired_by_the_model_is_adopted() -> None:
    """A plan that no rule can read is taken from the model if it says what the text said."""
    repairer, _ = supervisor('{"steps":[{"tool":"look","arguments":{"path":"x"}}]}')
    outcome = await repairer.repair_plan("tool: look, path is x", SPECS, grant())
    assert outcome.value is not None
    assert outcome.value.steps[0].tool_call == ToolCall("look", {"path": "x"})
    assert "attempt 1" in changes(outcome)


@pytest.mark.parametrize("argument", [float("nan"), "\ud800"])
async def test_a_call_that_is_no_json_is_refused(argument: JsonValue) -> None:
    """A value that cannot even be written as JSON is not sent to a model."""
    repairer, llm = supervisor({"text": "{}"})
    refused(await repairer.repair_tool_call(ToolCall("look", {"path": argument}), LOOK, grant()))
    assert not llm.requests


MISSING = PlanStep(
    "s1",
    "Look into the garden",
    ToolCall("garden_viewer", {"path": "garden"}),
    errors=("Tool 'x' not found",),
)


async def test_a_near_match_of_a_tool_name_is_repaired_by_rule() -> None:
    """A name that is nearly that of one registered tool means that tool."""
    repairer, llm = supervisor()
    step = calls("s1", "Look", path="garden")
    outcome = await repairer.repair_missing_tool_step(step, SPECS, "see the garden", grant())
    assert outcome.value.tool_call == ToolCall("look", {"path": "garden"})
    assert "now calls look" in changes(outcome)
    assert not llm.requests


async def test_the_model_chooses_a_registered_tool_for_a_missing_one() -> None:
    """A step of a tool that is not there gets a registered one with the same values, and no errors."""
    repairer, llm = supervisor('{"tool":"look","arguments":{"path":"garden"}}')
    outcome = await repairer.repair_missing_tool_step(MISSING, SPECS, "see the garden", grant())
    assert outcome.value.tool_call == ToolCall("look", {"path": "garden"})
    assert outcome.value.errors == ()
    assert changes(outcome)
    assert "garden_viewer" in str(llm.requests[0].messages[-1].content)


@pytest.mark.parametrize(
    "answer",
    [
        '{"tool":null}',
        '{"tool":"teleport","arguments":{}}',
        '{"tool":"look","arguments":{"path":"cellar"}}',
        "no",
    ],
)
async def test_a_step_without_a_fitting_tool_stays_as_it_was(answer: str) -> None:
    """No tool, an unknown one or invented arguments leave the step with its errors."""
    repairer, llm = supervisor({"text": answer})
    outcome = await repairer.repair_missing_tool_step(MISSING, (LOOK, STORE), "see the garden", grant())
    refused(outcome)
    assert outcome.value == MISSING
    assert len(llm.requests) == 2


async def test_without_any_tools_there_is_nothing_to_choose() -> None:
    """With an empty registry the step fails without a call."""
    repairer, llm = supervisor({"text": "{}"})
    refused(await repairer.repair_missing_tool_step(MISSING, (), "see the garden", grant()))
    assert not llm.requests


SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
    "additionalProperties": False,
}
ASKED = (Message(Role.USER, "How many?"),)


async def test_one_call_under_the_schema() -> None:
    """An answer that satisfies the schema is taken as it is, for one call."""
    llm, purse = says('{"count":3}'), grant()
    assert (await Supervisor(llm, validator()).ask(ASKED, SCHEMA, 50, purse)).value == {"count": 3}
    assert llm.requests[0].schema == SCHEMA
    assert purse.used.llm_calls == 1


async def test_malformed_output_is_repaired_and_not_asked_for_again() -> None:
    """JSON in a code fence is read by rule: the model is not asked twice."""
    llm = says('```json\n{"count": 3}\n```')
    outcome = await Supervisor(llm, validator()).ask(ASKED, SCHEMA, 50, grant())
    assert (outcome.ok, outcome.value) == (True, {"count": 3})
    assert len(llm.requests) == 1


async def test_output_beyond_repair_goes_to_the_supervisor() -> None:
    """Output that no rule repairs is shown to the model with the problem, within the rest of the grant."""
    llm, purse = says('{"number": 3}', '{"count": 3}'), grant()
    assert (await Supervisor(llm, validator()).ask(ASKED, SCHEMA, 50, purse)).value == {"count": 3}
    assert '{"number": 3}' in str(llm.requests[1].messages[-1].content)
    assert purse.used.llm_calls == 2


@pytest.mark.parametrize(
    ("answer", "calls", "reason"),
    [
        ({"text": '{"count":"many"}'}, 2, "REPAIR_FAILED"),
        ({"text": json.dumps({"count": 3}) + " " * 200 + "x" * 900}, 2, "ANSWER_CUT"),
        ({"fail": "BAD_ANSWER"}, 2, "BAD_ANSWER"),
        ({"gone": True}, 2, "LLM_GONE"),
        ({"text": '{"count":3}'}, 0, "BUDGET_SPENT"),
    ],
)
async def test_each_failure_is_a_problem(answer: dict[str, object], calls: int, reason: str) -> None:
    """Another shape, a cut answer, a failing model, a spent grant: a problem with its reason, and no value."""
    purse = grant(calls, 4_000)
    outcome = await Supervisor(says(answer), validator()).ask(ASKED, SCHEMA, 50, purse)
    assert (outcome.ok, outcome.value) == (False, None)
    assert outcome.problem is not None
    assert outcome.problem.reason == reason
    assert purse.used.exceeding(purse.reservation) == ""
