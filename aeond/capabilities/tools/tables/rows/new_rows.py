"""What a small model copies into a new row: the note of another one, where nothing was said for it."""

import re
from typing import Final

from aeond.capabilities.tools.relevance.shared_words import is_said, words_that_count
from aeond.capabilities.tools.tables.reading import Table
from aeond.capabilities.tools.tables.statements import as_literal

_INSERT: Final = re.compile(r"(INSERT INTO \S+ VALUES )\((.*)\)", re.DOTALL)
_TELLING: Final = 4  # characters of a word that says something beside others
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
        if copied and "" in texts and not is_said(copied, words, _TELLING):
            cells[at] = "NULL"
    return f"{found[1]}({', '.join(cells)})"
