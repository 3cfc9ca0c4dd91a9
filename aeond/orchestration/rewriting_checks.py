"""Whether a rewritten request says what the user said, and nothing that nobody said."""

import re
from collections.abc import Iterable
from typing import Final

from aeond.orchestration.pointing import POINTING_WORDS, words_of

MAX_GROWTH_CHARS: Final = 400

_NUMBER: Final = re.compile(r"(?<!\w)\d+(?:[.,:]\d+)*")
# Files, addresses, identifiers: letters with a sign in between that prose does not have there.
_TECHNICAL: Final = re.compile(r"[\w~/-]*\w[./_@\\]\w[\w./_@\\-]*")
_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:]\s+|\n|[\"'(])\s*$")
_EMPTY_WORDS: Final = frozenset(
    re.findall(
        r"\S+",
        """
        a an and are as at be but by can could did do does for from give had has have how i in into is just let
        like may me might must my no not of on or ok okay please show should sorry tell than thank thanks to up
        very was well were what when which who whose why will with would yes you your about again around
        """,
    )
)


def what_is_wrong(said: str, rewritten: str, conversation: str) -> str:
    """Why the rewritten request cannot stand for what was said; "" when nothing speaks against it."""
    if not rewritten.strip():
        return "the rewritten request is empty"
    if len(rewritten) > len(said) + MAX_GROWTH_CHARS:
        return "the rewritten request is too long"
    known = f"{said}\n{conversation}".casefold()
    if new := _unknown(_facts(rewritten), known):
        return f"the rewritten request names {new!r}, which nobody said"
    if lost := _unknown(_NUMBER.findall(said), rewritten.casefold()):
        return f"the rewritten request lost {lost!r}"
    if said.rstrip().endswith("?") and "?" not in rewritten:
        return "the rewritten request asks nothing"
    meant = [word for word in words_of(said) if word not in POINTING_WORDS | _EMPTY_WORDS]
    there = set(words_of(rewritten))
    if meant and 2 * sum(word in there for word in meant) <= len(meant):
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
        written_large = word.group()[0].isupper() and word.group() != "I"
        if written_large and not _SENTENCE_START.search(text[: word.start()]):
            yield word.group()


def _unknown(facts: Iterable[str], known: str) -> str:
    """The first of these that is not known as a whole word."""
    for fact in facts:
        bare = re.sub(r"['\u2019]s$", "", fact).casefold()
        after = r"\d" if bare[-1:].isdigit() else r"\w"  # 10 is known from 10km
        if not re.search(rf"(?<!\w){re.escape(bare)}(?!{after})", known):
            return fact
    return ""
