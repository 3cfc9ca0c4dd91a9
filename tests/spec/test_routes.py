"""Whole runs on each route: kernel, orchestration and built-in tools, with a model that is told what to say."""

import json
from pathlib import Path
from typing import Any

from aeond.domain.budgets import Budget
from aeond.domain.plans import StepState
from aeond.domain.profiles import Route
from aeond.domain.runs import RunSnapshot, RunState
from aeond.orchestration.chat_prompts import TOOLS
from tests.eval.workplaces import Way, Workplace
from tests.support.strategy import says

REPLY, PLAN, DONE = {"route": "reply"}, {"route": "plan"}, {"done": True}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"route": "direct", "tool": tool, "arguments": arguments}


def place(folder: Path, *said: Any) -> Workplace:
    """Where a model says that the request takes tools, and then this."""
    return talk(folder, TOOLS, *said)


def talk(folder: Path, *said: Any) -> Workplace:
    texts = (json.dumps(s) if isinstance(s, dict) and "text" not in s else s for s in said)
    furnished = Workplace(says(*texts), folder, Way.ROUTED)
    furnished.furnish()
    return furnished


def cost(run: RunSnapshot) -> tuple[int, int, int]:
    used = run.ledger.used
    return used.llm_calls, used.tool_calls, used.passes


async def test_a_talk_costs_what_a_chat_does(tmp_path: Path) -> None:
    """A request that needs no tool is answered by the first call: no choice, no plan, no step, no judgement."""
    run = await talk(tmp_path, "Good evening to you.").work("Good evening!")
    assert (run.state, run.route, run.plan) == (RunState.SUCCEEDED, Route.REPLY, None)
    assert run.answer is not None
    assert (run.answer.text, run.answer.synthesized) == ("Good evening to you.", True)
    assert cost(run) == (1, 0, 0)


async def test_who_asked_for_tools_without_need_replies_after_all(tmp_path: Path) -> None:
    """A chat that asked for tools costs two short calls more, and the reply is the same."""
    run = await place(tmp_path, REPLY, "Good evening to you.").work("Good evening!")
    assert (run.state, run.route, run.plan) == (RunState.SUCCEEDED, Route.REPLY, None)
    assert run.answer is not None
    assert (run.answer.text, run.answer.synthesized) == ("Good evening to you.", True)
    assert cost(run) == (3, 0, 0)


async def test_a_reply_without_a_model_has_failed(tmp_path: Path) -> None:
    """Where the model fails there is an answer that says so, and the run did not succeed."""
    run = await place(tmp_path, REPLY, {"fail": "BAD_ANSWER", "text": ""}).work("Good evening!")
    assert run.state is RunState.FAILED
    assert run.problem is not None
    assert run.problem.reason == "NOT_ANSWERED"
    assert run.answer is not None
    assert run.answer.text.startswith("No answer: ")


async def test_the_last_raw_result_is_the_answer(tmp_path: Path) -> None:
    """One call, one judgement: what the tool gave is the answer, unpolished."""
    run = await place(tmp_path, call("calculator", expression="21**2"), DONE).work("What is 21 squared?")
    assert (run.state, run.route) == (RunState.SUCCEEDED, Route.DIRECT)
    assert run.answer is not None
    assert (run.answer.text, run.answer.synthesized, run.answer.step_ids) == ("441", False, ("s1",))
    assert cost(run) == (3, 1, 1)


async def test_calls_follow_each_other_by_their_results(tmp_path: Path) -> None:
    """Each next call is one more step and pass; an answer that was written is said to be synthesized."""
    here = talk(
        tmp_path,
        call("calculator", expression="2400 * 17.5 / 100"),
        call("memory_write", key="bonus", value=420),
        {"answer": "It is 420; I remember it as bonus."},
    )
    run = await here.work("What is 17.5% of 2400? Then remember the result as bonus.")
    assert run.state is RunState.SUCCEEDED
    assert await here.memory.read("bonus") == 420
    assert run.answer is not None
    assert (run.answer.text, run.answer.synthesized) == ("It is 420; I remember it as bonus.", True)
    assert cost(run) == (3, 2, 2)
    assert (run.profile, run.refinement_count) == (None, 1)


async def test_a_call_that_failed_is_made_good_by_another(tmp_path: Path) -> None:
    """The failure stays in the run and in the notes; what followed it fulfilled the request."""
    run = await place(
        tmp_path, call("read_file", path="leter.txt"), call("read_file", path="letter.txt"), DONE
    ).work("What is in the letter?")
    assert [step.state for step in run.steps.values()] == [StepState.FAILED, StepState.SUCCEEDED]
    assert run.state is RunState.SUCCEEDED
    assert run.answer is not None
    assert "Lisbon" in run.answer.text
    assert "leter.txt" in run.answer.notes[0]


async def test_a_call_that_failed_for_good_ends_the_run_so(tmp_path: Path) -> None:
    """Nothing was found and nothing else was tried: the run has failed, whatever the model says of it."""
    run = await talk(tmp_path, call("read_file", path="none.txt"), {"answer": "There is no such file."}).work(
        "What is in none.txt?"
    )
    assert run.state is RunState.FAILED
    assert run.answer is not None
    assert run.answer.text == "There is no such file."


async def test_a_model_that_never_ends_is_ended_by_the_passes(tmp_path: Path) -> None:
    """However many calls it wants, a run makes as many as it has passes, and the last result stands."""
    wants = [call("calculator", expression=f"{n} + 1") for n in range(50)]
    run = await place(tmp_path, *wants).work("Count.")
    assert run.state is RunState.SUCCEEDED
    assert run.pass_index == len(run.steps) == Budget().passes
    assert run.answer is not None
    assert run.answer.text == str(Budget().passes)


async def test_a_model_that_repeats_itself_is_ended_at_once(tmp_path: Path) -> None:
    """The same call once more is not made."""
    again = call("calculator", expression="1 + 1")
    run = await place(tmp_path, again, again).work("Add.")
    assert (run.state, len(run.steps), cost(run)) == (RunState.SUCCEEDED, 1, (3, 1, 1))


async def test_what_cannot_be_routed_is_planned(tmp_path: Path) -> None:
    """A model that does not say which way leaves the request to the phases."""
    here = place(tmp_path, {"text": "Well, let me see.", "times": 3}, {"steps": [{"agent": "llm"}]})
    run = await here.work("Good evening!")
    assert run.route is Route.PLAN
    assert run.profile is not None
