"""What a model reads to pick the template for a subtask, where ranking left doubt."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.plans.subtasks import Template
from aeond.domain.values import JsonObject

NONE: Final = "none"

# Constant, so that an engine reads it once.
RULES: Final = """\
Pick the helper that does what the user asks. A helper does only the kind of work it is described with. Pick "none" \
when the request is for something else.
Examples, with other helpers:
iron: Irons clothes. | wash: Washes clothes. | sew: Repairs clothes.
User: there is a hole in my shirt
{"helper":"sew"}
iron: Irons clothes. | wash: Washes clothes. | sew: Repairs clothes.
User: buy me a new shirt
{"helper":"none"}
tune: Tunes a piano. | compose: Writes music. | transcribe: Writes down the notes of a recording.
User: how old was Mozart when he died
{"helper":"none"}
tune: Tunes a piano. | compose: Writes music. | transcribe: Writes down the notes of a recording.
User: a melody for the birthday of my aunt
{"helper":"compose"}"""


def choice_messages(wording: str, choices: Sequence[Template]) -> tuple[Message, ...]:
    helpers = " | ".join(f"{one.name}: {one.description}" for one in choices)
    return (Message(Role.SYSTEM, RULES), Message(Role.USER, f"{helpers}\nUser: {wording}"))


def choice_schema(choices: Sequence[Template]) -> JsonObject:
    return {
        "type": "object",
        "properties": {"helper": {"enum": [*(one.name for one in choices), NONE]}},
        "required": ["helper"],
        "additionalProperties": False,
    }
