"""The question by which a model picks a template."""

from aeond.domain.messages import Role
from aeond.domain.plans.subtasks import Template
from aeond.orchestration.prompts.template_prompts import NONE, RULES, choice_messages, choice_schema

SING = Template("sing", "Sings a song.")
DANCE = Template("dance", "Dances a waltz.")


def test_the_question_lists_the_templates_after_the_rules() -> None:
    """The rules are constant and come first; the templates and the request follow."""
    rules, question = choice_messages("a song, please", [SING, DANCE])
    assert (rules.role, rules.content) == (Role.SYSTEM, f"{RULES}sing: Sings a song.\ndance: Dances a waltz.")
    assert question.content == "Request: a song, please"


def test_only_the_listed_templates_and_none_can_be_answered() -> None:
    """The schema admits the names of the listed templates, none, and nothing else."""
    schema = choice_schema([SING, DANCE])
    assert schema["properties"] == {"helper": {"enum": ["sing", "dance", NONE]}}
    assert schema["required"] == ["helper"]
