"""The questions by which a template is found."""

from aeond.domain.messages import Role
from aeond.domain.plans.subtasks import Template
from aeond.orchestration.prompts.template_prompts import (
    CHOICE_RULES,
    FIT,
    NONE,
    choice_messages,
    choice_schema,
    restating_messages,
)

SING = Template("sing", "Sings a song.")
DANCE = Template("dance", "Dances a waltz.")


def test_the_question_lists_the_templates_after_the_rules() -> None:
    """The rules are constant and come first; the templates and the request follow."""
    rules, question = choice_messages("a song, please", [SING, DANCE])
    assert (rules.role, rules.content) == (
        Role.SYSTEM,
        f"{CHOICE_RULES}sing: Sings a song.\ndance: Dances a waltz.",
    )
    assert question.content == "Request: a song, please"


def test_only_the_listed_templates_and_none_can_be_answered() -> None:
    """The schema admits the names of the listed templates, none, and nothing else."""
    schema = choice_schema([SING, DANCE])
    assert schema["properties"] == {"helper": {"enum": ["sing", "dance", NONE]}}
    assert schema["required"] == ["helper"]


def test_examples_are_turns_of_a_conversation() -> None:
    """Rules and examples are the same for every request, and the request comes last, with the description behind it."""
    for one, other in (
        (restating_messages("a song, please"), restating_messages("a waltz")),
        (FIT.messages("a song, please", SING.description), FIT.messages("a waltz", DANCE.description)),
    ):
        assert [message.content for message in one[:-1]] == [message.content for message in other[:-1]]
        assert [message.role for message in one[1:3]] == [Role.USER, Role.AGENT]
    assert (
        FIT.messages("a song, please", SING.description)[-1].content
        == "Request: a song, please\nHelper: Sings a song."
    )
