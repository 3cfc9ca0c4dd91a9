"""Changes of files: recorded before they are made, and made once per call."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from aeond.capabilities.tools.files.changes import FileChanges
from aeond.capabilities.tools.files.differences import Edit
from aeond.capabilities.tools.worker_threads import Begun, Stopped, WorkerThreads
from aeond.domain.tools import ToolCall
from aeond.domain.undo import Change, ChangeKind
from aeond.errors import StoreError
from tests.support.doubles import ManualClock
from tests.support.file_tools import FileTools
from tests.support.undo import InMemoryUndoLog

T = TypeVar("T")

CALLS: dict[str, dict[str, Any]] = {
    "write_file": {"path": "a.txt", "content": "new"},
    "edit_file": {"path": "a.txt", "changes": [{"replace": "two", "with": "2"}]},
    "append_file": {"path": "a.txt", "text": "four"},
    "move_file": {"path": "a.txt", "to": "sub/b.txt"},
    "delete_file": {"path": "a.txt"},
}
EVERY_CALL = pytest.mark.parametrize("tool", sorted(CALLS))


class KilledError(BaseException):
    """Stands for the death of the process."""


class MortalLog(InMemoryUndoLog):
    """A log whose process dies right after a record, or that cannot record."""

    def __init__(self) -> None:
        super().__init__()
        self.dies = False
        self.fails = False

    def record_now(self, change: Change) -> None:
        if self.fails:
            raise StoreError("the disk is broken", reason="UNDO_FAILED")
        super().record_now(change)
        if self.dies:
            self.dies = False
            raise KilledError


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def tools(tmp_path: Path) -> FileTools:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree")
    (tmp_path / "a.txt").chmod(0o640)
    return FileTools(tmp_path, MortalLog())


def log_of(tools: FileTools) -> MortalLog:
    assert isinstance(tools.log, MortalLog)
    return tools.log


@EVERY_CALL
async def test_a_repeated_call_has_one_effect(tools: FileTools, tool: str) -> None:
    """A call that is made again after its change finds it made: same result and effects, nothing done twice."""
    first = await tools.call(tool, "c", **CALLS[tool])
    assert first.success, first.error
    after = tree(tools.folder)
    again = await tools.call(tool, "c", **CALLS[tool])
    assert (again.data, again.effects) == (first.data, first.effects)
    assert tree(tools.folder) == after


@EVERY_CALL
async def test_direct_calls_with_one_id_are_apart(tools: FileTools, tool: str) -> None:
    """A direct call does not find the change of another user's call with the same id, and fails if the user's own call with
    this id was made in another folder."""
    first, second = (replace(tools.context("c"), run_id="", step_id="", uid=uid) for uid in (5, 6))
    assert (await tools.invoker.invoke(ToolCall(tool, CALLS[tool], "c"), first)).success
    assert await tools.invoker.reconcile(ToolCall(tool, CALLS[tool], "c"), first) is not None
    assert await tools.invoker.reconcile(ToolCall(tool, CALLS[tool], "c"), second) is None
    (tools.folder / "elsewhere").mkdir()
    (tools.folder / "elsewhere" / "a.txt").write_text("one\ntwo\nthree")
    elsewhere = replace(first, workspace=str(tools.folder / "elsewhere"))
    assert (await tools.invoker.invoke(ToolCall(tool, CALLS[tool], "c"), elsewhere)).reason == "PATH_OUTSIDE"


@EVERY_CALL
async def test_a_change_that_was_made_is_recognised(tools: FileTools, tool: str) -> None:
    """After a crash between the change and its journal entry, reconciling gives the result of the call."""
    assert await tools.reconcile(tool, "c", **CALLS[tool]) is None
    first = await tools.call(tool, "c", **CALLS[tool])
    recalled = await tools.reconcile(tool, "c", **CALLS[tool])
    assert recalled is not None
    assert (recalled.data, recalled.effects) == (first.data, first.effects)


@EVERY_CALL
async def test_a_change_that_was_only_recorded_is_made(tools: FileTools, tool: str) -> None:
    """After a crash between the record and the change, the call is made as if for the first time."""
    before = tree(tools.folder)
    log_of(tools).dies = True
    with pytest.raises(KilledError):
        await tools.invoker._registry.find(tool).execute(CALLS[tool], tools.context("c"))
    assert tree(tools.folder) == before
    assert await tools.reconcile(tool, "c", **CALLS[tool]) is None
    result = await tools.call(tool, "c", **CALLS[tool])
    assert result.effects
    assert tree(tools.folder) != before


@EVERY_CALL
async def test_a_file_that_others_changed_is_left_alone(tools: FileTools, tool: str) -> None:
    """If a file was changed by others between the crash and the repetition, the call fails and touches nothing."""
    await tools.done(tool, "c", **CALLS[tool])
    place = tools.folder / ("sub/b.txt" if tool == "move_file" else "a.txt")
    place.write_text("by hand")
    assert await tools.reconcile(tool, "c", **CALLS[tool]) is None
    assert (await tools.call(tool, "c", **CALLS[tool])).reason == "FILE_CHANGED"
    assert place.read_text() == "by hand"


@EVERY_CALL
async def test_nothing_is_changed_without_a_record(tools: FileTools, tool: str) -> None:
    """If the change cannot be recorded, it is not made."""
    before = tree(tools.folder)
    log_of(tools).fails = True
    assert (await tools.call(tool, **CALLS[tool])).reason == "UNDO_FAILED"
    assert tree(tools.folder) == before


@pytest.mark.parametrize("path", ["a.txt", "new.txt", "x/y/new.txt"])
async def test_nothing_is_changed_before_it_is_recorded(tools: FileTools, path: str) -> None:
    """While the content of a file is recorded, the file is as it was, and no folder is made for it."""
    seen: list[tuple[bytes | None, set[str]]] = []

    class WatchingLog(InMemoryUndoLog):
        def record_now(self, change: Change) -> None:
            place = tools.folder / path
            folders = {name.name for name in tools.folder.rglob("*") if name.is_dir()}
            seen.append((place.read_bytes() if place.exists() else None, folders))
            super().record_now(change)

    await FileTools(tools.folder, WatchingLog()).done("write_file", "c", path=path, content="new")
    assert seen == [(b"one\ntwo\nthree" if path == "a.txt" else None, set())]
    assert (tools.folder / path).read_bytes() == b"new"


async def recorded(tools: FileTools, call_id: str) -> Sequence[Change]:
    return await tools.log.find("run1", "s1", call_id)


async def test_a_record_has_what_is_needed_to_restore(tools: FileTools) -> None:
    """A record has content and permissions from before, the folders that are made and the new path of a move."""
    await tools.done("append_file", "c1", path="a.txt", text="four")
    await tools.done("write_file", "c2", path="x/y/new.txt", content="new")
    await tools.done("move_file", "c3", path="a.txt", to="z/b.txt")
    await tools.done("delete_file", "c4", path="z/b.txt")
    (one,), (two,), (three,), (four,) = [await recorded(tools, f"c{number}") for number in (1, 2, 3, 4)]
    assert (one.kind, one.before, one.mode) == (ChangeKind.FILE_WRITTEN, b"one\ntwo\nthree", 0o640)
    assert (two.before, two.found, two.made_folders) == (None, "", ("x", "x/y"))
    assert (three.kind, three.moved_to, three.made_folders) == (ChangeKind.FILE_MOVED, "z/b.txt", ("z",))
    assert (four.kind, four.after) == (ChangeKind.FILE_DELETED, "")
    assert (four.before, four.mode) == (b"one\ntwo\nthree\nfour\n", 0o640)
    assert {change.root for change in (one, two, three, four)} == {str(tools.folder)}


async def test_without_room_the_change_is_made_and_not_kept(tmp_path: Path) -> None:
    """A content that the log cannot take is not kept; the call works, and is recognised after a crash."""
    (tmp_path / "a.txt").write_text("one\ntwo\nthree")
    tools = FileTools(tmp_path, InMemoryUndoLog(0))
    for tool in ("edit_file", "append_file", "delete_file"):
        first = await tools.call(tool, tool, **CALLS[tool])
        (change,) = await recorded(tools, tool)
        assert (change.before, change.kept) == (None, False)
        recalled = await tools.reconcile(tool, tool, **CALLS[tool])
        assert recalled is not None
        assert [effect.kind for effect in recalled.effects] == [effect.kind for effect in first.effects]


async def test_changes_of_one_file_wait_for_each_other(tools: FileTools) -> None:
    """Lines that many calls add at the same time are all there afterwards."""

    async def append(number: int) -> None:
        await tools.done("append_file", f"c{number}", path="a.txt", text=f"line {number}")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(append, number)
    lines = (tools.folder / "a.txt").read_text().splitlines()
    assert sorted(lines[3:]) == sorted(f"line {number}" for number in range(20))


async def test_a_rewrite_is_one_piece_of_work(tools: FileTools) -> None:
    """The look at the file, the record and the change are made by a thread without the event loop in between."""

    class CountedThreads(WorkerThreads):
        count = 0

        async def begin(self, work: Callable[[Stopped], T]) -> Begun[T]:
            self.count += 1
            return await super().begin(work)

    threads = CountedThreads()
    changes = FileChanges(tools.files, tools.log, threads, ManualClock())
    for number, content in enumerate((b"new", b"newer", b"newer"), start=1):
        await changes.rewrite("a.txt", tools.context(f"c{number}"), lambda _, now=content: Edit(now, "done"))  # type: ignore[misc]
        assert threads.count == number
        assert (tools.folder / "a.txt").read_bytes() == content
        assert len(await recorded(tools, f"c{number}")) == (number < 3)


async def test_a_file_that_changes_during_the_call_is_not_replaced(tools: FileTools) -> None:
    """If others change the file between reading and writing, their content stays and the call may be retried."""

    class BusyLog(InMemoryUndoLog):
        def record_now(self, change: Change) -> None:
            super().record_now(change)
            (tools.folder / "a.txt").write_text("by hand")

    for tool in ("edit_file", "append_file", "delete_file"):
        (tools.folder / "a.txt").write_text("one two three")
        busy = FileTools(tools.folder, BusyLog())
        result = await busy.call(tool, **CALLS[tool])
        assert (result.reason, result.metadata.get("retryable")) == ("FILE_BUSY", True)
        assert os.listdir(tools.folder) == ["a.txt"]
        assert (tools.folder / "a.txt").read_text() == "by hand"


async def test_calls_outside_of_runs_own_their_changes(tools: FileTools) -> None:
    """The changes of a call without a run belong to the call and its user."""
    await tools.changes.delete("a.txt", replace(tools.context("single"), run_id="", step_id="", uid=5))
    (change,) = await tools.log.find("call/5/single", "", "single")
    assert change.path == "a.txt"
    assert await tools.log.latest(["single"]) is None
