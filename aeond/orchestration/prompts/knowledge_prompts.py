"""The prompts with which a small model says where an answer comes from, and answers from what it knows."""

from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.runs.run import RunSnapshot

KNOWLEDGE: Final = "know"
CHANGE: Final = "do"
OTHER_SOURCES: Final = ("files", "facts", "compute", CHANGE)

_SOURCE_RULES: Final = """\
Say in one word where the answer to a request comes from: know (general knowledge, language or imagination), files (the \
person's files), facts (what the person said before), compute (a calculation), do (something is to be written, changed, \
kept, removed or sent)."""
_SOURCES: Final = (
    ("why is the sea salty?", KNOWLEDGE),
    ("what does the club say about guests", "files"),
    ("Comment s'appelle mon bateau ?", "facts"),
    ("give me a rhyme on sail", KNOWLEDGE),
    ("send the rules to Omar by mail", "do"),
    ("how many days from 20 april to 3 june", "compute"),
    ("was heißt Hafen auf Spanisch?", KNOWLEDGE),
    ("by the way the gate code is 9021 now", "do"),
    ("Who pays more, Lena or Omar?", "files"),
    ("put this in better English: we was at sea since two days", KNOWLEDGE),
    ("A list todo.txt with: paint, rope, and two lamps", "do"),
    ("ile kosztuje 12 lamp po 8.50", "compute"),
    ("is ice heavier than water", KNOWLEDGE),
    ("when did I say the sails get washed?", "facts"),
)
_REPLY_RULES: Final = """\
You are aeond, the assistant on a person's computer. Answer briefly, in the language of the request. In this reply you can \
only talk: nothing can be looked up, kept or changed."""


def source_messages(request: str) -> tuple[Message, ...]:
    """Asks for the source of the answer; the reply is one word."""
    shots = [
        message
        for said, source in _SOURCES
        for message in (Message(Role.USER, _request(said)), Message(Role.AGENT, source))
    ]
    return (Message(Role.SYSTEM, _SOURCE_RULES), *shots, Message(Role.USER, _request(request)))


def reply_messages(run: RunSnapshot) -> tuple[Message, ...]:
    """The request in a conversation without tools, files and facts."""
    instructions = run.request.instructions
    rules = f"{_REPLY_RULES}\n\n{instructions}" if instructions else _REPLY_RULES
    said = f"Said before:\n{run.context}\n\n{run.text}" if run.context else run.text
    return (Message(Role.SYSTEM, rules), Message(Role.USER, said))


def _request(wording: str) -> str:
    return f"Request: {wording}"
