"""Checks that a rewritten request adds no names or numbers and loses none, by form alone."""

import re
from collections.abc import Iterable
from typing import Final

from aeond.orchestration.context.statements import is_question, sentences

MAX_GROWTH_CHARS: Final = 400

_NUMBER: Final = re.compile(r"(?<!\w)\d+(?:[.,:]\d+)*")
# Files, addresses, identifiers: letters with a sign in between that prose does not have there.
_TECHNICAL: Final = re.compile(r"[\w~/-]*\w[./_@\\]\w[\w./_@\\-]*")
_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:]\s+|\n|[\"'(¿¡«\u201c\u201e])\s*$")
_LONG_WORD_CHARS: Final = 5
# Scripts without spaces between words: each of their letters counts as a word.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_ANY_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:['\u2019-][^\W_{_UNSPACED}]+)*")
# The ending of a name after an apostrophe, such as a genitive.
_ENDING: Final = re.compile(r"['\u2019]\w{1,3}$")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _ANY_WORD.findall(text.casefold())


def what_is_wrong(said: str, rewritten: str, conversation: str) -> str:
    """Why the rewritten request cannot replace the original; "" when it passes every check."""
    if not rewritten.strip():
        return "the rewritten request is empty"
    if len(rewritten) > len(said) + MAX_GROWTH_CHARS:
        return "the rewritten request is too long"
    known = f"{said}\n{conversation}".casefold()
    if new := _unknown(_facts(rewritten), known):
        return f"the rewritten request names {new!r}, which neither the request nor the conversation names"
    numbers = _NUMBER.findall(said)
    if lost := _unknown(numbers, rewritten.casefold()):
        return f"the rewritten request lost {lost!r}"
    if is_question(said) and not any(map(is_question, sentences(rewritten))):
        return "the rewritten request asks nothing"
    carried = {word for word in words_of(said) if len(word) >= _LONG_WORD_CHARS}
    there = set(words_of(rewritten))
    if not numbers and carried and carried.isdisjoint(there):
        return "the rewritten request is about something else"
    return ""


def is_quoted(words: str, conversation: str) -> bool:
    """Whether these words stand in the conversation, one after the other."""
    wanted = " ".join(words_of(words))
    return bool(wanted) and f" {wanted} " in f" {' '.join(words_of(conversation))} "


def _facts(text: str) -> Iterable[str]:
    """Numbers, technical names, and words that are written with a capital inside of a sentence."""
    yield from _NUMBER.findall(text)
    yield from (name.rstrip(".") for name in _TECHNICAL.findall(text))
    for word in _WORD.finditer(text):
        capital = len(word.group()) > 1 and word.group()[0].isupper()
        if capital and not _SENTENCE_START.search(text[: word.start()]):
            yield word.group()


def _unknown(facts: Iterable[str], known: str) -> str:
    """The first of these that is not known as a whole word."""
    for fact in facts:
        bare = _ENDING.sub("", fact).casefold()
        after = r"\d" if bare[-1:].isdigit() else r"\w"  # 10 is known from 10km
        if not re.search(rf"(?<!\w){re.escape(bare)}(?!{after})", known):
            return fact
    return ""
