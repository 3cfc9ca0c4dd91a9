"""The prompts with which a model restates a request for a subtask, and judges whether a template fits it."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.plans.subtasks import Template
from aeond.domain.values import JsonObject
from aeond.orchestration.prompts.decision_prompts import NO, YES, Question, conversation, yes_or_no

NONE: Final = "none"

RESTATE_RULES: Final = """\
Say in English, in one short sentence that begins with a verb in the third person, what kind of work a request asks for. \
Name the kind of work and the kind of thing; leave out names, numbers and details."""
_RESTATED: Final = (
    ("there is a hole in Tom's blue shirt", "Repairs clothes."),
    ("mein Klavier klingt schief", "Tunes a piano."),
    ("achète-moi deux billets pour Rome", "Buys train tickets."),
    ("Compose a melody for my aunt's 60th birthday", "Composes music."),
    ("what is cotton made of?", "Answers a question about a material."),
)

FIT_RULES: Final = """\
A helper does one kind of work. Answer yes if the request asks for exactly that work to be done. Answer no if it asks for \
anything else, even about the same subject."""
_JUDGED: Final = (
    ("there is a hole in my shirt", "Repairs clothes.", YES),
    ("buy me a new shirt", "Repairs clothes.", NO),
    ("compose a melody for my aunt", "Gives piano lessons.", NO),
    ("mein Klavier klingt schief", "Tunes a piano.", YES),
    ("what is cotton made of?", "Washes clothes.", NO),
    ("a fresh colour for my kitchen walls, please", "Paints rooms.", YES),
    ("vends mon piano", "Tunes a piano.", NO),
    ("draw me a house", "Paints rooms.", NO),
)

CHOICE_RULES: Final = """\
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


def restating_messages(wording: str) -> tuple[Message, ...]:
    """Asks for the kind of work in one English sentence."""
    shots = [(_request(said), restated) for said, restated in _RESTATED]
    return conversation(RESTATE_RULES, shots, _request(wording))


FIT: Final = Question(FIT_RULES, "Request: {}\nHelper: {}", _JUDGED, yes_or_no)
"""Asks whether a template does what a request asks for, by the request and the description of the template: YES or NO."""


def choice_messages(wording: str, choices: Sequence[Template]) -> tuple[Message, ...]:
    """Asks for a template by name. The choices come before the request, so that an engine reads the same library
    once."""
    helpers = "\n".join(f"{one.name}: {one.description}" for one in choices)
    return (Message(Role.SYSTEM, CHOICE_RULES + helpers), Message(Role.USER, _request(wording)))


def choice_schema(choices: Sequence[Template]) -> JsonObject:
    return {
        "type": "object",
        "properties": {"helper": {"enum": [*(one.name for one in choices), NONE]}},
        "required": ["helper"],
        "additionalProperties": False,
    }


def _request(wording: str) -> str:
    return f"Request: {wording}"
