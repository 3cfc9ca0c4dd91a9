"""Memory on disk."""

import copy
import json
import logging
from array import array
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Self

import anyio
import anyio.to_thread
import apsw

from aeond.capabilities.memory.entries import (
    MAX_FOUND,
    MAX_FOUND_BYTES,
    MAX_VALUE_BYTES,
    check_key,
    check_new_key,
    check_prefix,
    decode_beginning,
    decode_value,
    encode_value,
    end_of,
)
from aeond.capabilities.memory.relevance import parts_of, plain_text, ranked
from aeond.capabilities.memory.schema import (
    COMPARED_CHARS,
    MEMORY,
    form_of,
    keep_vectors,
    namespace_of,
    put,
    remove,
    sources_of,
    usage,
    usage_of,
    vectors_of,
)
from aeond.capabilities.sqlite_access import SqliteAccess
from aeond.capabilities.sqlite_readers import page_of
from aeond.domain.facts import BY_CLIENT, Fact, FactSource
from aeond.domain.names import words_of
from aeond.domain.values import JsonValue
from aeond.errors import AeondError, StoreError
from aeond.ports.embedding import Embedder, Vector, cosine

log = logging.getLogger("aeond.memory")

# Up to so many facts are compared with a query one by one; of more, those that the full text finds.
MAX_COMPARED: Final = 500
MAX_COMPARING: Final = 4  # recalls that compare at the same time
MAX_HITS: Final = 200
MAX_QUERY_CHARS: Final = 4_000
# Facts that get their vector during one recall; the others get theirs during later ones.
MAX_EMBEDDED: Final = 16
_EMBEDDED_CHARS: Final = 400  # of a fact


class SqliteMemory:
    """The Memories in one SQLite file at `path`, made when there is none, and the Memory of the user `uid` among them;
    the file's folder must exist.

    A write or delete is on disk when it returns; one that is cancelled
    or fails happened whole or not at all. Enter it before use: that upgrades a file of an older version and
    refuses one that cannot be used (StoreError: MEMORY_NEWER, _FOREIGN, _CORRUPT, _READ_ONLY, _CANNOT_OPEN,
    _UNSAFE). Later: DISK_FULL, MEMORY_BUSY, MEMORY_STUCK after `deadline_seconds`, and MEMORY_FAILED, after
    which nothing is written until the next start. Without an embedder facts are recalled by words alone.
    """

    def __init__(
        self,
        path: Path,
        uid: int = -1,
        *,
        embedder: Embedder | None = None,
        deadline_seconds: float = 30.0,
        vfs: str | None = None,
    ) -> None:
        self._file = SqliteAccess(path, MEMORY, deadline_seconds=deadline_seconds, vfs=vfs)
        self._namespace = namespace_of(uid)
        self._embedder = embedder
        self._deadline_seconds = deadline_seconds
        self._comparing = anyio.CapacityLimiter(MAX_COMPARING)
        self._stored: dict[str, int] = {}  # bytes by namespace

    async def __aenter__(self) -> Self:
        await self._file.open()
        self._stored.update(await self._file.read(usage))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._file.close()

    def of(self, uid: int) -> Self:
        user = copy.copy(self)
        user._namespace = namespace_of(uid)  # noqa: SLF001 - its own class
        return user

    def stored_bytes(self, uid: int) -> int:
        """What the facts of this user take, about; known without reading anything."""
        return self._stored.get(namespace_of(uid), 0)

    async def write(self, key: str, value: JsonValue, source: FactSource = BY_CLIENT) -> None:
        check_new_key(key)
        text = encode_value(value)

        def write(cursor: apsw.Cursor) -> None:
            put(cursor, self._namespace, key, text, source)
            self._count(cursor)

        await self._file.change(write)

    async def sources(self, keys: Sequence[str]) -> Mapping[str, FactSource]:
        known = [check_key(key) for key in keys[:MAX_FOUND]]
        return await self._file.read(lambda cursor: sources_of(cursor, self._namespace, known))

    async def read(self, key: str) -> JsonValue | None:
        entry = (self._namespace, check_key(key))
        query = "SELECT value FROM entries WHERE namespace = ? AND key = ?"
        return await self._file.read_then(
            lambda cursor: cursor.execute(query, entry).get,
            lambda text: None if text is None else decode_value(text),
        )

    async def search(
        self, prefix: str, limit: int = 100, after: str = "", most_chars: int | None = None
    ) -> Sequence[tuple[str, JsonValue]]:
        """See ports.Memory; at most 1,000 entries and about 4 MiB, but at least one."""
        check_prefix(prefix)
        check_prefix(after)
        most = max(1, min(limit, MAX_FOUND))
        shown = MAX_VALUE_BYTES if most_chars is None else most_chars

        return await self._file.read_then(
            lambda cursor: self._search(cursor, prefix, most, after, shown),
            lambda rows: [(key, decode_beginning(text, shown)) for key, text in rows],
        )

    async def delete(self, key: str) -> bool:
        check_key(key)

        def delete(cursor: apsw.Cursor) -> bool:
            existed = remove(cursor, self._namespace, key)
            self._count(cursor)
            return existed

        return await self._file.change(delete)

    async def find(self, key: str) -> Fact | None:
        check_key(key)
        # The exact key sorts first: false is 0.
        query = (
            "SELECT key, value FROM entries WHERE namespace = ? AND (key = ? OR form = ?) "
            "ORDER BY key <> ?, key LIMIT 1"
        )
        return await self._file.read_then(
            lambda cursor: cursor.execute(query, (self._namespace, key, form_of(key), key)).get,
            lambda row: None if row is None else Fact(row[0], decode_value(row[1])),
        )

    async def recall(self, query: str, limit: int = 10, most_chars: int | None = None) -> Sequence[Fact]:
        query = query[:MAX_QUERY_CHARS]
        most = max(1, min(limit, MAX_FOUND))
        shown = MAX_VALUE_BYTES if most_chars is None else most_chars
        texts = dict(await self._file.read(lambda cursor: self._compared(cursor, query, most)))
        asked, vectors = await self._vectors(query, texts)
        best: list[Fact] | None = None
        # Not on a connection: hundreds of long facts take tenths of a second, and other users' reads would wait.
        with anyio.move_on_after(self._deadline_seconds):
            best = await anyio.to_thread.run_sync(
                partial(_ranked, query, texts, asked, vectors, limit=most, most_chars=shown),
                abandon_on_cancel=True,
                limiter=self._comparing,
            )
        if best is None:
            raise MEMORY.refusal(
                "STUCK",
                f"the facts could not be compared with the query within {self._deadline_seconds:g} s: retry",
                retryable=True,
            )
        if shown > COMPARED_CHARS and any(len(texts[fact.key]) > COMPARED_CHARS for fact in best):
            return await self._whole(best, shown)
        return best

    def _count(self, cursor: apsw.Cursor) -> None:
        self._stored[self._namespace] = usage_of(cursor, self._namespace)

    async def _whole(self, facts: Sequence[Fact], most_chars: int) -> Sequence[Fact]:
        """The facts, of which only the beginnings were compared, with `most_chars` of the JSON text of their values. Facts that
        were deleted meanwhile are left out.
        """
        keys = json.dumps([fact.key for fact in facts])

        def read(cursor: apsw.Cursor) -> list[tuple[str, str]]:
            rows = cursor.execute(
                "SELECT entries.key, substr(entries.value, 1, ?) FROM json_each(?) AS asked CROSS JOIN entries "
                "WHERE namespace = ? AND entries.key = asked.value ORDER BY asked.id",
                (most_chars + 1, keys, self._namespace),
            )
            return _bounded(rows)

        values = await self._file.read_then(
            read, lambda rows: {key: decode_beginning(text, most_chars) for key, text in rows}
        )
        return [replace(fact, value=values[fact.key]) for fact in facts if fact.key in values]

    async def _vectors(self, query: str, facts: Mapping[str, str]) -> tuple[Vector, Mapping[str, Vector]]:
        """The vectors of the query and of the facts, as far as they are known or can be computed now."""
        embedder = self._embedder
        if embedder is None or not embedder.available or not facts or not words_of(query):
            return (), {}
        model = embedder.name
        known, new = await self._file.read_then(
            lambda cursor: vectors_of(cursor, self._namespace, list(facts), model),
            lambda stored: (
                {key: tuple(array("f", vector)) for key, vector in stored.items()},
                _embedded_texts(facts, stored),
            ),
        )
        try:
            vectors = list(await embedder.embed([query, *new.values()]))
        except AeondError as error:
            log.warning("facts are recalled by words alone: %s", error.message)
            return (), {}
        if not vectors:
            return (), {}
        added = dict(zip(new, vectors[1:], strict=True))
        if added:
            rows = [(key, facts[key], array("f", vector).tobytes()) for key, vector in added.items()]
            try:
                await self._file.change(lambda cursor: keep_vectors(cursor, self._namespace, model, rows))
            except StoreError as error:  # on a full disk, too, facts are recalled
                log.warning("the vectors of facts could not be stored: %s", error.message)
        return vectors[0], {**known, **added}

    def _compared(self, cursor: apsw.Cursor, query: str, limit: int) -> list[tuple[str, str]]:
        """The facts to compare with the query, as the beginning of their JSON text: all when they are few, else those that full
        text finds."""
        count = cursor.execute("SELECT count(*) FROM entries WHERE namespace = ?", (self._namespace,)).get
        if count <= max(MAX_COMPARED, limit):
            rows = cursor.execute(
                "SELECT key, substr(value, 1, ?) FROM entries WHERE namespace = ?",
                (COMPARED_CHARS + 1, self._namespace),
            )
            return _bounded(rows)
        found: dict[str, str] = {}
        for table, words in (("entry_words", words_of(query)), ("entry_parts", parts_of(query))):
            if not words:
                continue
            rows = cursor.execute(
                f"SELECT key, substr(value, 1, ?) FROM {table} JOIN entries ON entry_id = {table}.rowid "  # noqa: S608 - fixed names
                f"WHERE {table} MATCH ? AND namespace = ? ORDER BY rank LIMIT ?",
                (COMPARED_CHARS + 1, " OR ".join(f'"{word}"' for word in words), self._namespace, MAX_HITS),
            )
            found |= dict(_bounded(rows))
        return list(found.items())

    def _search(
        self, cursor: apsw.Cursor, prefix: str, limit: int, after: str, most_chars: int
    ) -> list[tuple[str, str]]:
        # Keys compare by code point, as Python's texts do; LIKE and GLOB would fold case or read wildcards.
        end = end_of(prefix)
        bound = "" if end is None else " AND key < ?"
        rows = cursor.execute(
            "SELECT key, substr(value, 1, ?) FROM entries "  # noqa: S608 - fixed texts
            f"WHERE namespace = ? AND key >= ? AND key > ?{bound} ORDER BY key LIMIT ?",
            (most_chars + 1, self._namespace, prefix, after, *(() if end is None else (end,)), limit),
        )
        return _bounded(rows)


def _embedded_texts(facts: Mapping[str, str], known: Container[str]) -> dict[str, str]:
    """The embedded texts of the facts that have no vector yet, by key."""
    new = [key for key in facts if key not in known][:MAX_EMBEDDED]
    values = ((key, decode_beginning(facts[key], COMPARED_CHARS)) for key in new)
    return {key: f"{key}: {plain_text(value, _EMBEDDED_CHARS)}"[:_EMBEDDED_CHARS] for key, value in values}


def _ranked(
    query: str,
    texts: Mapping[str, str],
    asked: Vector,
    vectors: Mapping[str, Vector],
    *,
    limit: int,
    most_chars: int,
) -> list[Fact]:
    """The best facts, with `most_chars` of the given texts of their values."""
    meanings = {key: cosine(asked, vector) for key, vector in vectors.items()}
    values = [(key, decode_beginning(text, COMPARED_CHARS)) for key, text in texts.items()]
    best = ranked(query, values, meanings, limit)
    return [
        fact
        if len(texts[fact.key]) <= most_chars
        else replace(fact, value=decode_beginning(texts[fact.key], most_chars))
        for fact in best
    ]


def _bounded(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The rows up to about MAX_FOUND_BYTES of values, at least one."""
    return page_of(rows, lambda row: len(row[1]), MAX_FOUND_BYTES)
