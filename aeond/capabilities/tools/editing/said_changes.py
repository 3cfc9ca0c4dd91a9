"""Which changes of a file follow from what a person said.

Asked for something that no file is about ("dim the lights"), a small model changes some line all the same; and behind the change that was
meant it goes on: with other items ticked off, or lines that are there already. What is meant nearly always shares a word or a number with
what was said, be it the line that goes or the one that comes. ADR 0134 has the measurements.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final

from aeond.capabilities.tools.editing.text_edits import item_text
from aeond.capabilities.tools.relevance.shared_words import are_nearly_equal, words_that_count
from aeond.capabilities.tools.tables.statement_pattern import is_same
from aeond.domain.names import folded, words_to_match
from aeond.domain.values import JsonValue
from aeond.schemas.parts import as_object, is_list

MAX_WORDS: Final = 1_000  # of what was said
_OF_SQL: Final = re.compile(
    r"^(?:UPDATE \S+ SET|INSERT INTO \S+ VALUES|DELETE FROM \S+ WHERE)|\b(?:AND|NULL|IS|NOT)\b|\bWHERE\b(?! *=)"
)


def said_changes(changes: JsonValue, said: str) -> JsonValue:
    """The changes without those that only add, remove or tick off what has no word in common with what was said, where others have one; None if
    none of them has. Anything that is no list of changes as it is."""
    if not is_list(changes):
        return changes
    words = words_that_count(said, MAX_WORDS)
    founded = [_is_said(as_object(change), words) for change in changes]
    if not any(founded):
        return None
    return [
        change
        for change, is_founded in zip(changes, founded, strict=True)
        if is_founded or _alters(as_object(change))
    ]


def _is_said(change: Mapping[str, JsonValue], words: Collection[str]) -> bool:
    texts = [_OF_SQL.sub(" ", str(text)) if name == "sql" else str(text) for name, text in change.items()]
    written = {word for text in texts for word in words_to_match(text)}
    return any(_are_alike(one, other) for one in written for other in words)


def _are_alike(one: str, other: str) -> bool:
    """Whether these are one word or number, perhaps with another ending, or with the zeros of "243 thousand"."""
    if one.isdigit() and other.isdigit():
        shorter, longer = sorted((one, other), key=len)
        return longer.startswith(shorter) and not longer[len(shorter) :].strip("0")
    return one == other or is_same(one, other) or are_nearly_equal(one, other)


def _alters(change: Mapping[str, JsonValue]) -> bool:
    """Whether it puts other words in the place of some, or is a statement: a setting has often none that a person says."""
    old, new = (folded(item_text(str(change.get(name, "")))) for name in ("replace", "with"))
    return "sql" in change or bool(old and new and old != new)
