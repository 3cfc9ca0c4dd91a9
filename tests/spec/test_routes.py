"""Whole runs on each route: kernel, orchestration and built-in tools, with a scripted model."""

import json
from pathlib import Path
from typing import Any

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.messages import Role
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.run import RunSnapshot, RunState
from tests.support.strategy import says
from tests.support.workplaces import Workplace


def place(folder: Path, *said: Any) -> Workplace:
    texts = (json.dumps(s) if isinstance(s, dict) and not set(s) & {"text", "fail"} else s for s in said)
    furnished = Workplace(says(*texts), folder)
    furnished.furnish()
    return furnished


def calculator(expression: str) -> dict[str, Any]:
    return {"calculator": {"expression": expression}}


def cost(run: RunSnapshot) -> tuple[int, int, int]:
    used = run.ledger.used
    return used.llm_calls, used.tool_calls, used.passes


async def test_an_answer_takes_one_call(tmp_path: Path) -> None:
    """A request that needs no tool is answered by the first decision: no plan, no step, no evaluation."""
    run = await place(tmp_path, {"answer": "Good evening to you."}).work("Good evening!")
    assert (run.state, run.route, run.plan) == (RunState.SUCCEEDED, Route.REPLY, None)
    assert run.answer is not None
    assert (run.answer.text, run.answer.synthesized) == ("Good evening to you.", True)
    assert cost(run) == (1, 0, 0)


async def test_a_request_that_cannot_be_carried_out_is_noted_as_such(tmp_path: Path) -> None:
    """The answer gives the reason, and its notes say that the request was not carried out."""
    run = await place(tmp_path, {"cannot": "I cannot sing."}).work("Sing a song!")
    assert run.answer is not None
    assert run.answer.text == "I cannot sing."
    assert run.answer.notes == ("the request was not carried out",)


async def test_decisions_follow_each_other_by_their_results(tmp_path: Path) -> None:
    """Each call is one step and one pass, and the model sees every result before the next decision."""
    here = place(
        tmp_path,
        calculator("2400 * 17.5 / 100"),
        {"remember": {"key": "bonus", "value": "420"}},
        {"answer": "It is 420; I remember it as bonus."},
    )
    run = await here.work("What is 17.5% of 2400? Then remember the result as bonus.")
    assert run.state is RunState.SUCCEEDED
    assert await here.memory.read("bonus") == "420"
    assert run.answer is not None
    assert run.answer.text == "It is 420; I remember it as bonus."
    assert cost(run) == (3, 2, 2)
    assert (run.profile, run.refinement_count) == (None, 1)


async def test_a_failed_call_is_information_for_the_next_decision(tmp_path: Path) -> None:
    """The failure stays in the run and in the notes; the run goes on and succeeds."""
    run = await place(tmp_path, calculator("1 +"), calculator("1 + 1"), {"answer": "It is 2."}).work(
        "Add one and one."
    )
    assert [step.state for step in run.steps.values()] == [StepState.FAILED, StepState.SUCCEEDED]
    assert run.state is RunState.SUCCEEDED
    assert run.answer is not None
    assert run.answer.notes[0].startswith("s1")


async def test_a_run_without_any_result_has_failed(tmp_path: Path) -> None:
    """An answer after nothing but failures is given, and the run is FAILED."""
    run = await place(tmp_path, calculator("1 +"), {"answer": "It is 2."}).work("Add one and one.")
    assert run.state is RunState.FAILED
    assert run.answer is not None
    assert run.answer.text == "It is 2."


async def test_a_model_that_never_ends_is_ended_by_the_passes(tmp_path: Path) -> None:
    """However many calls the model wants, a run makes at most as many as it has passes."""
    wants = [calculator(f"{n} + 1") for n in range(50)]
    run = await place(tmp_path, *wants).work("Count.")
    assert run.state is RunState.SUCCEEDED
    assert run.pass_index == len(run.steps) == Budget().passes
    assert run.answer is not None
    assert run.answer.text == str(Budget().passes)


async def test_a_repeated_call_is_put_back_once_and_not_executed(tmp_path: Path) -> None:
    """The model learns that the action was taken already, and its next decision counts."""
    again = calculator("1 + 1")
    run = await place(tmp_path, again, again, {"answer": "It is 2."}).work("Add.")
    assert (run.state, len(run.steps), cost(run)) == (RunState.SUCCEEDED, 1, (3, 1, 1))
    assert run.answer is not None
    assert run.answer.text == "It is 2."


async def test_a_plan_is_made_where_the_model_asks_for_one(tmp_path: Path) -> None:
    """The decision for a plan leads to phases A to E."""
    here = place(tmp_path, {"plan": True}, {"text": "no profile", "times": 3}, {"steps": [{"agent": "llm"}]})
    run = await here.work("Write a long report.")
    assert run.route is Route.PLAN
    assert run.profile is not None


async def test_an_unreadable_decision_leaves_the_request_to_a_plan(tmp_path: Path) -> None:
    """A model that chooses no action is not asked for ever: the request is planned."""
    here = place(tmp_path, {"text": "Well, let me see.", "times": 3}, {"steps": [{"agent": "llm"}]})
    run = await here.work("Good evening!")
    assert run.route is Route.PLAN
    assert run.profile is not None


async def test_a_model_that_calls_tools_natively_works_the_same_way(tmp_path: Path) -> None:
    """Calls, a result and the answer as text make the same run as decisions in JSON, at the same cost."""
    rules = (
        Rule(calls=(calculator("2400 * 17.5 / 100"),), times=1),
        Rule(calls=({"remember": {"key": "bonus", "value": "420"}},), times=1),
        Rule(text="It is 420; I remember it as bonus.", times=1),
    )
    llm = ScriptedLLM(Script(rules=rules, tool_calls=True, context_length=16_000))
    here = Workplace(llm, tmp_path)
    here.furnish()
    run = await here.work("What is 17.5% of 2400? Then remember the result as bonus.")
    assert run.state is RunState.SUCCEEDED
    assert await here.memory.read("bonus") == "420"
    assert run.answer is not None
    assert run.answer.text == "It is 420; I remember it as bonus."
    assert cost(run) == (3, 2, 2)
    last = llm.requests[-1]
    assert [message.role for message in last.messages[2:]] == [Role.AGENT, Role.TOOL] * 2
    assert {"calculator", "remember", "cannot"} <= {tool.name for tool in last.tools}
