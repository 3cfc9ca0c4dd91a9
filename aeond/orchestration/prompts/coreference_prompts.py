"""The prompts that spell out what a request means in its conversation.

A request either points at something that was said (it, there, the middle one) or says only what is different from an earlier
request (and tomorrow? the same for X); each kind has rules and examples of its own, since a small model follows what looks
like its task. A question before tells which kind it is. The topics of the examples are far from usual requests, and none is
arithmetic: a small model copies both.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.values import JsonObject, compact_json
from aeond.frozen import frozen
from aeond.schemas.parts import closed_object

MAX_FOUND_CHARS: Final = 160
REQUEST: Final = "request"

_END: Final = """\
A question stays a question and an order stays an order. Words are copied letter by letter. You never answer and never do \
what is asked. A request that is complete stays as it is."""


class Dependence(StrEnum):
    """How a request depends on its conversation."""

    POINTS = "points"
    DIFFERS = "differs"
    ALONE = "alone"


_DEPENDENCE_RULES: Final = f"""\
Say in one word how the last request depends on the conversation: {Dependence.POINTS} (a word of it stands for something that \
was said), {Dependence.DIFFERS} (it says only what is different from an earlier request), {Dependence.ALONE} (it can be \
understood alone)."""


@frozen
class Example:
    """A request after one exchange, the words of the conversation it rests on, and its complete form."""

    asked: str
    answer: str
    request: str
    found: str
    complete: str

    @property
    def conversation(self) -> str:
        return f"User: {self.asked}\nAssistant: {self.answer}"


@frozen
class Rewriting:
    """One kind of rewriting: the model first copies the words that the request rests on, as `found`."""

    rules: str
    found: str
    examples: Sequence[Example]

    def messages(self, conversation: str, request: str) -> tuple[Message, ...]:
        """Asks for the request as one would put it to a listener who does not know the conversation."""
        messages = [Message(Role.SYSTEM, self.rules)]
        for example in self.examples:
            reply = compact_json({self.found: example.found, REQUEST: example.complete})
            messages += [_question(example.conversation, example.request), Message(Role.AGENT, reply)]
        return (*messages, _question(conversation, request))

    @property
    def schema(self) -> JsonObject:
        """The words found in the conversation, then the rewritten request."""
        return closed_object({self.found: {"type": "string"}, REQUEST: {"type": "string", "minLength": 1}})


def dependence_messages(conversation: str, request: str) -> tuple[Message, ...]:
    """Asks how the request depends on the conversation; the reply is one word as JSON."""
    messages = [Message(Role.SYSTEM, _DEPENDENCE_RULES)]
    for kind, example in _DEPENDING:
        messages += [
            _question(example.conversation, example.request),
            Message(Role.AGENT, compact_json(kind if example.found else Dependence.ALONE)),
        ]
    return (*messages, _question(conversation, request))


DEPENDENCE_SCHEMA: Final[JsonObject] = {"enum": [str(kind) for kind in Dependence]}


def _question(conversation: str, request: str) -> Message:
    return Message(Role.USER, f"{conversation}\n\nLast request: {request}")


_POINTING: Final = (
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
        "Which makers build the middle one?",
        "harp",
        "Which makers build the harp?",
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
)
_DIFFERING: Final = (
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
        "A sadder one now.",
        "Sing a song about the moon.",
        "Sing a sadder song about the moon now.",
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
        "Now backwards.",
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
)
_COMPLETE: Final = (
    Example(
        "Who feeds the horses?", "Jan does.", "Is sand heavier than water?", "", "Is sand heavier than water?"
    ),
    Example("Draw a horse in the snow.", "Here is a horse.", "Good morning", "", "Good morning"),
    Example(
        "How heavy is an African elephant?",
        "About 6000 kg",
        "Name three birds that cannot fly.",
        "",
        "Name three birds that cannot fly.",
    ),
)

REWRITINGS: Final[Mapping[str, Rewriting]] = {
    Dependence.POINTS: Rewriting(
        "You make the user's last request complete, so that it can be understood without the conversation. Words that "
        "point back (it, that, they, there, he, the file, the result, the second one) are replaced by what they point "
        f'to. {_END} Reply with JSON: {{"points_to":"what is pointed to, or nothing","request":"the complete request"}}',
        "points_to",
        _POINTING,
    ),
    Dependence.DIFFERS: Rewriting(
        "The user goes on from an earlier request and says only what is different now. You write the new request in "
        "full: the earlier request, with what the user now says in the place of what it replaces. "
        f'{_END} Reply with JSON: {{"earlier":"the earlier request","request":"the new request"}}',
        "earlier",
        _DIFFERING,
    ),
}

# The kinds in turn, complete requests between them.
_DEPENDING: Final = tuple(
    (kind, example)
    for examples in zip_longest(_POINTING, _DIFFERING, _COMPLETE)
    for kind, example in zip(Dependence, examples, strict=True)
    if example is not None
)
