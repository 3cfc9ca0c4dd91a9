import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.abc
import anyio.from_thread
import anyio.to_thread
import apsw
import pytest

from aeond.capabilities.memory import sqlite_memory
from aeond.capabilities.memory.entries import decode_beginning, decode_value
from aeond.capabilities.memory.schema import COMPARED_CHARS
from aeond.capabilities.memory.sqlite_memory import MAX_EMBEDDED, SqliteMemory
from aeond.domain.facts import Fact
from aeond.domain.values import JsonValue
from aeond.errors import OverloadedError, StoreError
from aeond.ports.embedding import Vector
from tests.support.counting_vfs import counting_vfs
from tests.support.embedders import WordEmbedder
from tests.support.failing_vfs import failing_vfs, hanging_vfs


async def test_memory_outlives_the_process(tmp_path: Path) -> None:
    """Stored values are present after a restart."""
    async with SqliteMemory(tmp_path / "memory.db") as memory:
        await memory.write("bonus", 420)
    async with SqliteMemory(tmp_path / "memory.db") as memory:
        assert await memory.read("bonus") == 420
    assert [path.name for path in tmp_path.iterdir()] == ["memory.db"]


async def test_a_user_keeps_its_keys_over_restarts(tmp_path: Path) -> None:
    """After a restart the facts of one user are still apart from those of another."""
    for uid in (1, 2):
        async with SqliteMemory(tmp_path / "memory.db") as memories:
            assert list(await memories.of(uid).search("")) == []
            await memories.of(uid).write("key", uid)
    async with SqliteMemory(tmp_path / "memory.db") as memories:
        assert await memories.of(1).delete("key")
        assert list(await memories.of(2).search("")) == [("key", 2)]


async def test_a_write_costs_one_sync(tmp_path: Path) -> None:
    """Each write and each delete is synced once before it returns, and reading syncs nothing."""
    with counting_vfs() as (vfs, counts):
        async with SqliteMemory(tmp_path / "memory.db", vfs=vfs) as memory:
            await memory.write("first", 1)
            counts.clear()
            for number in range(10):
                await memory.write("key", number)
            assert counts.syncs == 10
            await memory.read("key")
            await memory.search("")
            assert counts.syncs == 10
            await memory.delete("key")
            assert counts.syncs == 11


async def test_after_a_disk_failure_nothing_is_acknowledged(tmp_path: Path) -> None:
    """A write that the disk failed is refused, and so is every later one until the next start."""
    with failing_vfs() as (vfs, failing):
        async with SqliteMemory(tmp_path / "memory.db", vfs=vfs) as memory:
            await memory.write("kept", 1)
            failing.counted, failing.done, failing.fail_at = ("sync",), 0, 1
            for _ in range(2):
                with pytest.raises(StoreError) as refused:
                    await memory.write("lost", 2)
                assert refused.value.reason == "MEMORY_FAILED"
            with pytest.raises(StoreError):
                await memory.delete("kept")
            assert await memory.read("kept") == 1
    async with SqliteMemory(tmp_path / "memory.db") as memory:
        assert await memory.read("kept") == 1


async def test_a_disk_that_hangs_has_a_deadline(tmp_path: Path) -> None:
    """A write to a disk that does not answer ends with an error in time, and the memory works again after."""
    with hanging_vfs() as (vfs, hanging), anyio.fail_after(60):
        async with SqliteMemory(tmp_path / "memory.db", vfs=vfs) as memory:
            hanging.hangs = True
            memory._file._deadline_seconds = 0.1
            with pytest.raises(StoreError) as refused:
                await memory.write("key", 1)
            assert (refused.value.reason, refused.value.retryable) == ("MEMORY_STUCK", True)
            hanging.hangs = False
            hanging.released.set()
            memory._file._deadline_seconds = 20
            with anyio.fail_after(60):
                while await memory.read("key") != 1:
                    await anyio.lowlevel.checkpoint()


async def test_another_program_that_writes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another program holds the file for writing, a write ends as busy and may be tried again."""
    monkeypatch.setattr("aeond.capabilities.sqlite_file.BUSY_MILLISECONDS", 20)
    async with SqliteMemory(tmp_path / "memory.db") as memory:
        other = apsw.Connection(str(tmp_path / "memory.db"))
        other.execute("SELECT * FROM entries")  # it knows the log from here on
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as refused:
            await memory.write("key", 1)
        assert (refused.value.reason, refused.value.retryable) == ("MEMORY_BUSY", True)
        other.execute("ROLLBACK")
        other.close()
        await memory.write("key", 1)


async def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    """A memory that was not entered, or was left, refuses instead of making a file."""
    memory = SqliteMemory(tmp_path / "memory.db")
    with pytest.raises(StoreError) as refused:
        await memory.write("key", 1)
    assert refused.value.reason == "MEMORY_CANNOT_OPEN"
    assert list(tmp_path.iterdir()) == []


VERSION_1 = """
    CREATE TABLE entries (
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (namespace, key)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO entries VALUES ('user', 'gate_code', '7714'), ('user', 'Café', '"Krümel"');
    PRAGMA application_id = 1634037113;
    PRAGMA user_version = 1;
"""


async def test_a_file_of_version_1_is_upgraded(tmp_path: Path) -> None:
    """The facts of a file of the first version, which recorded no user, become those of the daemon's own user, and are
    found by their words.
    """
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    connection.execute(VERSION_1)
    connection.close()
    for _ in range(2):
        async with SqliteMemory(tmp_path / "memory.db", os.geteuid()) as memory:
            assert list(await memory.search("")) == [("Café", "Krümel"), ("gate_code", 7714)]
            assert [fact.key for fact in await memory.recall("krumel", limit=1)] == ["Café"]
            found = await memory.find("Gate Code")
            assert found is not None
            assert found.value == 7714
            assert list(await memory.of(os.geteuid() + 1).search("")) == []
            stored = memory.stored_bytes(os.geteuid())
            assert stored > 1_000
            await memory.write("one", 1)
            assert await memory.delete("one")
            assert memory.stored_bytes(os.geteuid()) == stored


async def test_what_a_user_stores_is_counted(tmp_path: Path) -> None:
    """The facts of each user are counted with their indexes, as they are written, changed and deleted, and over a restart."""
    async with SqliteMemory(tmp_path / "memory.db") as memory:
        mine, theirs = memory.of(1), memory.of(2)
        await mine.write("key", "é" * 50_000)
        large = memory.stored_bytes(1)
        assert 100_000 < large < 200_000
        await theirs.write("key", 1)
        assert 512 <= memory.stored_bytes(2) < 1_000
        await mine.write("key", 1)
        assert memory.stored_bytes(1) == memory.stored_bytes(2)
        await mine.write("other", 1)
        stored = memory.stored_bytes(1)
    async with SqliteMemory(tmp_path / "memory.db") as memory:
        assert (memory.stored_bytes(1), memory.stored_bytes(3)) == (stored, 0)
        assert await memory.of(1).delete("key")
        assert not await memory.of(1).delete("key")
        assert await memory.of(1).delete("other")
        assert memory.stored_bytes(1) == 0
        assert memory.stored_bytes(2) > 0


async def test_an_upgrade_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """A table that is in the way stops the upgrade, and the file is still of the first version."""
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    connection.execute(VERSION_1)
    connection.execute("CREATE TABLE vectors (surprise TEXT)")
    connection.close()
    for _ in range(2):
        with pytest.raises(StoreError) as refused:
            await SqliteMemory(tmp_path / "memory.db").__aenter__()
        assert refused.value.reason == "MEMORY_FAILED"
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    assert connection.pragma("user_version") == 1
    assert connection.execute("SELECT count(*) FROM entries").get == 2
    connection.close()


class Synonyms(WordEmbedder):
    """Knows one meaning besides the words: a feline is a cat."""

    busy = False
    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if self.meanwhile is not None:
            await self.meanwhile()
        if self.busy:
            raise OverloadedError("too many texts at once: try again later", reason="EMBEDDER_BUSY")
        return await super().embed([text.replace("feline", "cat") for text in texts])


async def recalled(memory: SqliteMemory, query: str) -> str:
    return (await memory.recall(query, 3))[0].key


async def test_facts_are_recalled_by_meaning(tmp_path: Path) -> None:
    """With an embedder a fact is recalled by other words; without vectors at the time, by words."""
    embedder = Synonyms()
    async with SqliteMemory(tmp_path / "memory.db", embedder=embedder) as memory:
        for key in ("apple", "name of the cat", "zebra"):
            await memory.write(key, "x")
        assert await recalled(memory, "feline") == "name of the cat"
        embedder.busy = True
        assert await recalled(memory, "feline") == "apple"
        assert await recalled(memory, "cat") == "name of the cat"
        embedder.available = False
        assert await recalled(memory, "feline") == "apple"


async def test_vectors_are_kept(tmp_path: Path) -> None:
    """A fact is embedded once, also over a restart, and again only after it changed or with another model."""
    embedder = Synonyms()
    async with SqliteMemory(tmp_path / "memory.db", embedder=embedder) as memory:
        await memory.write("cat", "Mo")
        await memory.write("dog", "Rex")
        await memory.recall("feline")
        assert embedder.calls == [("cat", "cat: Mo", "dog: Rex")]
    async with SqliteMemory(tmp_path / "memory.db", embedder=embedder) as memory:
        await memory.recall("feline")
        await memory.write("dog", "Bello")
        await memory.recall("feline")
        assert embedder.calls[1:] == [("cat",), ("cat", "dog: Bello")]
        assert await recalled(memory, "feline") == "cat"
        embedder.name = "another"
        await memory.recall("feline")
        assert embedder.calls[-1] == ("cat", "cat: Mo", "dog: Bello")


@pytest.mark.parametrize("full", [True, False])
async def test_facts_are_recalled_when_nothing_can_be_written(tmp_path: Path, full: bool) -> None:
    """On a full or failed disk facts are recalled by meaning, although their vectors cannot be stored."""
    with failing_vfs() as (vfs, failing):
        async with SqliteMemory(tmp_path / "memory.db", embedder=Synonyms(), vfs=vfs) as memory:
            for key in ("apple", "name of the cat"):
                await memory.write(key, "x")
            failing.full, failing.for_good = full, True
            failing.fail_at = 0 if full else failing.done + 1
            for _ in range(2):
                assert await recalled(memory, "feline") == "name of the cat"
            with pytest.raises(StoreError):
                await memory.write("zebra", "x")
            failing.full = False


async def test_a_recall_embeds_a_bounded_number(tmp_path: Path) -> None:
    """Of many new facts one recall embeds a part and the next ones the rest."""
    embedder = Synonyms()
    async with SqliteMemory(tmp_path / "memory.db", embedder=embedder) as memory:
        for number in range(MAX_EMBEDDED + 5):
            await memory.write(f"fact {number}", number)
        for _ in range(3):
            await memory.recall("feline")
        assert [len(texts) - 1 for texts in embedder.calls] == [MAX_EMBEDDED, 5, 0]


@contextmanager
def changing(memory: SqliteMemory, tasks: anyio.abc.TaskGroup) -> Iterator[Callable[[], Awaitable[None]]]:
    """Changes the memory until the context ends; the change has begun once the function returns."""
    began, ended = anyio.Event(), threading.Event()

    def change(_cursor: apsw.Cursor) -> None:
        anyio.from_thread.run_sync(began.set)
        ended.wait(60)

    tasks.start_soon(memory._file.change, change)
    try:
        yield began.wait
    finally:
        ended.set()


async def test_nothing_that_is_read_waits_for_a_change(tmp_path: Path) -> None:
    """While the change of one user takes long, another reads, searches and recalls what is there."""
    with anyio.fail_after(60):
        async with SqliteMemory(tmp_path / "memory.db") as memories, anyio.create_task_group() as tasks:
            memory = memories.of(2)
            await memory.write("plumber", "Kim")
            with changing(memories.of(1), tasks) as began:
                await began()
                assert await memory.read("plumber") == "Kim"
                assert list(await memory.search("")) == [("plumber", "Kim")]
                assert [fact.key for fact in await memory.recall("the plumber")] == ["plumber"]


async def test_a_comparison_has_a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison, which may take long, takes no thread of those that all parts of the daemon share, and no connection
    that other users read through."""
    busy = []

    def compare(*_: object) -> list[Fact]:
        shared = anyio.from_thread.run_sync(anyio.to_thread.current_default_thread_limiter)
        busy.extend([shared.borrowed_tokens, memory._file._readers._places.borrowed_tokens])
        return []

    monkeypatch.setattr(sqlite_memory, "ranked", compare)
    async with SqliteMemory(tmp_path / "memory.db") as memory:
        await memory.recall("the plumber")
    assert busy == [0, 0]


async def test_a_comparison_has_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison that does not end is reported in time, as a disk that does not answer is."""
    ended = threading.Event()
    monkeypatch.setattr(sqlite_memory, "ranked", lambda *_: ended.wait(60))
    with anyio.fail_after(60):
        async with SqliteMemory(tmp_path / "memory.db") as memory:
            memory._deadline_seconds = 0.1
            with pytest.raises(StoreError) as refused:
                await memory.recall("the plumber")
            ended.set()
    assert (refused.value.reason, refused.value.retryable) == ("MEMORY_STUCK", True)


async def test_a_fact_that_is_continued_while_it_is_embedded_is_embedded_again(tmp_path: Path) -> None:
    """The vector of 1 is not kept for 12, which the fact became meanwhile."""
    embedder = Synonyms()
    async with SqliteMemory(tmp_path / "memory.db", embedder=embedder) as memory:
        await memory.write("cats", 1)
        embedder.meanwhile = lambda: memory.write("cats", 12)
        await memory.recall("feline")
        embedder.meanwhile = None
        for _ in range(2):
            await memory.recall("feline")
    assert embedder.calls == [("cat", "cats: 1"), ("cat", "cats: 12"), ("cat",)]


async def test_values_are_decoded_in_threads_and_after_the_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No value is decoded on the event loop, however much of it is asked for, nor while the log of the file must be kept."""
    places: list[int] = []  # the threads that decode

    def watched(decode: Callable[..., JsonValue]) -> Callable[..., JsonValue]:
        def watching(*arguments: object) -> JsonValue:
            places.append(threading.get_ident())
            in_log, _ = other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)  # BusyError if it is read
            assert in_log == 0
            return decode(*arguments)

        return watching

    async with SqliteMemory(tmp_path / "memory.db", embedder=Synonyms()) as memory:
        other = apsw.Connection(str(tmp_path / "memory.db"))
        other.execute("SELECT * FROM entries")  # it knows the log from here on
        monkeypatch.setattr(sqlite_memory, "decode_value", watched(decode_value))
        monkeypatch.setattr(sqlite_memory, "decode_beginning", watched(decode_beginning))
        for read in (
            lambda: memory.read("cat"),
            lambda: memory.find("cat"),
            lambda: memory.search(""),
            lambda: memory.recall("cat"),
            lambda: memory.recall("cat", most_chars=10),
        ):
            await memory.write("cat", "x" * 2 * COMPARED_CHARS)
            before = len(places)
            await read()
            assert len(places) > before
        other.close()
    assert threading.get_ident() not in places
