"""The format of the memory's file.

A namespace is the uid of the user whose entries it holds. Version 2 keeps, beside each entry, the form of its key, its words for full-text search and, once it was compared
by meaning, its vector. The two full-text tables hold no text of their own: `entry_words` whole words,
`entry_parts` three letters in a row, for texts without spaces and inflected words. Version 3 has a namespace per user; earlier versions
recorded no user, so their entries become those of the account that the daemon runs as. Version 4 has the size of what
each user keeps.
"""

import json
import os
from collections.abc import Iterable, Sequence

import apsw

from aeond.capabilities.memory.entries import decode_value
from aeond.capabilities.memory.relevance import plain_text
from aeond.capabilities.sqlite_file import FileFormat
from aeond.domain.facts import BY_CLIENT, FactSource
from aeond.domain.names import folded, words_of
from aeond.domain.values import JsonValue

MAX_INDEXED_CHARS = 20_000
COMPARED_CHARS = 5_000  # of a value as JSON text; MAX_TEXT_CHARS of its words are compared

_TABLES = """
    CREATE TABLE entries (
        entry_id INTEGER PRIMARY KEY,
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        form TEXT NOT NULL,
        value TEXT NOT NULL,
        UNIQUE (namespace, key)
    ) STRICT;
    CREATE INDEX entries_by_form ON entries (namespace, form);
    CREATE VIRTUAL TABLE entry_words USING fts5(
        text, content = '', contentless_delete = 1,
        tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M*'"
    );
    CREATE VIRTUAL TABLE entry_parts USING fts5(
        text, content = '', contentless_delete = 1, tokenize = 'trigram', detail = 'none'
    );
    CREATE TABLE vectors (
        entry_id INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE,
        model TEXT NOT NULL,
        vector BLOB NOT NULL
    ) STRICT;
    """
_SOURCES = """
    CREATE TABLE sources (
        entry_id INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE,
        run_id TEXT NOT NULL,
        taint TEXT NOT NULL
    ) STRICT;
    """
# A fact takes about four times its text with its indexes, and as much as a short one at least.
_BYTES = "512 + 4 * octet_length({0}.key) + octet_length({0}.value) + 3 * min(octet_length({0}.value), 20000)"
_USAGE = f"""
    CREATE TABLE usage (
        namespace TEXT NOT NULL PRIMARY KEY,
        bytes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO usage SELECT namespace, sum({_BYTES.format("entries")}) FROM entries GROUP BY namespace;
    CREATE TRIGGER entry_was_made AFTER INSERT ON entries BEGIN
        INSERT INTO usage VALUES (NEW.namespace, {_BYTES.format("NEW")})
            ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
    END;
    CREATE TRIGGER entry_was_changed AFTER UPDATE OF value ON entries BEGIN
        UPDATE usage SET bytes = bytes + ({_BYTES.format("NEW")}) - ({_BYTES.format("OLD")})
            WHERE namespace = NEW.namespace;
    END;
    CREATE TRIGGER entry_was_removed AFTER DELETE ON entries BEGIN
        UPDATE usage SET bytes = bytes - ({_BYTES.format("OLD")}) WHERE namespace = OLD.namespace;
    END;
    """  # noqa: S608 - our own names


def usage(cursor: apsw.Cursor) -> dict[str, int]:
    """The bytes that each namespace takes."""
    return dict(cursor.execute("SELECT namespace, bytes FROM usage"))


def usage_of(cursor: apsw.Cursor, namespace: str) -> int:
    return cursor.execute("SELECT bytes FROM usage WHERE namespace = ?", (namespace,)).get or 0


def namespace_of(uid: int) -> str:
    return str(uid)


def form_of(key: str) -> str:
    """What keys of one fact have in common; a key without a letter or digit is its own form."""
    return "".join(words_of(key)) or key


def put(
    cursor: apsw.Cursor, namespace: str, key: str, text: str, source: FactSource | None = BY_CLIENT
) -> None:
    """Keeps a value, given as JSON text, and its source under the key. Without a source the table of sources is left
    alone: versions before 3 have none."""
    entry_id = _entry_id(cursor, namespace, key)
    if entry_id is None:
        cursor.execute(
            "INSERT INTO entries (namespace, key, form, value) VALUES (?, ?, ?, ?)",
            (namespace, key, form_of(key), text),
        )
        entry_id = cursor.connection.last_insert_rowid()
    else:
        cursor.execute("UPDATE entries SET value = ? WHERE entry_id = ?", (text, entry_id))
        _drop_index(cursor, entry_id)
    if source is not None:
        cursor.execute("DELETE FROM sources WHERE entry_id = ?", (entry_id,))
    if source is not None and source != BY_CLIENT:
        row = (entry_id, source.run_id, json.dumps(source.taint, ensure_ascii=False))
        cursor.execute("INSERT INTO sources (entry_id, run_id, taint) VALUES (?, ?, ?)", row)
    words = index_text(key, decode_value(text))
    cursor.execute("INSERT INTO entry_words (rowid, text) VALUES (?, ?)", (entry_id, words))
    cursor.execute("INSERT INTO entry_parts (rowid, text) VALUES (?, ?)", (entry_id, words))


def remove(cursor: apsw.Cursor, namespace: str, key: str) -> bool:
    """Whether there was such a key."""
    entry_id = _entry_id(cursor, namespace, key)
    if entry_id is None:
        return False
    _drop_index(cursor, entry_id)
    cursor.execute("DELETE FROM sources WHERE entry_id = ?", (entry_id,))
    cursor.execute("DELETE FROM entries WHERE entry_id = ?", (entry_id,))
    return True


def sources_of(cursor: apsw.Cursor, namespace: str, keys: Sequence[str]) -> dict[str, FactSource]:
    """The recorded sources of these keys, by key."""
    rows = cursor.execute(
        "SELECT key, run_id, taint FROM sources JOIN entries USING (entry_id) "
        "WHERE namespace = ? AND key IN (SELECT value FROM json_each(?))",
        (namespace, json.dumps(keys)),
    )
    return {key: FactSource(run_id, tuple(json.loads(taint))) for key, run_id, taint in rows}


def vectors_of(cursor: apsw.Cursor, namespace: str, keys: Sequence[str], model: str) -> dict[str, bytes]:
    """The vectors that this model computed for these keys, as they are stored, by key."""
    rows = cursor.execute(
        "SELECT key, vector FROM vectors JOIN entries USING (entry_id) "
        "WHERE namespace = ? AND model = ? AND key IN (SELECT value FROM json_each(?))",
        (namespace, model, json.dumps(keys)),
    )
    return dict(rows)


def keep_vectors(
    cursor: apsw.Cursor, namespace: str, model: str, rows: Iterable[tuple[str, str, bytes]]
) -> None:
    """Keeps a vector for each key, unless the value changed meanwhile. Of its JSON text COMPARED_CHARS + 1 characters are given:
    more than are embedded, and a shorter text is whole, so that 1 is not taken for the beginning of 12.
    """
    cursor.executemany(
        "INSERT OR REPLACE INTO vectors (entry_id, model, vector) "
        "SELECT entry_id, ?, ? FROM entries WHERE namespace = ? AND key = ? AND substr(value, 1, ?) = ?",
        [(model, vector, namespace, key, COMPARED_CHARS + 1, text) for key, text, vector in rows],
    )


def index_text(key: str, value: JsonValue) -> str:
    """The words of a fact as they are indexed and asked for."""
    text = folded(plain_text(value, MAX_INDEXED_CHARS))  # folding can make it longer: ß becomes ss
    return " ".join(words_of(f"{key} {text}"[:MAX_INDEXED_CHARS]))


def _entry_id(cursor: apsw.Cursor, namespace: str, key: str) -> int | None:
    query = "SELECT entry_id FROM entries WHERE namespace = ? AND key = ?"
    entry_id: int | None = cursor.execute(query, (namespace, key)).get
    return entry_id


def _drop_index(cursor: apsw.Cursor, entry_id: int) -> None:
    for table in ("entry_words", "entry_parts"):
        cursor.execute(f"DELETE FROM {table} WHERE rowid = ?", (entry_id,))  # noqa: S608 - fixed names
    cursor.execute("DELETE FROM vectors WHERE entry_id = ?", (entry_id,))


def _to_version_2(connection: apsw.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("ALTER TABLE entries RENAME TO old_entries")
    cursor.execute(_TABLES)
    reading = connection.cursor()
    for namespace, key, text in reading.execute("SELECT namespace, key, value FROM old_entries"):
        put(cursor, namespace, key, text, None)
    cursor.execute("DROP TABLE old_entries")


def _to_version_3(connection: apsw.Connection) -> None:
    connection.execute(
        "UPDATE entries SET namespace = ? WHERE namespace = 'user'", (namespace_of(os.geteuid()),)
    )
    connection.execute(_SOURCES)


MEMORY = FileFormat(
    name="memory",
    application_id=0x61656D79,  # "aemy"
    version=4,
    schema=_TABLES + _SOURCES + _USAGE,
    upgrades=(_to_version_2, _to_version_3, _USAGE),
)
