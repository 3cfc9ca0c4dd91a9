import json
from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.outcome import Outcome
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import ToolCall
from aeond.orchestration.interfaces import PlanDraft
from aeond.orchestration.planning.planner import ModelPlanner
from tests.support.judging import model_of, preamble
from tests.support.strategy import SPECS, grant, run_of, says


def plan(*steps: Any) -> str:
    return json.dumps({"steps": steps})


LOOK = {"tool": "look", "arguments": {"path": "garden"}}
SELF = {"tool": "store", "arguments": {"key": "k", "value": "$s1"}}


class Desk:
    """A planner with its model and its grant."""

    def __init__(self, *answers: Any, llm_calls: int = 3, tokens: int = 18_000, **model: Any) -> None:
        self.llm = says(*answers, **model)
        self.grant: Grant = grant(llm_calls, tokens)
        self.shown: list[tuple[str, float]] = []

    async def draft(self, request: str = "What grows in the garden?") -> Outcome[PlanDraft | None]:
        planner = ModelPlanner(model_of(self.llm), preamble())
        outcome = await planner.draft(
            run_of(request=request), self.grant, lambda a, f: self.shown.append((a, f))
        )
        assert self.grant.used.exceeding(self.grant.reservation) == ""
        return outcome


async def test_one_call_makes_a_plan() -> None:
    """A well-formed plan costs one model call, under the schema of the registered tools."""
    desk = Desk(plan(LOOK, {"agent": "llm", "task": "What grows there?"}))
    outcome = await desk.draft()
    assert outcome.value is not None
    assert outcome.value.repairs == ()
    made = outcome.value.plan
    assert made.goal == "What grows in the garden?"
    assert [step.tool_call for step in made] == [ToolCall("look", {"path": "garden"}), None]
    assert made.steps[1].depends_on == ("s1",)
    assert len(desk.llm.requests) == 1
    assert desk.llm.requests[0].schema is not None
    assert desk.shown == [("planning", -1.0)]


async def test_the_prompt_ends_with_what_changes() -> None:
    """The part of the prompt that engines can cache is the same for every request."""
    prompts = []
    for request in ("one thing", "another thing"):
        desk = Desk(plan(LOOK))
        await desk.draft(request)
        prompts.append(desk.llm.requests[0].messages)
    assert [m.content for m in prompts[0][:-1]] == [m.content for m in prompts[1][:-1]]
    assert [messages[-1].content for messages in prompts] == ["one thing", "another thing"]
    system = str(prompts[0][0].content)
    assert [spec.name for spec in SPECS if f"{spec.name}: " not in system] == []


async def test_malformed_output_goes_to_the_supervisor() -> None:
    """A plan in broken JSON is repaired, and the repairs are reported with the plan."""
    desk = Desk("```json\n" + plan(LOOK) + "\n```")
    outcome = await desk.draft()
    assert outcome.value is not None
    assert outcome.value.plan.goal == "What grows in the garden?"
    assert "code fence" in outcome.value.repairs[0]


@pytest.mark.parametrize(
    "bad",
    [
        plan(SELF),
        plan({"tool": "store", "arguments": {"key": "k", "value": "$s2"}}, LOOK),
        plan(LOOK, {"agent": "llm", "task": "What is $s7?"}),
        plan({"tool": "store", "arguments": {"key": "k", "value": "x" * 1000}}),
    ],
)
async def test_a_plan_that_cannot_work_is_asked_for_once_more(bad: str) -> None:
    """Wrong references and texts that hit their bound lead to one more question that says what is wrong."""
    desk = Desk(bad, plan(LOOK))
    outcome = await desk.draft()
    assert outcome.value is not None
    assert outcome.value.plan.steps[0].tool_call == ToolCall("look", {"path": "garden"})
    assert outcome.value.repairs[0].startswith("asked for another plan: ")
    first, second = desk.llm.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert "cannot work" in str(second.messages[-1].content)


async def test_a_second_plan_that_cannot_work_ends_planning() -> None:
    """The model is not asked for ever: the second failure is the outcome."""
    desk = Desk({"text": plan(SELF)})
    outcome = await desk.draft()
    assert outcome.problem is not None
    assert outcome.problem.reason == "REFERENCE_NOT_EARLIER"
    assert len(desk.llm.requests) == 2


async def test_a_plan_that_was_cut_is_not_carried_out() -> None:
    """A plan that was cut is requested once more, and then planning fails."""
    desk = Desk({"text": plan(*[LOOK] * 300)}, tokens=100_000)
    outcome = await desk.draft()
    assert outcome.problem is not None
    assert outcome.problem.reason == "PLAN_CUT"
    assert len(desk.llm.requests) == 2


@pytest.mark.parametrize(("llm_calls", "tokens"), [(0, 18_000), (3, 100)])
async def test_without_budget_nothing_is_planned(llm_calls: int, tokens: int) -> None:
    """A spent budget is reported as such and the model is not asked."""
    desk = Desk({"text": plan(LOOK)}, llm_calls=llm_calls, tokens=tokens)
    outcome = await desk.draft()
    assert outcome.problem is not None
    assert outcome.problem.reason == "BUDGET_SPENT"
    assert not desk.llm.requests


async def test_a_request_too_long_for_the_model_is_reported() -> None:
    """A request beyond the model's context is a problem that says so; nothing of it is cut."""
    desk = Desk({"text": plan(LOOK)}, context_length=2048)
    outcome = await desk.draft("word " * 5_000)
    assert outcome.problem is not None
    assert outcome.problem.reason == "CONTEXT_TOO_LONG"


async def test_a_failing_model_is_reported() -> None:
    """An error of the model is the reason why there is no plan."""
    outcome = await Desk({"fail": "BAD_ANSWER"}).draft()
    assert outcome.problem is not None
    assert outcome.problem.reason == "BAD_ANSWER"


async def test_arguments_of_the_wrong_type_are_repaired() -> None:
    """A model without a schema that writes a number as text is understood."""
    desk = Desk(plan({"tool": "look", "arguments": {"path": "garden", "depth": "3"}}))
    outcome = await desk.draft()
    assert outcome.value is not None
    assert outcome.value.plan.steps[0].tool_call == ToolCall("look", {"path": "garden", "depth": 3})
    assert outcome.value.repairs == ("corrected the form of the steps",)


async def test_earlier_statements_of_the_user_go_with_the_request() -> None:
    """The prompt for a plan holds the earlier statements of the user; the goal is the request alone."""
    desk = Desk(plan(LOOK))
    planner = ModelPlanner(model_of(desk.llm), preamble())
    run = replace(run_of(request="Look around."), standing=("Never enter the shed.",))
    outcome = await planner.draft(run, desk.grant, lambda *_: None)
    asked = str(desk.llm.requests[0].messages[-1].content)
    assert asked.startswith("Look around.")
    assert "Never enter the shed." in asked
    assert outcome.value is not None
    assert outcome.value.plan.goal == "Look around."
