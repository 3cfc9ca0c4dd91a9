"""The prompts about the subject of a request and about general knowledge."""

from aeond.domain.messages import Role
from aeond.orchestration.prompts.subject_prompts import KNOWLEDGE, OTHER_SUBJECTS, subject_messages


def test_each_subject_has_an_example_and_the_request_comes_last() -> None:
    """The part that is the same for all requests comes first, so that an engine reads it once."""
    messages = subject_messages("why?")
    shown = {message.content for message in messages if message.role is Role.AGENT}
    assert shown == {KNOWLEDGE, *OTHER_SUBJECTS}
    others = subject_messages("how?")
    assert [one.content for one in messages[:-1]] == [one.content for one in others[:-1]]
    assert messages[-1].content == "Request: why?"
