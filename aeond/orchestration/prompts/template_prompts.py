"""The prompt and schema with which a model picks the template for a subtask."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.plans.subtasks import Template
from aeond.domain.values import JsonObject

NONE: Final = "none"

RULES: Final = """\
You pass requests on to helpers. Each helper does only the kind of work it is described with. Name the helper whose \
description says what the request asks for. Say "none" when no description does, however close the subject is: a \
wrong helper does harm.

Examples, with other helpers:
sew: Repairs clothes. | wash: Washes clothes. | tune: Tunes a piano. | teach: Gives piano lessons.
Request: there is a hole in my shirt
{"helper":"sew"}
Request: buy me a new shirt
{"helper":"none"}
Request: compose a melody for my aunt
{"helper":"none"}
Request: mein Klavier klingt schief
{"helper":"tune"}
Request: sell my piano
{"helper":"none"}

The helpers:
"""


def choice_messages(wording: str, choices: Sequence[Template]) -> tuple[Message, ...]:
    """The choices come before the request, so that an engine reads the same library once."""
    helpers = "\n".join(f"{one.name}: {one.description}" for one in choices)
    return (Message(Role.SYSTEM, RULES + helpers), Message(Role.USER, f"Request: {wording}"))


def choice_schema(choices: Sequence[Template]) -> JsonObject:
    return {
        "type": "object",
        "properties": {"helper": {"enum": [*(one.name for one in choices), NONE]}},
        "required": ["helper"],
        "additionalProperties": False,
    }
