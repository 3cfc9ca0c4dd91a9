"""A file that cannot be used is refused at the start with its own reason, and stays as it is."""

import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import apsw
import pytest

from aeond.capabilities import sqlite_file
from aeond.capabilities.memory.sqlite_memory import SqliteMemory
from aeond.errors import StoreError
from tests.support.journals import beginning, journal_in, step_turn
from tests.support.small_disk import remount, small_disk

Start = Callable[[Path], Awaitable[None]]
BAD_START_SECONDS = 30


async def start_journal(folder: Path) -> None:
    async with journal_in(folder) as journal:
        if not await journal.summary("r"):
            await journal.append(beginning("r"))
            for seq in range(3, 43, 2):
                await journal.append(step_turn("r", seq, "x" * 3_000))


async def start_memory(folder: Path) -> None:
    async with SqliteMemory(folder / "journal.db") as memory:
        for number in range(40):
            await memory.write(f"k{number}", "x" * 3_000)


STARTS: dict[str, Start] = {"JOURNAL": start_journal, "MEMORY": start_memory}


@pytest.fixture(params=STARTS)
def store(request: pytest.FixtureRequest) -> str:
    """The first word of the store's reasons."""
    return str(request.param)


@pytest.fixture
async def folder(tmp_path: Path, store: str) -> Path:
    """A folder with a file that is in order."""
    await STARTS[store](tmp_path)
    return tmp_path


async def refusal(start: Start, folder: Path) -> StoreError:
    """The error of a rejected start, within time; files stay unchanged."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with anyio.fail_after(BAD_START_SECONDS), pytest.raises(StoreError) as refused:
        await start(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert str(folder) in refused.value.message
    return refused.value


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def make_newer(path: Path) -> None:
    overwrite(path, 60, (99).to_bytes(4, "big"))


def make_foreign(path: Path) -> None:
    overwrite(path, 68, (4711).to_bytes(4, "big"))


def cut_off(path: Path) -> None:
    overwrite(path, 0, b"")
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def scribble_over_header(path: Path) -> None:
    overwrite(path, 0, b"this is no database")


def scribble_over_pages(path: Path) -> None:
    for page in range(2, path.stat().st_size // 4096):
        overwrite(path, page * 4096, b"\xa5" * 2048)


def scribble_over_schema(path: Path) -> None:
    overwrite(path, 100, b"\xa5" * 3996)


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (make_newer, "NEWER"),
        (make_foreign, "FOREIGN"),
        (cut_off, "CORRUPT"),
        (cut_short, "CORRUPT"),
        (empty, "CORRUPT"),
        (scribble_over_header, "CORRUPT"),
        (scribble_over_pages, "CORRUPT"),
        (scribble_over_schema, "CORRUPT"),
    ],
)
async def test_a_file_that_cannot_be_used_is_refused(
    folder: Path, store: str, damage: Callable[[Path], None], word: str
) -> None:
    """A newer, foreign, cut off or damaged file is refused with its reason and left as it is."""
    damage(folder / "journal.db")
    assert (await refusal(STARTS[store], folder)).reason == f"{store}_{word}"


async def test_another_program_s_database_is_refused(tmp_path: Path, store: str) -> None:
    """A SQLite file that someone else made is refused, however healthy."""
    connection = apsw.Connection(str(tmp_path / "journal.db"))
    connection.execute("CREATE TABLE events (x)")
    connection.close()
    assert (await refusal(STARTS[store], tmp_path)).reason == f"{store}_FOREIGN"


async def test_one_store_does_not_open_the_other_s_file(tmp_path: Path) -> None:
    """A journal is no memory and a memory no journal."""
    await start_journal(tmp_path)
    assert (await refusal(start_memory, tmp_path)).reason == "MEMORY_FOREIGN"


async def test_a_log_without_its_file_is_refused(folder: Path, store: str) -> None:
    """A log without its database is not overwritten, because its data may be needed."""
    (folder / "journal.db-wal").write_bytes(b"x" * 5_000)
    (folder / "journal.db").unlink()
    assert (await refusal(STARTS[store], folder)).reason == f"{store}_CORRUPT"


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path, store: str) -> None:
    """A missing folder is an error that names it, and is not made."""
    with pytest.raises(StoreError) as refused:
        await STARTS[store](tmp_path / "missing")
    assert refused.value.reason == f"{store}_CANNOT_OPEN"
    assert not (tmp_path / "missing").exists()


async def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path, store: str) -> None:
    """A folder where the file should be is an error that names it."""
    (tmp_path / "journal.db").mkdir()
    with pytest.raises(StoreError) as refused:
        await STARTS[store](tmp_path)
    assert refused.value.reason == f"{store}_CANNOT_OPEN"


async def test_a_read_only_disk_is_refused(tmp_path: Path, store: str) -> None:
    """A file on a disk that cannot be written is refused with its own reason."""
    with small_disk(tmp_path / "disk", 8 << 20) as folder:
        await STARTS[store](folder)
        remount(folder, "ro")
        assert (await refusal(STARTS[store], folder)).reason == f"{store}_READ_ONLY"
        (tmp_path / "disk" / "journal.db").stat()


async def test_a_read_only_folder_cannot_have_a_new_file(tmp_path: Path, store: str) -> None:
    """Where no file can be made, the start says so."""
    with small_disk(tmp_path / "disk", 8 << 20) as folder:
        remount(folder, "ro")
        assert (await refusal(STARTS[store], folder)).reason == f"{store}_READ_ONLY"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("SYNCHRONOUS", 7), ("OLDEST_SQLITE", (99, 0, 0))],
    ids=["not synced", "old SQLite"],
)
async def test_a_setting_that_loses_commits_is_rejected(
    folder: Path, store: str, monkeypatch: pytest.MonkeyPatch, setting: str, value: object
) -> None:
    """A SQLite that does not keep the setting, or is known to lose commits, is not worked with."""
    monkeypatch.setattr(sqlite_file, setting, value)
    with pytest.raises(StoreError) as refused:
        await STARTS[store](folder)
    assert refused.value.reason == f"{store}_UNSAFE"


async def test_a_start_that_was_cut_short_is_begun_again(tmp_path: Path, store: str) -> None:
    """Leftovers of a start killed while creating the file do not prevent the next one."""
    for name in ("journal.db-new", "journal.db-new-wal", "journal.db-new-shm"):
        (tmp_path / name).write_bytes(b"half of it")
    await STARTS[store](tmp_path)
    assert not list(tmp_path.glob("*-new*"))


async def test_only_the_owner_may_read_the_file(folder: Path) -> None:
    """Stored requests and facts are readable only by the daemon's user."""
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
