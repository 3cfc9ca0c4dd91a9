"""Decisions by native tool calls."""

from collections.abc import Mapping
from typing import Any

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.llm import ToolChoice
from aeond.domain.messages import Message, ModelToolCall, Role
from aeond.domain.tools import ToolCall
from aeond.orchestration.decision.forms.native import NativeDecisions
from aeond.orchestration.decision.interfaces import CallTool, GiveAnswer, MakePlan, Offer, Turn
from aeond.orchestration.prompts.decision_prompts import NATIVE_RULES, OPEN_RULES
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.strategy import ADD, grant, validator

OFFER = Offer((ADD,), plan=True)
SUM = ToolCall("add", {"a": 1, "b": 2})


def native(*rules: Mapping[str, Any], tool_calls: bool = True) -> tuple[NativeDecisions, ScriptedLLM]:
    parsed = tuple(Rule.model_validate({"times": 1, **rule}) for rule in rules)
    llm = ScriptedLLM(Script(rules=parsed, tool_calls=tool_calls))
    return NativeDecisions(Supervisor(llm, validator())), llm


def asked(model: NativeDecisions, instructions: str = "") -> tuple[Message, ...]:
    return model.conversation(model.opening((ADD,), instructions), "What is 1 + 2?", (), "")


@pytest.mark.parametrize(
    ("calls", "decision"),
    [
        ([{"add": {"a": 1, "b": 2}}], CallTool(SUM)),
        ([{"add": '{"a": 1, "b": 2}'}], CallTool(SUM)),
        ([{"cannot": {"text": "No."}}], GiveAnswer("No.", fulfilled=False)),
        ([{"plan": {}}], MakePlan()),
        ([{"plan": ""}], MakePlan()),
        ([{"add": {"a": 1, "b": 2}}, {"add": {"a": 9, "b": 9}}], CallTool(SUM)),
    ],
)
async def test_the_first_call_is_the_decision(calls: list[dict[str, Any]], decision: object) -> None:
    """A call of a tool, of `cannot` or of `plan` is the action, and of several calls the first."""
    model, llm = native({"calls": calls})
    assert (await model.decide(asked(model), OFFER, grant(), lambda _: None)).value == decision
    (request,) = llm.requests
    assert [tool.name for tool in request.tools] == ["add", "cannot", "plan"]
    assert (request.schema, request.tool_choice) == (None, ToolChoice.AUTO)


async def test_where_no_answer_is_offered_a_call_is_required() -> None:
    """A model that must go on is offered no refusal, and has to call a tool."""
    model, llm = native({"calls": [{"add": {"a": 1, "b": 2}}]})
    offer = Offer((ADD,), answer=False)
    assert (await model.decide(asked(model), offer, grant(), lambda _: None)).value == CallTool(SUM)
    (request,) = llm.requests
    assert ([tool.name for tool in request.tools], request.tool_choice) == (["add"], ToolChoice.REQUIRED)


async def test_text_is_the_answer_and_streams() -> None:
    """A reply without a call is the answer, shown as it comes."""
    model, _ = native({"text": "It is three, and nothing else."})
    shown: list[str] = []
    outcome = await model.decide(asked(model), OFFER, grant(), shown.append)
    assert outcome.value == GiveAnswer("It is three, and nothing else.")
    assert len(shown) > 1
    assert "".join(shown) == "It is three, and nothing else."


async def test_text_before_a_call_is_taken_back() -> None:
    """Text that a model writes before it calls a tool is no answer: clients receive a reset."""
    model, _ = native({"text": "Let me see.", "calls": [{"add": {"a": 1, "b": 2}}]})
    shown: list[str] = []
    assert (await model.decide(asked(model), OFFER, grant(), shown.append)).value == CallTool(SUM)
    assert shown[-1] == ""


@pytest.mark.parametrize(
    "first",
    [
        {"calls": [{"add": "{"}]},
        {"calls": [{"dance": {}}]},
        {"calls": [{"cannot": {"text": " "}}]},
        {"text": "  "},
    ],
)
async def test_an_unreadable_reply_is_asked_for_once_as_json(first: dict[str, Any]) -> None:
    """Broken arguments, an unknown tool and an empty reply fall back to the constrained form, with its rules."""
    model, llm = native(first, {"json": {"add": {"a": 1, "b": 2}}})
    budget = grant()
    messages = asked(model, "Be brief.")
    assert (await model.decide(messages, OFFER, budget, lambda _: None)).value == CallTool(SUM)
    _, second = llm.requests
    assert (second.tools, second.schema is None) == ((), False)
    system = str(second.messages[0].content)
    assert system.startswith(OPEN_RULES)
    assert system.endswith("Be brief.")
    assert budget.left.llm_calls == 8


async def test_the_fallback_is_tried_once() -> None:
    """When the constrained form cannot be read either, the decision is a problem."""
    model, llm = native({"text": " "}, {"text": '{"dance": {}}'})
    outcome = await model.decide(asked(model), OFFER, grant(2), lambda _: None)
    assert (outcome.value, outcome.ok) == (None, False)
    assert len(llm.requests) == 2


async def test_a_server_without_tool_calls_decides_in_json() -> None:
    """A model whose probe fails decides in the constrained form at once."""
    model, llm = native({"json": {"answer": "Three."}}, tool_calls=False)
    outcome = await model.decide(asked(model), OFFER, grant(), lambda _: None)
    assert outcome.value == GiveAnswer("Three.")
    assert llm.requests[-1].schema is not None


async def test_a_cut_reply_and_a_spent_grant_are_problems() -> None:
    """Neither is asked for again: there is no budget for it."""
    model, llm = native({"text": "word " * 2_000})
    cut = await model.decide(asked(model), OFFER, grant(), lambda _: None)
    assert cut.problem is not None
    assert cut.problem.reason == "ANSWER_CUT"
    spent = await model.decide(asked(model), OFFER, grant(0), lambda _: None)
    assert spent.problem is not None
    assert spent.problem.reason == "BUDGET_SPENT"
    assert len(llm.requests) == 1


def test_results_go_back_as_messages_of_tools() -> None:
    """Each call that was made is a message with its id, its result the message of the tool, and a remark follows it."""
    model, _ = native()
    turns = (Turn(SUM, "3"), Turn(ToolCall("add", {"a": 3, "b": 4}), "7"))
    messages = model.conversation(model.opening((), "Be brief."), "Add.", turns, "Once more.")
    assert [message.role for message in messages] == [
        Role.SYSTEM,
        Role.USER,
        *(Role.AGENT, Role.TOOL) * 2,
    ]
    assert messages[0].content == f"{NATIVE_RULES}\n\nBe brief."
    assert messages[2].tool_calls == (ModelToolCall("add", '{"a":1,"b":2}', "call00000"),)
    assert [message.call_id for message in messages[2:]] == ["", "call00000", "", "call00001"]
    assert messages[-1].content == "7\nOnce more."


async def test_the_fallback_has_the_results_in_view() -> None:
    """Calls and results stand in the constrained conversation as JSON and as results."""
    model, llm = native({"text": ""}, {"json": {"answer": "Three."}})
    messages = model.conversation(model.opening((), ""), "Add.", (Turn(SUM, "3"),), "")
    await model.decide(messages, Offer((ADD,)), grant(), lambda _: None)
    contents = [message.content for message in llm.requests[-1].messages[-2:]]
    assert contents == ['{"add":{"a":1,"b":2}}', "Result: 3"]
