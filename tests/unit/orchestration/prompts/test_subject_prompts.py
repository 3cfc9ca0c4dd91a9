"""The prompts about the subject of a request and about general knowledge."""

from dataclasses import replace

from aeond.domain.messages import Role
from aeond.domain.runs.situations import Situation
from aeond.orchestration.prompts.subject_prompts import (
    KNOWLEDGE,
    OTHER_SUBJECTS,
    reply_messages,
    subject_messages,
)
from tests.support.strategy import run_of


def test_each_subject_has_an_example_and_the_request_comes_last() -> None:
    """The part that is the same for all requests comes first, so that an engine reads it once."""
    messages = subject_messages("why?")
    shown = {message.content for message in messages if message.role is Role.AGENT}
    assert shown == {KNOWLEDGE, *OTHER_SUBJECTS}
    others = subject_messages("how?")
    assert [one.content for one in messages[:-1]] == [one.content for one in others[:-1]]
    assert messages[-1].content == "Request: why?"


def test_the_reply_sees_the_conversation_and_the_instructions() -> None:
    """A run with instructions or a session keeps them, and the remembered facts are shown; files are not."""
    run = run_of()
    plain = reply_messages(run, Situation())
    assert [message.role for message in plain] == [Role.SYSTEM, Role.USER]
    assert plain[1].content == run.text
    other = replace(run, request=replace(run.request, instructions="Speak in rhymes."), context="Hello.")
    rules, said = reply_messages(other, Situation(files=(("a", "b"),), facts=(("boat", "Ida"),)))
    assert str(rules.content).endswith("\n\nSpeak in rhymes.")
    assert said.content == f"Said before:\nHello.\n\nRemembered: boat = Ida\n\n{run.text}"
