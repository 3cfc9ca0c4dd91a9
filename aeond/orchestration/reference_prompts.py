"""What a model is told that spells out what a request means in its conversation.

Two kinds of requests, each with rules and examples of its own, since a small model follows what looks like
its task: those that point at something that was said (it, there, the second one), and those that go on from
an earlier request and say only what is different (and tomorrow? the same for X). Topics of examples are far
from usual requests, and none is arithmetic: both come back in what the model writes.
"""

import json
from collections.abc import Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.values import JsonObject
from aeond.frozen import frozen

MAX_FOUND_CHARS: Final = 160

_END: Final = """\
A question stays a question and an order stays an order. Words are copied letter by letter. You never answer and \
never do what is asked. A request that is complete stays as it is."""


@frozen
class Example:
    """A request after one exchange, what of the conversation it rests on, and what it means."""

    asked: str
    answer: str
    request: str
    found: str
    complete: str


@frozen
class Rewriting:
    """A kind of rewriting: the model first writes what it found in the conversation, as `found`."""

    rules: str
    found: str
    examples: Sequence[Example]

    def messages(self, conversation: str, said: str) -> tuple[Message, ...]:
        """Asks for the request as one would say it to somebody who had not listened."""
        messages = [Message(Role.SYSTEM, self.rules)]
        for example in self.examples:
            talk = f"User: {example.asked}\nAssistant: {example.answer}"
            reply = {self.found: example.found, "request": example.complete}
            messages += [
                Message(Role.USER, _question(talk, example.request)),
                Message(Role.AGENT, json.dumps(reply, separators=(",", ":"))),
            ]
        return (*messages, Message(Role.USER, _question(conversation, said)))

    def schema(self, most_chars: int) -> JsonObject:
        return {
            "type": "object",
            "properties": {
                self.found: {"type": "string", "maxLength": MAX_FOUND_CHARS},
                "request": {"type": "string", "minLength": 1, "maxLength": most_chars},
            },
            "required": [self.found, "request"],
            "additionalProperties": False,
        }


def _question(conversation: str, said: str) -> str:
    return f"{conversation}\n\nLast request: {said}"


POINTING: Final = Rewriting(
    "You make the user's last request complete, so that it can be understood without the conversation. Words that "
    "point back (it, that, they, there, he, the file, the result, the second one) are replaced by what they point "
    f'to. {_END} Reply with JSON: {{"points_to":"what is pointed to, or nothing","request":"the complete request"}}',
    "points_to",
    (
        Example(
            "How heavy is an African elephant?",
            "About 6000 kg",
            "How long does it live?",
            "an African elephant",
            "How long does an African elephant live?",
        ),
        Example(
            "How many guests come on Sunday?",
            "24 guests",
            "Order twice as many chairs as that.",
            "24",
            "Order twice as many chairs as 24.",
        ),
        Example(
            "Write a letter to my aunt.",
            "Dear aunt, how are you?",
            "Which metal melts first, tin or lead?",
            "",
            "Which metal melts first, tin or lead?",
        ),
        Example(
            "Write a letter to my aunt.",
            "Dear aunt, how are you?",
            "Now make it longer.",
            "the letter to my aunt",
            "Make the letter to my aunt longer.",
        ),
        Example(
            "Which is the largest lake of Africa?",
            "Lake Victoria is the largest lake of Africa.",
            "Which fish live there?",
            "Lake Victoria",
            "Which fish live in Lake Victoria?",
        ),
        Example(
            "Which instruments have strings?",
            "Violin, harp and guitar.",
            "Who invented the second one?",
            "harp",
            "Who invented the harp?",
        ),
        Example(
            "Which trees grow in the park?",
            "Oak, birch and pine.",
            "How tall are they?",
            "oak, birch and pine",
            "How tall are oak, birch and pine?",
        ),
        Example(
            "Open photos/beach.png.",
            "It is open.",
            "Print the picture.",
            "photos/beach.png",
            "Print the picture photos/beach.png.",
        ),
        Example(
            "Is the ferry or the bridge older?",
            "The bridge is older than the ferry.",
            "How long is the former?",
            "the bridge",
            "How long is the bridge?",
        ),
    ),
)

CONTINUING: Final = Rewriting(
    "The user goes on from an earlier request and says only what is different now. You write the new request in "
    "full: the earlier request, with what the user now says in the place of what it replaces. "
    f'{_END} Reply with JSON: {{"earlier":"the earlier request","request":"the new request"}}',
    "earlier",
    (
        Example(
            "Who is the king of Spain?",
            "Felipe VI",
            "And of Denmark?",
            "Who is the king of Spain?",
            "Who is the king of Denmark?",
        ),
        Example(
            "Close the window in the kitchen.",
            "The window is closed.",
            "Do the same in the bedroom.",
            "Close the window in the kitchen.",
            "Close the window in the bedroom.",
        ),
        Example(
            "Draw a horse in the snow.",
            "Here is a horse.",
            "Again, but in the rain.",
            "Draw a horse in the snow.",
            "Draw a horse in the rain.",
        ),
        Example(
            "When does the shop in Bonn open on Friday?",
            "At 9 in the morning.",
            "And on Sunday?",
            "When does the shop in Bonn open on Friday?",
            "When does the shop in Bonn open on Sunday?",
        ),
        Example(
            "How much is the ticket in yen?",
            "4000 yen",
            "In roubles?",
            "How much is the ticket in yen?",
            "How much is the ticket in roubles?",
        ),
        Example(
            "Sing a song about the moon.",
            "The moon has risen, the stars are bright.",
            "Another one, please.",
            "Sing a song about the moon.",
            "Sing another song about the moon.",
        ),
        Example(
            "How deep is the river at Mostar?",
            "3 metres",
            "Look again.",
            "How deep is the river at Mostar?",
            "Look again how deep the river at Mostar is.",
        ),
        Example(
            "Who built the tower in Pisa?",
            "Bonanno Pisano",
            "Thank you!",
            "",
            "Thank you!",
        ),
        Example(
            "Sell the car for 5000 dollars.",
            "The car is for sale.",
            "No, I meant the boat.",
            "Sell the car for 5000 dollars.",
            "Sell the boat for 5000 dollars.",
        ),
        Example(
            "Play the tape from the start to the end.",
            "It plays.",
            "The other way round.",
            "Play the tape from the start to the end.",
            "Play the tape from the end to the start.",
        ),
        Example(
            "Why do cats purr?",
            "They purr when they feel safe, and to calm themselves.",
            "How, exactly?",
            "Why do cats purr?",
            "How, exactly, do cats purr?",
        ),
    ),
)
