import json
from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.budgets import Grant
from aeond.domain.outcome import Outcome
from aeond.domain.profiles import Route
from aeond.domain.runs import RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.orchestration.chat_prompts import TOOLS
from aeond.orchestration.contracts import RouteChoice
from aeond.orchestration.repair import ModelSupervisor
from aeond.orchestration.routing import ModelRouter
from tests.support.strategy import SPECS, grant, registry, run_of, says, spec, validator

LOOK = {"route": "direct", "tool": "look", "arguments": {"path": "garden"}}


def _unheard(text: str) -> None:
    """Nobody listens."""


class Desk:
    """A router with its model and its grant."""

    def __init__(self, *answers: Any, llm_calls: int = 2, tokens: int = 12_000, **model: Any) -> None:
        self.llm = says(
            *(json.dumps(a) if isinstance(a, dict) and "text" not in a else a for a in answers), **model
        )
        self.grant: Grant = grant(llm_calls, tokens)

    async def choose(self, run: RunSnapshot | None = None) -> Outcome[RouteChoice]:
        check = validator()
        router = ModelRouter(self.llm, registry(), ModelSupervisor(self.llm, check), check)
        outcome = await router.choose(run or run_of(), self.grant, _unheard)
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        return outcome


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ({"route": "reply"}, RouteChoice(Route.REPLY)),
        ({"route": "plan"}, RouteChoice(Route.PLAN)),
        (LOOK, RouteChoice(Route.DIRECT, ToolCall("look", {"path": "garden"}))),
    ],
)
async def test_one_call_chooses_the_route(said: dict[str, Any], choice: RouteChoice) -> None:
    """The model says once, under a schema of the offered tools, which way the request takes."""
    desk = Desk(said)
    assert await desk.choose() == Outcome(True, choice)
    (asked,) = desk.llm.requests
    assert asked.schema is not None
    assert asked.messages[-1].content == "What grows in the garden?"


async def test_the_prompt_ends_with_what_changes() -> None:
    """All but the request is the same for every request, so that engines find it in their cache."""
    prompts = []
    for request in ("one thing", "another thing"):
        desk = Desk({"route": "reply"})
        await desk.choose(run_of(request=request))
        prompts.append([message.content for message in desk.llm.requests[0].messages])
    assert prompts[0][:-1] == prompts[1][:-1]
    assert [prompt[-1] for prompt in prompts] == ["one thing", "another thing"]


async def test_the_rewritten_request_is_routed() -> None:
    """Where references were spelled out, the model sees that text and not what was said."""
    desk = Desk({"route": "reply"})
    await desk.choose(run_of(request="And there?", resolved_text="What grows in the park?"))
    assert desk.llm.requests[0].messages[-1].content == "What grows in the park?"


async def test_without_tools_the_model_replies() -> None:
    """A run that may use no tool is replied to, without a question about it."""
    run = run_of()
    desk = Desk()
    outcome = await desk.choose(replace(run, request=replace(run.request, tools=())))
    assert outcome == Outcome(True, RouteChoice(Route.REPLY))
    assert not desk.llm.requests


@pytest.mark.parametrize(
    "bad",
    [
        {"route": "direct", "tool": "fly", "arguments": {}},
        {"route": "direct", "tool": "look", "arguments": {}},
        {"route": "direct", "tool": "look", "arguments": {"path": "garden", "colour": "red"}},
        {"route": "direct", "tool": "look", "arguments": {"path": "$s1"}},
        {"text": "I would rather not say."},
        {"text": '{"route":"direct","tool":"look","arguments":{"path":"' + "a " * 3_000},
        {"fail": "BAD_ANSWER", "text": ""},
    ],
)
async def test_what_cannot_be_done_directly_is_planned(bad: dict[str, Any]) -> None:
    """A call that cannot be made, text that is no JSON, a cut answer and a failing model leave a plan to be made."""
    outcome = await Desk(bad).choose()
    assert not outcome.ok
    assert outcome.value == RouteChoice(Route.PLAN)
    assert outcome.problem is not None


async def test_broken_json_is_mended() -> None:
    """A route in a code fence is the route that it says."""
    outcome = await Desk({"text": "```json\n" + json.dumps(LOOK) + "\n```"}).choose()
    assert outcome.value == RouteChoice(Route.DIRECT, ToolCall("look", {"path": "garden"}))


@pytest.mark.parametrize(("llm_calls", "tokens"), [(0, 12_000), (2, 50)])
async def test_without_budget_the_request_is_planned(llm_calls: int, tokens: int) -> None:
    """A spent budget asks nothing of the model."""
    desk = Desk({"route": "reply"}, llm_calls=llm_calls, tokens=tokens)
    outcome = await desk.choose()
    assert outcome.value == RouteChoice(Route.PLAN)
    assert not desk.llm.requests


async def test_a_request_too_long_for_the_model_is_told() -> None:
    """A request beyond the model's context is a problem that says so; nothing of it is cut."""
    outcome = await Desk({"route": "reply"}, context_length=2_048).choose(run_of(request="word " * 5_000))
    assert outcome.problem is not None
    assert outcome.problem.reason == "CONTEXT_TOO_LONG"


async def test_a_call_with_what_nobody_said_is_looked_at_again() -> None:
    """What the model fills in out of nowhere is asked for once more; the second word is the choice."""
    desk = Desk({**LOOK, "arguments": {"path": "london"}}, LOOK)
    assert (await desk.choose()).value == RouteChoice(Route.DIRECT, ToolCall("look", {"path": "garden"}))
    assert len(desk.llm.requests) == 2


async def test_the_user_is_not_asked_their_own_question() -> None:
    """What they asked is not asked back: they get an answer."""
    tools = (*SPECS, spec("request_user_input", {"prompt": {"type": "string"}}))
    back = {"route": "direct", "tool": "request_user_input", "arguments": {"prompt": "Who wrote Faust?"}}
    check = validator(*tools)
    llm = says(TOOLS, json.dumps(back))
    router = ModelRouter(llm, registry(*tools), ModelSupervisor(llm, check), check)
    choice = await router.choose(run_of(request="Who wrote Faust?"), grant(), _unheard)
    assert choice == Outcome(True, RouteChoice(Route.REPLY))
