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
    return changes if any(_is_said(text, words, whole) for text in texts) else None


def _texts_of(change: Mapping[str, JsonValue]) -> list[str]:
    written = {name: str(text) for name, text in change.items() if name != "below"}
    return [_OF_SQL.sub(" ", text) if name == "sql" else text for name, text in written.items()]


def _is_said(text: str, words: Collection[str], said: str) -> bool:
    """Whether a word of the text was said. In scripts without spaces it may stand anywhere."""
    without_case = (one for one in words_to_match(text) if one.lower() == one.upper() and not one.isdigit())
    return is_said(text, words, _TELLING) or any(one in said for one in without_case)
