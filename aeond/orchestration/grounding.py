"""Calls that the model is asked to look at once more: with values that nobody said, or for nothing.

Small models fill in what they were not told: a number out of nowhere, a name that is almost the one that was
said. It is found by form alone, rather too seldom than too often: numbers that stand
neither in the request nor in a result, but for those that come from counting, halving and percentages, and calls
of which not a single word does. The model may be right all the same
(minutes of a day, a city's time zone): what it says to the second look counts.

What else is looked at once more, `doubts.py` says.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from aeond.domain.budgets import Grant
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Outcome
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, JsonValue, compact_json
from aeond.frozen import frozen
from aeond.orchestration.call_schema import MAX_CALL_TOKENS
from aeond.orchestration.constrained_asking import ConstrainedModel
from aeond.orchestration.doubts import (
    computes_nothing,
    files_unasked,
    left_open,
    may_be_remembered,
    pointed_at,
    remembers_unasked,
    unlisted,
)
from aeond.orchestration.meaning import values_in
from aeond.orchestration.schema_parts import as_object, part_at
from aeond.orchestration.shortening import shorten

USUAL_NUMBER: Final = 100.0  # up to here numbers come from knowing how to count
MAX_WORDS: Final = 6  # of a text that was copied; what is longer was written
MAX_NUMBER_WORDS: Final = 12
MAX_REPEATED_CHARS: Final = 400  # of a request
_SHARED_CHARS: Final = 4  # two words that begin so much alike are forms of one
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_FILE_NAME: Final = re.compile(r"\.\w{1,4}$")
# In the form of a call that failed, which the examples show how to go on from.
_LOOK: Final = "Result: no result, failed: {why}"
_INSIST: Final = " If it is right all the same, make the same call again."
_COPY: Final = "{unsaid} stands nowhere in the request: copy names from it letter by letter." + _INSIST
_ASK: Final = (
    "nobody said {unsaid}. If it is not something that everybody knows, like the hours of a day, ask the user for "
    "what is missing with request_user_input; else make the same call again."
)
_COPIED: Final = "{copied!r} is from an example, nobody said it now: ask the user for what is missing with request_user_input."
_RECALL: Final = "it may be remembered: look with memory_search before you ask." + _INSIST
_LACKS: Final = '{pointed} stands nowhere: ask the user "Which {what}?" with request_user_input.' + _INSIST
_OPEN: Final = "the request does not say {part}: ask the user for it with request_user_input." + _INSIST
_UNFILED: Final = "nobody asked for a file. Do what the request asks for, and answer: {request}" + _INSIST
_UNASKED: Final = "nobody asked to remember it. Do what the request asks for: {request}" + _INSIST
_IDLE: Final = (
    "there is nothing to compute in this. Does the request say all that it takes? If not, ask the user for the "
    "rest with request_user_input." + _INSIST
)
_LISTS: Final = (
    "the answer lacks the list that the request asks for: {names}. Answer with all of these and the rest."
)


@frozen
class GroundedAsking:
    """Asks a model for a call, and once more where nobody said what is in it, or it may be for nothing."""

    model: ConstrainedModel

    async def ask(
        self,
        opening: Sequence[Message],
        told: Sequence[Message],
        schema: JsonObject,
        specs: Sequence[ToolSpec],
        grant: Grant,
    ) -> Outcome[JsonValue]:
        """What the model says behind the opening and what it was told: the request, and calls with results.

        Two calls of the grant at most. Where the second look fails, the first holds.
        """
        messages = (*opening, *told)
        asked = await self.model.ask(messages, schema, MAX_CALL_TOKENS, grant)
        said = as_object(asked.value) if asked.ok else {}
        why = _doubt(said, specs, opening, told)
        if not why:
            return asked
        look = _LOOK.format(why=why)
        again = (*messages, Message(Role.AGENT, compact_json(said)), Message(Role.USER, look))
        looked = await self.model.ask(again, schema, MAX_CALL_TOKENS, grant)
        return looked if looked.ok else asked


def _doubt(
    said: JsonObject, specs: Sequence[ToolSpec], opening: Sequence[Message], told: Sequence[Message]
) -> str:
    """Why a call should be looked at again; "" when nothing speaks against it."""
    known = "\n".join(str(message.content) for message in told if message.role is Role.USER)
    if pointed := pointed_at(said, specs, told):
        return _LACKS.format(pointed=pointed, what=_what_it_is(pointed.split()[-1]))
    if part := left_open(said, specs, told):
        return _OPEN.format(part=part)
    if unsaid := unsaid_in(said, specs, known):
        why = _ASK if unsaid[0][0].isdigit() else _COPY
        return why.format(unsaid=", ".join(unsaid))
    shown = "\n".join(str(message.content) for message in opening if message.role is not Role.SYSTEM)
    if copied := copied_in(said, shown, known):
        return _COPIED.format(copied=copied)
    if may_be_remembered(said, specs, told):
        return _RECALL
    if remembers_unasked(said, told):
        return _UNASKED.format(request=shorten(str(told[0].content), MAX_REPEATED_CHARS))
    if files_unasked(said, told):
        return _UNFILED.format(request=shorten(str(told[0].content), MAX_REPEATED_CHARS))
    if computes_nothing(said):
        return _IDLE
    names = unlisted(said, told)
    return _LISTS.format(names=", ".join(names)) if names else ""


def _what_it_is(noun: str) -> str:
    """The end of a question, in the words of the example: models ask just so."""
    return f"{noun} are they" if noun.endswith("s") else f"{noun} is it"


def unsaid_in(said: JsonObject, specs: Sequence[ToolSpec], known: str) -> tuple[str, ...]:
    """The values of a call `{"tool", "arguments"}` that do not stand in what is known."""
    spec = next((spec for spec in specs if spec.name == said.get("tool")), None)
    if spec is None:
        return ()
    arguments = as_object(said.get("arguments"))
    known_numbers = {float(number) for number in _NUMBER.findall(known)}
    numbers = dict.fromkeys(_numbers(arguments))
    strange = [n for n in numbers if _is_strange(float(n), known_numbers)]
    if strange or any(float(number) in known_numbers for number in numbers):
        return tuple(strange)
    return tuple(_strange_words(arguments, spec, known.casefold()))


def copied_in(said: JsonObject, shown: str, known: str) -> str:
    """The text of several words, in a call or as an answer, that stands in what was shown as an example, and of
    which no word is known; "" without one."""
    begun = _begun(known.casefold())
    for value in (said.get("answer"), *values_in(as_object(said.get("arguments")))):
        words = _WORD.findall(value.casefold()) if isinstance(value, str) else []
        if (
            len(words) > 1
            and str(value) in shown
            and not any(word[:_SHARED_CHARS] in begun for word in words)
        ):
            return str(value)
    return ""


def _begun(text: str) -> set[str]:
    """How the words of a text begin."""
    return {word[:_SHARED_CHARS] for word in _WORD.findall(text)}


def _numbers(arguments: JsonObject) -> Iterator[str]:
    for value in values_in(arguments):
        if isinstance(value, str) and len(value.split()) <= MAX_NUMBER_WORDS:
            yield from _NUMBER.findall(value)
        elif _is_number(value):
            yield str(value).removeprefix("-")  # a sign is not part of the numbers that are found in texts


def _is_strange(number: float, known: Collection[float]) -> bool:
    """Whether a number is neither known nor of those that come from knowing how to count: small whole ones,
    halves and quarters, and what a percentage makes of a whole."""
    if number in known:
        return False
    if number > USUAL_NUMBER:
        return True
    shares = (part for percent in known for part in (percent / 100, 1 - percent / 100, 1 + percent / 100))
    return (4 * number) % 1 != 0 and not any(math.isclose(number, share) for share in shares)


def _strange_words(arguments: JsonObject, spec: ToolSpec, known: str) -> Iterator[str]:
    """The texts of a call, if all of its texts are short and no word of them is known."""
    texts = [
        value
        for name, value in arguments.items()
        if isinstance(value, str) and part_at(spec.input_schema, (name,)).get("type") == "string"
    ]
    words = [_WORD.findall(text.casefold()) for text in texts]
    if not any(words) or any(len(text.split()) > MAX_WORDS or _FILE_NAME.search(text) for text in texts):
        return
    begun = _begun(known)
    if not any(word[:_SHARED_CHARS] in begun for its in words for word in its):
        yield from (repr(text) for text in texts if text.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
