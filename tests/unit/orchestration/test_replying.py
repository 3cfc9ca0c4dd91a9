from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.messages import Role
from aeond.domain.runs import Answer, RunSnapshot
from aeond.orchestration.prompts import ANSWER_RULES
from aeond.orchestration.replying import MAX_REPLY_TOKENS, UNSUPPORTED, reply, reply_messages
from tests.support.strategy import grant, run_of, says


async def replied(run: RunSnapshot, *answers: Any, llm_calls: int = 2) -> tuple[Answer, str]:
    shown: list[str] = []
    spent = grant(llm_calls, 12_000)
    answer = await reply(says(*answers), run, spent, shown.append)
    assert spent.used.exceeding(spent.reservation) == ""
    return answer, "".join(shown)


async def test_the_answer_is_a_plain_conversation() -> None:
    """The model's words are the answer, shown as they come, and said to be its own."""
    answer, shown = await replied(run_of(request="Hello?"), "Good morning to you.")
    assert answer == Answer("Good morning to you.", confidence=UNSUPPORTED, synthesized=True)
    assert shown == answer.text


def test_the_model_is_asked_as_in_a_chat() -> None:
    """Nothing but the rules and the user's own words: no tools, no plan."""
    system, user = reply_messages(run_of(request="Hello?"))
    assert (system.role, system.content) == (Role.SYSTEM, ANSWER_RULES)
    assert (user.role, user.content) == (Role.USER, "Hello?")


def test_the_session_comes_before_the_request() -> None:
    """What the session brought is told, and the request with its references spelled out comes last."""
    _, user = reply_messages(run_of(request="And her?", resolved_text="Who is Ann?", context="Ann called."))
    assert str(user.content).endswith("\n\nWho is Ann?")
    assert "Ann called." in str(user.content)


def test_a_template_speaks_by_its_own_rules() -> None:
    """A child run's instructions are the rules of its answer."""
    run = run_of()
    told = replace(run, request=replace(run.request, instructions="Summarise in one line."))
    assert reply_messages(told)[0].content == "Summarise in one line."


async def test_a_long_answer_is_said_to_be_cut() -> None:
    """An answer that reached its bound says so in the notes."""
    answer, _ = await replied(run_of(), "so " * (MAX_REPLY_TOKENS + 10))
    assert answer.synthesized
    assert "cut off" in answer.notes[0]


@pytest.mark.parametrize("said", [{"fail": "BAD_ANSWER"}, "  "])
async def test_without_a_model_the_answer_says_why(said: Any) -> None:
    """A model that fails or says nothing leaves an answer that is nobody's words but ours."""
    answer, _ = await replied(run_of(), said)
    assert not answer.synthesized
    assert answer.text.startswith("No answer: ")
    assert answer.confidence == 0.0


async def test_without_budget_nothing_is_asked() -> None:
    """A spent budget is told as the reason."""
    answer, shown = await replied(run_of(), "Hello.", llm_calls=0)
    assert not answer.synthesized
    assert shown == ""
