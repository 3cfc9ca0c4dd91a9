"""The prompts about the subject of a request and about general knowledge."""

from aeond.domain.messages import Role
from aeond.orchestration.prompts.subject_prompts import (
    KNOWLEDGE,
    NAMING,
    OTHER_SUBJECTS,
    SUBJECT,
)


def test_each_subject_has_an_example_and_the_request_comes_last() -> None:
    """The part that is the same for all requests comes first, so that an engine reads it once."""
    messages = SUBJECT.messages("why?")
    shown = {message.content for message in messages if message.role is Role.AGENT}
    assert shown == {KNOWLEDGE, *OTHER_SUBJECTS}
    others = SUBJECT.messages("how?")
    assert [one.content for one in messages[:-1]] == [one.content for one in others[:-1]]
    assert messages[-1].content == "Request: why?"


def test_only_the_whole_word_is_general_knowledge() -> None:
    """Of the other subjects the beginning counts, from its second letter on."""
    assert [SUBJECT.read(one) for one in ("know", "kno", "knowledge", "fi", "f")] == [
        "know",
        "",
        "",
        "files",
        "",
    ]


def test_what_is_asked_about_stands_as_it_is() -> None:
    """Braces in a request or a name are text, and the request stands where its examples have it."""
    assert NAMING.messages("{}", "b{0}", "{1} to b")[-1].content == (
        "Exists: {}\nNo file yet: b{0}\nRequest: {1} to b"
    )
