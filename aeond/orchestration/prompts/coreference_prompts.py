"""The prompt that spells out what a request means in its conversation.

The model first copies the words that the request rests on, then writes the request. The topics of the examples are
far from usual requests, and none is arithmetic: a small model copies both.
"""

import json
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.values import JsonObject
from aeond.frozen import frozen

MAX_FOUND_CHARS: Final = 160

_RULES: Final = """\
You make the user's last request complete, so that it can be understood without the conversation. Words that point \
back are replaced by what they point to. A request that says only what is different now is written in full: the \
earlier request with the difference in its place. A question stays a question and an order stays an order. Words are \
copied letter by letter. You never answer and never do what is asked. A request that is complete stays as it is. \
Reply with JSON: {"found":"the words of the conversation that the request rests on, or nothing","request":"the \
complete request"}"""
FOUND: Final = "found"
REQUEST: Final = "request"


@frozen
class Example:
    """A request after one exchange, the words it rests on, and its complete form."""

    asked: str
    answer: str
    request: str
    found: str
    complete: str


def rewriting_messages(conversation: str, request: str) -> tuple[Message, ...]:
    """Asks for the request as one would put it to a listener who does not know the conversation."""
    messages = [Message(Role.SYSTEM, _RULES)]
    for example in _EXAMPLES:
        talk = f"User: {example.asked}\nAssistant: {example.answer}"
        reply = {FOUND: example.found, REQUEST: example.complete}
        messages += [
            Message(Role.USER, _question(talk, example.request)),
            Message(Role.AGENT, json.dumps(reply, separators=(",", ":"))),
        ]
    return (*messages, Message(Role.USER, _question(conversation, request)))


def rewriting_schema() -> JsonObject:
    """The words found in the conversation, then the rewritten request."""
    return {
        "type": "object",
        "properties": {
            FOUND: {"type": "string"},
            REQUEST: {"type": "string", "minLength": 1},
        },
        "required": [FOUND, REQUEST],
        "additionalProperties": False,
    }


def _question(conversation: str, said: str) -> str:
    return f"{conversation}\n\nLast request: {said}"


_EXAMPLES: Final = (
    Example(
        "How heavy is an African elephant?",
        "About 6000 kg",
        "How long does it live?",
        "an African elephant",
        "How long does an African elephant live?",
    ),
    Example(
        "Who is the king of Spain?",
        "Felipe VI",
        "And of Denmark?",
        "Who is the king of Spain?",
        "Who is the king of Denmark?",
    ),
    Example(
        "How many guests come on Sunday?",
        "24 guests",
        "Order twice as many chairs as that.",
        "24",
        "Order twice as many chairs as 24.",
    ),
    Example(
        "Close the window in the kitchen.",
        "The window is closed.",
        "Do the same in the bedroom.",
        "Close the window in the kitchen.",
        "Close the window in the bedroom.",
    ),
    Example(
        "Write a letter to my aunt.",
        "Dear aunt, how are you?",
        "Which metal melts first, tin or lead?",
        "",
        "Which metal melts first, tin or lead?",
    ),
    Example(
        "Which instruments have strings?",
        "Violin, harp and guitar.",
        "Which makers build the middle one?",
        "harp",
        "Which makers build the harp?",
    ),
    Example(
        "Draw a horse in the snow.",
        "Here is a horse.",
        "Again, but in the rain.",
        "Draw a horse in the snow.",
        "Draw a horse in the rain.",
    ),
    Example(
        "Which is the largest lake of Africa?",
        "Lake Victoria is the largest lake of Africa.",
        "Which fish live there?",
        "Lake Victoria",
        "Which fish live in Lake Victoria?",
    ),
    Example(
        "When does the shop in Bonn open on Friday?",
        "At 9 in the morning.",
        "And on Sunday?",
        "When does the shop in Bonn open on Friday?",
        "When does the shop in Bonn open on Sunday?",
    ),
    Example(
        "Open photos/beach.png.",
        "It is open.",
        "Print the picture.",
        "photos/beach.png",
        "Print the picture photos/beach.png.",
    ),
    Example(
        "Who built the tower in Pisa?",
        "Bonanno Pisano",
        "Thank you!",
        "",
        "Thank you!",
    ),
    Example(
        "Which trees grow in the park?",
        "Oak, birch and pine.",
        "How tall are they?",
        "oak, birch and pine",
        "How tall are oak, birch and pine?",
    ),
    Example(
        "Sell the car for 5000 dollars.",
        "The car is for sale.",
        "No, I meant the boat.",
        "Sell the car for 5000 dollars.",
        "Sell the boat for 5000 dollars.",
    ),
    Example(
        "Write a letter to my aunt.",
        "Dear aunt, how are you?",
        "Now make it longer.",
        "the letter to my aunt",
        "Make the letter to my aunt longer.",
    ),
    Example(
        "Play the tape from the start to the end.",
        "It plays.",
        "Now backwards.",
        "Play the tape from the start to the end.",
        "Play the tape from the end to the start.",
    ),
    Example(
        "Is the ferry or the bridge older?",
        "The bridge is older than the ferry.",
        "How long is the former?",
        "the bridge",
        "How long is the bridge?",
    ),
    Example(
        "How much is the ticket in yen?",
        "4000 yen",
        "In roubles?",
        "How much is the ticket in yen?",
        "How much is the ticket in roubles?",
    ),
)
