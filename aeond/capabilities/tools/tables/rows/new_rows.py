"""What a small model copies into a new row: the note of another one, where nothing was said for it."""

import re
from collections.abc import Collection
from typing import Final

from aeond.capabilities.tools.relevance.shared_words import words_that_count
from aeond.capabilities.tools.tables.reading import Table
from aeond.capabilities.tools.tables.statement_pattern import is_same
from aeond.capabilities.tools.tables.statements import as_literal
from aeond.domain.names import words_to_match

_INSERT: Final = re.compile(r"(INSERT INTO \S+ VALUES )\((.*)\)", re.DOTALL)
_LONG: Final = 4  # characters of a word that says something beside others
_LITERAL: Final = re.compile(r"'(?:[^']|'')*'|NULL|-?[0-9]+(?:[.][0-9]+)?")


def without_copied_texts(statement: str, table: Table, said: str) -> str:
    """The statement that adds a row, with NULL in place of each text that another row has, in a column which some rows leave empty, and of which no word was
    said. Any other statement as it is."""
    found = _INSERT.fullmatch(statement)
    cells = _LITERAL.findall(found[2]) if found else []
    if found is None or len(cells) != len(table.columns):
        return statement
    words = words_that_count(said)
    for at, texts in enumerate(zip(*table.rows, strict=True)):
        copied = next((text for text in texts if text and as_literal(text) == cells[at]), "")
        if copied and "" in texts and not _is_said(copied, words):
            cells[at] = "NULL"
    return f"{found[1]}({', '.join(cells)})"


def _is_said(text: str, words: Collection[str]) -> bool:
    """Whether a word of the text was said; of the short ones only where it has no others."""
    written = words_to_match(text)
    telling = [word for word in written if len(word) >= _LONG] or written
    return any(one == other or is_same(one, other) for one in telling for other in words)
