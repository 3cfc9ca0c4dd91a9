"""The prompts of answers: what stands above the request."""

from dataclasses import replace

from aeond.domain.messages import Role
from aeond.orchestration.prompts.answer_prompts import ANSWER_KNOWN, UNKNOWN, reply_messages
from tests.support.strategy import run_of


def test_what_is_known_and_what_is_not_has_examples() -> None:
    """The examples of answers from general knowledge and of those that are unknown are as many, and the request comes last."""
    messages = ANSWER_KNOWN.messages("How far is it?")
    answers = [message.content for message in messages if message.role is Role.AGENT]
    assert answers.count(UNKNOWN) * 2 == len(answers)
    assert (messages[-1].role, messages[-1].content) == (Role.USER, "How far is it?")


def test_the_reply_sees_the_conversation_and_the_instructions() -> None:
    """A run with instructions or a session keeps them."""
    run = run_of()
    plain = reply_messages(run)
    assert [message.role for message in plain] == [Role.SYSTEM, Role.USER]
    assert plain[1].content == run.text
    other = replace(run, request=replace(run.request, instructions="Speak in rhymes."), context="Hello.")
    rules, said = reply_messages(other)
    assert str(rules.content).endswith("\n\nSpeak in rhymes.")
    assert said.content == f"Said before:\nHello.\n\n{run.text}"
