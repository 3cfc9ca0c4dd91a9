"""How work is judged: real runs with a model that is told what to say."""

import re
from dataclasses import replace
from typing import Any

import pytest

from aeond.orchestration.chat_prompts import TOOLS
from aeond.orchestration.doubts import speaks_for_tools
from aeond.ports import LLMAdapter
from tests.eval.__main__ import judge_set
from tests.eval.sets import SETS
from tests.eval.simple import CHAT, DAEMON, judge_simple
from tests.eval.verdicts import Effort, EvalSet, Terms, Verdict
from tests.eval.work import judge_chat, judge_flat, judge_work
from tests.support.strategy import says


def only(words: str) -> Terms:
    return Terms(f"^{re.escape(words)}$")


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"json": {"route": "direct", "tool": tool, "arguments": arguments}}


async def judged(judge: Any, words: str, *said: Any) -> Verdict:
    """What becomes of one request, where a model that works on it says first that it takes tools."""
    chatted = (TOOLS,) if judge is judge_work and not speaks_for_tools(words) else ()
    once = (one if isinstance(one, str) else {**one, "times": 1} for one in (*chatted, *said))
    [verdict] = [verdict async for verdict in judge(says(*once), only(words))]
    assert isinstance(verdict, Verdict)
    return verdict


async def test_work_is_counted() -> None:
    """Each call of the model counts, with what it had to read and to write."""
    asked = "What is 23 * 19 + 7?"
    right = await judged(
        judge_work, asked, call("calculator", expression="23 * 19 + 7"), {"json": {"done": True}}
    )
    assert (right.missed, right.effort.calls) == ((), 2)
    assert right.effort.read_tokens > right.effort.written_tokens > 0
    wrong = await judged(
        judge_work, asked, call("calculator", expression="23 * 19"), {"json": {"done": True}}
    )
    assert wrong.missed


async def test_a_question_is_answered_and_the_rest_judged() -> None:
    """Who asks for what is missing is told it, and has to do the rest with it."""
    asks = call("request_user_input", prompt="What is your PIN?")
    stored = call("memory_write", key="pin", value="8035")
    done = {"json": {"answer": "I remember it."}}
    right = await judged(judge_work, "Remember my PIN.", asks, stored, done)
    assert right.missed == ()
    assert "What is your PIN?" in right.said
    assert (await judged(judge_work, "Remember my PIN.", asks, done)).missed
    other = call("memory_write", key="pin", value="1234")
    assert (await judged(judge_work, "Remember my PIN.", asks, other, done)).missed


async def test_asking_without_end_is_ended() -> None:
    """Two answers are given, no more: a model that goes on asking fails and nobody waits for it."""
    asks = (call("request_user_input", prompt=f"What is your PIN, number {n}?") for n in range(9))
    assert (await judged(judge_work, "Remember my PIN.", *asks)).missed


async def test_a_flat_plan_is_carried_out() -> None:
    """Tools of a flat plan run, results are passed on, and the model's own steps are its own."""
    plan = {
        "steps": [
            {"tool": "calculator", "arguments": {"expression": "0.125 * 640"}},
            {"tool": "write_file", "arguments": {"path": "result.txt", "content": "$s1"}},
        ]
    }
    verdict = await judged(
        judge_flat, "What is 12.5% of 640? Save the result to result.txt", {"json": plan}, "It is 80."
    )
    assert (verdict.missed, verdict.effort.calls) == ((), 2)
    spoken = {"steps": [{"tool": "llm", "arguments": {"task": "Name it."}}]}
    verdict = await judged(judge_flat, "What is the capital of Portugal?", {"json": spoken}, "Lisbon.")
    assert verdict.missed == ()


async def test_a_run_has_the_time_that_the_terms_give() -> None:
    """What a run has when its time is over is judged, and said to have run out."""
    terms = replace(only("What is 23 * 19 + 7?"), wall_seconds=0.0)
    [verdict] = [verdict async for verdict in judge_work(says("It is 444."), terms)]
    assert "[expired, none: ]" in verdict.said
    assert verdict.missed


async def test_simple_requests_are_asked_both_ways_in_turns() -> None:
    """Each goes to the daemon and to a plain chat, now the one first, now the other; both are judged alike."""
    answers = ("Vivaldi composed them.", "Mozart did.", "Yes, it is.", "Yes.")
    asked = ("Who composed the Four Seasons?", "Is the sun a star?")
    verdicts = [v async for v in judge_simple(says(*answers), Terms("|".join(map(re.escape, asked))))]
    assert [(v.group, bool(v.missed), v.effort.calls) for v in verdicts] == [
        (DAEMON, False, 1),
        (CHAT, True, 1),
        (CHAT, False, 1),
        (DAEMON, False, 1),
    ]


async def test_a_chat_is_one_call() -> None:
    """Only what needs no tool is chatted about, with one call."""
    verdict = await judged(judge_chat, "What is the capital of Portugal?", "Lisbon.")
    assert (verdict.missed, verdict.effort.calls) == ((), 1)
    assert [v async for v in judge_chat(says("444"), only("What is 23 * 19 + 7?"))] == []


async def one_of_each(llm: LLMAdapter, terms: Terms) -> Any:
    for words, missed, held in (("seen", (), False), ("seen, wrong", ("it",), False), ("unseen", (), True)):
        if terms.admit(words, held):
            yield Verdict(words, "group", "told", missed, held, Effort(2, 30, 4, 1.0))


async def test_what_is_held_aside_is_only_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Single outcomes of held cases are shown only to those who ask for them; the table counts them."""
    assert not await judge_set(EvalSet("set", 0.7, one_of_each), says("x"), False, Terms(""))
    told = capsys.readouterr().out
    assert "unseen" not in told
    assert "| group | 1 of 2 | 1 of 1 | 2 of 3 | 2.0 | 30 | 4 | 1.0 |" in told
    assert await judge_set(EvalSet("set", 0.6, one_of_each), says("x"), True, Terms(""))
    assert "'unseen' -> told" in capsys.readouterr().out


async def test_what_is_picked_is_never_held(capsys: pytest.CaptureFixture[str]) -> None:
    """Cases picked by their words are judged alone, and those that are held aside are not among them."""
    assert await judge_set(EvalSet("set", 0.5, one_of_each), says("x"), False, Terms("SEEN"))
    assert "| all | 1 of 2 | - | 1 of 2 |" in capsys.readouterr().out


def test_every_set_has_a_name_of_its_own() -> None:
    """The default model must do at least 85 % of its work, and no two sets have one name."""
    assert len({one.name for one in SETS}) == len(SETS)
    assert next(one for one in SETS if one.name == "work").least_share == 0.85
