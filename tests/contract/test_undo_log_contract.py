"""The contract of undo logs, for each implementation."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio.to_thread
import pytest

from aeond.capabilities.undo.sqlite_undo_log import SqliteUndoLog
from aeond.domain.facts import BY_CLIENT, FactSource
from aeond.domain.undo import Change, ChangeKind
from aeond.errors import InvalidInputError
from aeond.ports.undo import UndoLog
from tests.support.undo import InMemoryUndoLog

MAX_BYTES = 1_000
CHANGE = Change(
    owner="run1",
    step_id="s1",
    call_id="call1",
    kind=ChangeKind.FILE_WRITTEN,
    root="/srv/work",
    path="notes/todo.txt",
    before=b"milk\n",
    after="sha",
    time=100.0,
    mode=0o640,
    moved_to="",
    made_folders=("notes",),
)


@pytest.fixture(params=["in_memory", "sqlite"])
async def undo_log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[UndoLog]:
    if request.param == "in_memory":
        yield InMemoryUndoLog(MAX_BYTES)
        return
    async with SqliteUndoLog(tmp_path / "undo.db", MAX_BYTES) as on_disk:
        yield on_disk


def without_id(change: Change | None) -> Change | None:
    return None if change is None else replace(change, change_id=0)


@pytest.mark.parametrize("before", [None, b"", b"milk\n", bytes(range(256))], ids=repr)
async def test_a_change_comes_back_as_it_was_recorded(undo_log: UndoLog, before: bytes | None) -> None:
    """Every field of a change is read as it was recorded; no content and an empty one stay apart."""
    change = replace(CHANGE, before=before)
    await undo_log.record(change)
    (found,) = await undo_log.find("run1", "s1", "call1")
    assert without_id(found) == change
    assert found.change_id > 0


@pytest.mark.parametrize(
    "source",
    [None, BY_CLIENT, FactSource("run0"), FactSource("run0", ("file:/ä b", "host:x.org:443"))],
    ids=repr,
)
async def test_a_source_comes_back_as_it_was_recorded(undo_log: UndoLog, source: FactSource | None) -> None:
    """The source of a fact is read as it was recorded; none and that of a client stay apart."""
    change = replace(CHANGE, kind=ChangeKind.FACT, source=source)
    await undo_log.record(change)
    assert without_id(await undo_log.latest(("run1",))) == change


async def test_the_latest_comes_first(undo_log: UndoLog) -> None:
    """The changes of several owners are gone through from the latest to the first, each once."""
    for number, owner in enumerate(("run1", "run2", "run3", "run1")):
        await undo_log.record(replace(CHANGE, owner=owner, call_id=f"call{number}"))
    seen = []
    below = 0
    while (change := await undo_log.latest(("run1", "run3"), below)) is not None:
        seen.append((change.owner, change.call_id))
        below = change.change_id
    assert seen == [("run1", "call3"), ("run3", "call2"), ("run1", "call0")]
    assert await undo_log.latest(("run9",)) is None
    assert await undo_log.latest(()) is None


async def test_a_repeated_call_has_one_record(undo_log: UndoLog) -> None:
    """A call that is made again replaces its record, and another path of the same call has its own."""
    await undo_log.record(CHANGE)
    await undo_log.record(replace(CHANGE, path="other.txt"))
    await undo_log.record(replace(CHANGE, before=b"eggs\n"))
    found = await undo_log.find("run1", "s1", "call1")
    assert [(change.path, change.before) for change in found] == [
        ("other.txt", b"milk\n"),
        ("notes/todo.txt", b"eggs\n"),
    ]


async def test_a_settled_change_is_gone(undo_log: UndoLog) -> None:
    """A settled change is not found again, and settling it twice changes nothing."""
    await undo_log.record(CHANGE)
    change = await undo_log.latest(("run1",))
    assert change is not None
    for _ in range(2):
        await undo_log.settle(change.change_id)
    assert await undo_log.latest(("run1",)) is None
    assert await undo_log.find("run1", "s1", "call1") == []


async def test_the_oldest_contents_go_first(undo_log: UndoLog) -> None:
    """Beyond the bound the oldest contents are let go of; their changes remain and say so."""
    for number in range(4):
        await undo_log.record(replace(CHANGE, call_id=f"call{number}", before=b"x" * 400))
    kept = [(await undo_log.find("run1", "s1", f"call{number}"))[0] for number in range(4)]
    assert [change.kept for change in kept] == [False, False, True, True]
    assert [change.before for change in kept] == [None, None, b"x" * 400, b"x" * 400]


async def test_a_content_that_is_too_large_is_refused(undo_log: UndoLog) -> None:
    """A content larger than the log is refused, and the contents recorded before stay."""
    await undo_log.record(CHANGE)
    large = replace(CHANGE, call_id="call2", before=b"x" * (undo_log.max_content_bytes + 1))
    with pytest.raises(InvalidInputError) as refused:
        await undo_log.record(large)
    assert refused.value.reason == "CONTENT_TOO_LARGE"
    (found,) = await undo_log.find("run1", "s1", "call1")
    assert found.before == b"milk\n"


async def test_old_changes_are_pruned(undo_log: UndoLog) -> None:
    """Pruning removes the changes from before a time, and counts them."""
    for number in range(3):
        await undo_log.record(replace(CHANGE, call_id=f"call{number}", time=100.0 + number))
    assert await undo_log.prune(102.0) == 2
    assert await undo_log.prune(102.0) == 0
    latest = await undo_log.latest(("run1",))
    assert latest is not None
    assert latest.call_id == "call2"


async def test_a_thread_records_like_a_task(undo_log: UndoLog) -> None:
    """A change that is recorded in a thread is found, replaces its record and is bound like any other."""
    await undo_log.record(CHANGE)
    again = replace(CHANGE, before=b"eggs\n")
    await anyio.to_thread.run_sync(undo_log.record_now, again)
    (found,) = await undo_log.find("run1", "s1", "call1")
    assert without_id(found) == again
    large = replace(CHANGE, call_id="call2", before=b"x" * (undo_log.max_content_bytes + 1))
    with pytest.raises(InvalidInputError) as refused:
        await anyio.to_thread.run_sync(undo_log.record_now, large)
    assert refused.value.reason == "CONTENT_TOO_LARGE"


@pytest.mark.parametrize("frees", ["settle", "prune", "repeat"])
async def test_freed_contents_make_room(undo_log: UndoLog, frees: str) -> None:
    """Contents that were settled, pruned or replaced leave their room to later ones."""
    for number in range(2):
        content = replace(CHANGE, call_id=f"call{number}", before=b"x" * 400, time=100.0 + number)
        await undo_log.record(content)
    if frees == "settle":
        (oldest,) = await undo_log.find("run1", "s1", "call0")
        await undo_log.settle(oldest.change_id)
    elif frees == "prune":
        assert await undo_log.prune(101.0) == 1
    else:
        await undo_log.record(replace(CHANGE, call_id="call0", before=b""))
    for number in range(2, 5):
        await undo_log.record(replace(CHANGE, call_id=f"call{number}", before=b"x" * 300))
        found = [await undo_log.find("run1", "s1", f"call{one}") for one in range(1, number + 1)]
        kept = [len(changes[0].before or b"") for changes in found]
        assert kept == {2: [400, 300], 3: [400, 300, 300], 4: [0, 300, 300, 300]}[number]
