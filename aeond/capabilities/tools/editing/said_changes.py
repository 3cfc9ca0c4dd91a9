"""Whether the changes of a file follow from what a person said.

Asked for something that no file is about ("dim the lights"), a small model changes some line all the same. A change that is meant nearly always shares
a word or a number with what was said, be it the line that goes or the one that comes, or the name of the file. ADR 0134 has the measurements.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.tools.relevance.shared_words import is_said
from aeond.domain.names import folded, words_to_match
from aeond.domain.values import JsonValue
from aeond.schemas.parts import as_object, is_list

MAX_WORDS: Final = 1_000  # of what was said
_TELLING: Final = 3  # characters of a word that says something beside others
_UPDATE: Final = re.compile(r"(UPDATE \S+ SET )(.*?)( WHERE .*)", re.DOTALL)
_ASSIGNMENT: Final = re.compile(r"\S+ = (?:'(?:[^']|'')*'|[^,']+)")
_DIGITS: Final = re.compile(r"\d+", re.ASCII)
_OF_SQL: Final = re.compile(
    r"^(?:UPDATE \S+ SET|INSERT INTO \S+ VALUES|DELETE FROM \S+ WHERE)|\b(?:AND|NULL|IS|NOT)\b|\bWHERE\b(?! *=)"
)


def said_changes(changes: JsonValue, said: str, path: str) -> JsonValue:
    """The changes of this file, or None if neither one of them nor the name of the file has a word or number in common with what was said."""
    if not is_list(changes):
        return changes
    texts = [PurePosixPath(path).stem, *(text for change in changes for text in _texts_of(as_object(change)))]
    words = tuple(dict.fromkeys(words_to_match(said)))[:MAX_WORDS]
    whole = folded(said)
    if not any(_is_said(text, words, whole) for text in texts):
        return None
    numbers = frozenset(map(int, filter(str.isdecimal, words)))
    return [_without_invented(as_object(change), numbers) for change in changes]


def _without_invented(change: Mapping[str, JsonValue], said: frozenset[int]) -> JsonValue:
    """The change without the new values of an UPDATE that have numbers of which none was said, if others remain: a small model adds dates and numbers
    of other rows to the value that was meant."""
    found = _UPDATE.fullmatch(str(change.get("sql", "")))
    if found is None:
        return change
    begin, assigned, end = found.groups()
    values = _ASSIGNMENT.findall(assigned)
    kept = [one for one in values if not _is_invented(one, said)]
    return {**change, "sql": begin + ", ".join(kept) + end} if 0 < len(kept) < len(values) else change


def _is_invented(assignment: str, said: frozenset[int]) -> bool:
    """Whether the new value has numbers, and none of them was said; 0 is often said in a word."""
    numbers = [int(number) for number in _DIGITS.findall(assignment.partition(" = ")[2])]
    return any(numbers) and said.isdisjoint(numbers)


def _texts_of(change: Mapping[str, JsonValue]) -> list[str]:
    written = {name: str(text) for name, text in change.items() if name != "below"}
    return [_OF_SQL.sub(" ", text) if name == "sql" else text for name, text in written.items()]


def _is_said(text: str, words: Collection[str], said: str) -> bool:
    """Whether a word of the text was said. In scripts without spaces it may stand anywhere."""
    without_case = (one for one in words_to_match(text) if one.lower() == one.upper() and not one.isdigit())
    return is_said(text, words, _TELLING) or any(one in said for one in without_case)
