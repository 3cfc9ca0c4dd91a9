"""Taking back changes of files and facts."""

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.tools.facts.memory_tools import memory_tools
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.file_state import identity_of
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.restorer import Restorer
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.facts import BY_CLIENT, FactSource
from aeond.domain.tools import ToolCall, Workspace
from aeond.domain.undo import Change, ChangeKind, Undone, UndoReport
from aeond.domain.values import JsonValue, canonical_json
from aeond.errors import StoreError
from tests.support.doubles import ManualClock
from tests.support.file_tools import FileTools
from tests.support.memory import InMemoryMemory
from tests.support.tools import invoker_of
from tests.support.undo import InMemoryUndoLog


class Place:
    """A folder, a memory, the tools that change them, and the Undo over both."""

    def __init__(self, folder: Path, log: InMemoryUndoLog) -> None:
        self.folder = folder
        self.log = log
        self.tools = FileTools(folder, log)
        self.memory = InMemoryMemory()
        facts = memory_tools(self.memory, ManualClock(), NoEmbedder(), log)
        self.invoker = invoker_of(*self.tools.tools, *facts)
        self.restorer = Restorer(log, self.tools.files, WorkerThreads(), self.memory)

    async def undo(self, *owners: str) -> UndoReport:
        with anyio.fail_after(60):
            return await self.restorer.undo(owners or ("run1",), -1, Workspace(str(self.folder)))

    def tree(self) -> dict[str, tuple[bytes, int] | None]:
        """Everything in the folder: content and permissions of files, None for a folder."""
        return {
            str(path.relative_to(self.folder)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
            if path.is_file()
            else None
            for path in self.folder.rglob("*")
        }

    async def remember(self, key: str, value: JsonValue | None, before: JsonValue | None) -> None:
        """Changes a fact as a memory tool does: recorded first."""
        content = None if before is None else canonical_json(before).encode()
        after = "" if value is None else identity_of(canonical_json(value).encode())
        await self.log.record(
            Change("run1", "s1", f"fact {key}", ChangeKind.FACT, "", key, content, after, 1.0)
        )
        if value is None:
            await self.memory.delete(key)
        else:
            await self.memory.write(key, value)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "a.txt").chmod(0o640)
    (tmp_path / "b.txt").write_text("b")
    return Place(tmp_path, InMemoryUndoLog())


CALLS: dict[str, dict[str, Any]] = {
    "write_file": {"path": "a.txt", "content": "new"},
    "edit_file": {"path": "a.txt", "changes": [{"replace": "two", "with": "2"}]},
    "append_file": {"path": "a.txt", "text": "three"},
    "move_file": {"path": "a.txt", "to": "x/y/c.txt"},
    "delete_file": {"path": "a.txt"},
}


@pytest.mark.parametrize("tool", sorted(CALLS))
async def test_each_change_is_taken_back(place: Place, tool: str) -> None:
    """Content, permissions and place of a file are as before, and folders that were made are gone."""
    before = place.tree()
    await place.tools.done(tool, **CALLS[tool])
    assert place.tree() != before
    report = await place.undo()
    outcome = "moved back" if tool == "move_file" else "restored"
    assert report == UndoReport((Undone("a.txt", outcome),))
    assert place.tree() == before
    assert await place.undo() == UndoReport()


async def test_a_new_file_is_removed_with_its_folders(place: Place) -> None:
    """A file that was created is removed, and so are the folders made for it, unless something else is in them."""
    before = place.tree()
    await place.tools.done("write_file", path="x/y/new.txt", content="new")
    assert (await place.undo()).undone == (Undone("x/y/new.txt", "removed"),)
    assert place.tree() == before
    await place.tools.done("write_file", path="x/y/new.txt", content="new")
    (place.folder / "x" / "own.txt").touch()
    await place.undo()
    assert sorted(os.listdir(place.folder / "x")) == ["own.txt"]


async def test_a_whole_run_is_taken_back(place: Place) -> None:
    """Many changes of the same files are taken back from the last to the first."""
    before = place.tree()
    for tool, arguments in (
        ("append_file", {"path": "a.txt", "text": "three"}),
        ("move_file", {"path": "a.txt", "to": "deep/c.txt"}),
        ("edit_file", {"path": "deep/c.txt", "changes": [{"replace": "two", "with": "2"}]}),
        ("write_file", {"path": "a.txt", "content": "another"}),
        ("delete_file", {"path": "deep/c.txt"}),
        ("move_file", {"path": "b.txt", "to": "deep/b.txt"}),
    ):
        await place.tools.done(tool, **arguments)
    report = await place.undo()
    assert (len(report.undone), report.refused) == (6, ())
    assert place.tree() == before


@pytest.mark.parametrize("tool", sorted(CALLS))
async def test_a_file_changed_since_is_not_restored(place: Place, tool: str) -> None:
    """A file that others changed after the run is refused and stays, and the rest is taken back."""
    await place.tools.done("edit_file", path="b.txt", changes=[{"replace": "b", "with": "c"}])
    await place.tools.done(tool, **CALLS[tool])
    target = place.folder / ("x/y/c.txt" if tool == "move_file" else "a.txt")
    target.write_text("by hand")
    report = await place.undo()
    assert [(one.target, one.reason) for one in report.refused] == [("a.txt", "CHANGED_SINCE")]
    assert report.undone == (Undone("b.txt", "restored"),)
    assert target.read_text() == "by hand"
    assert [one.reason for one in (await place.undo()).refused] == ["CHANGED_SINCE"]


async def test_a_change_that_was_only_recorded_is_settled(place: Place) -> None:
    """A record of a change that was never made is dropped without a report, and nothing changes."""
    before = place.tree()
    for tool, arguments in CALLS.items():
        await place.tools.done(tool, tool, **arguments)
        recorded = await place.log.latest(("run1",))
        assert recorded is not None
        await place.undo()
        await place.log.record(recorded)
    assert await place.undo() == UndoReport()
    assert await place.log.latest(("run1",)) is None
    assert place.tree() == before


async def test_a_file_without_kept_content_is_not_restored(tmp_path: Path) -> None:
    """Without the content from before a file stays as it is; what needs no content is still taken back."""
    place = Place(tmp_path, InMemoryUndoLog(0))
    (tmp_path / "a.txt").write_text("one")
    await place.tools.done("append_file", path="a.txt", text="two")
    await place.tools.done("write_file", path="new.txt", content="new")
    report = await place.undo()
    assert report.undone == (Undone("new.txt", "removed"),)
    assert [(one.target, one.reason) for one in report.refused] == [("a.txt", "CONTENT_NOT_KEPT")]
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\n"


async def test_only_the_given_owners_are_undone(place: Place) -> None:
    """Changes of other runs stay, and are not mentioned."""
    await place.tools.done("delete_file", path="a.txt")
    assert await place.undo("run2", "run3") == UndoReport()
    assert not (place.folder / "a.txt").exists()


async def test_a_failed_restore_is_a_refusal(place: Place) -> None:
    """An error of one file, such as a folder in its place, is its refusal and does not end the work."""
    (place.folder / "z.txt").mkdir()
    await place.tools.done("delete_file", path="a.txt")
    gone = await place.log.latest(("run1",))
    assert gone is not None
    await place.log.record(replace(gone, call_id="other", path="z.txt"))
    report = await place.undo()
    assert [(one.target, one.reason) for one in report.refused] == [("z.txt", "NOT_A_FILE")]
    assert report.undone == (Undone("a.txt", "restored"),)


async def test_files_outside_the_folders_of_the_run_stay(place: Place, tmp_path_factory: Any) -> None:
    """A change recorded in a folder that is neither the run's workspace nor writable for every run is refused, and the
    rest is taken back."""
    shared, other = (str(tmp_path_factory.mktemp(name)) for name in ("shared", "other"))
    await place.tools.done("delete_file", path="a.txt")
    gone = await place.log.latest(("run1",))
    assert gone is not None
    for root in (shared, other):
        await place.log.record(replace(gone, call_id=root, root=root))
    files = ContainedFiles(resolve_in_kernel, writable_roots=[shared])
    restorer = Restorer(place.log, files, WorkerThreads(), place.memory)
    report = await restorer.undo(("run1",), -1, Workspace(str(place.folder)))
    (refused,) = report.refused
    assert (refused.reason, other in refused.message) == ("PATH_OUTSIDE", True)
    assert os.listdir(other) == []
    assert report.undone == (Undone("a.txt", "restored"), Undone("a.txt", "restored"))
    assert os.listdir(shared) == ["a.txt"]


async def test_a_direct_call_under_the_id_of_a_run_is_no_change_of_the_run(place: Place) -> None:
    """The client chooses the id of a direct call; undoing the run with that id takes nothing of the call back."""
    direct = replace(place.tools.context("run1"), run_id="", step_id="", uid=5)
    for call in (
        ToolCall("delete_file", {"path": "a.txt"}, "run1"),
        ToolCall("forget", {"key": "door code"}, "run1"),
    ):
        await place.memory.of(5).write("door code", 1)
        assert (await place.invoker.invoke(call, direct)).success
    assert await place.undo() == UndoReport()
    assert await place.memory.search("") == []
    assert not (place.folder / "a.txt").exists()


async def test_facts_are_taken_back(place: Place) -> None:
    """A fact gets its value from before, a new one is forgotten, a forgotten one is remembered."""
    await place.memory.write("changed", "old")
    await place.memory.write("lost", [1, "x"])
    await place.remember("changed", "new", "old")
    await place.remember("new", 5, None)
    await place.remember("lost", None, [1, "x"])
    report = await place.undo()
    assert {(one.target, one.outcome) for one in report.undone} == {
        ("changed", "restored"),
        ("new", "forgotten"),
        ("lost", "restored"),
    }
    assert dict(await place.memory.search("")) == {"changed": "old", "lost": [1, "x"]}


@pytest.mark.parametrize(
    "source",
    [
        FactSource("run0", ("file:/srv/mail/note.txt",)),
        FactSource("run0", ("host:example.org:443", "memory:tip")),
        FactSource("run0"),
        BY_CLIENT,
    ],
    ids=["file", "web", "trusted run", "client"],
)
@pytest.mark.parametrize("calls", [("forget",), ("remember",), ("remember", "forget")], ids=" ".join)
async def test_a_restored_fact_has_its_source(
    place: Place, source: FactSource, calls: tuple[str, ...]
) -> None:
    """A fact that is restored after it was changed or forgotten has the source from before, and taints as before."""
    memory, context = place.memory.of(5), replace(place.tools.context("run1"), uid=5)
    await memory.write("advice", "buy", source)
    sources = await memory.sources(["advice"])
    arguments = {"forget": {"key": "advice"}, "remember": {"key": "advice", "value": "sell"}}
    for tool in calls:
        one = replace(context, call_id=tool)
        assert (await place.invoker.invoke(ToolCall(tool, arguments[tool]), one)).success
    await place.restorer.undo(("run1",), 5, Workspace(str(place.folder)))
    assert await memory.read("advice") == "buy"
    assert await memory.sources(["advice"]) == sources
    recalled = await place.invoker.invoke(ToolCall("recall", {"text": "advice"}), context)
    assert recalled.taint == (tuple(sorted({*source.taint, "memory:advice"})) if source.taint else ())


async def test_a_fact_of_unknown_source_is_restored_as_untrusted(place: Place) -> None:
    """A change that was recorded without a source, by an earlier version, is taken back, and the fact taints who recalls it."""
    await place.memory.write("advice", "buy", FactSource("run0", ("file:/x",)))
    await place.remember("advice", "sell", "buy")
    assert (await place.undo()).undone == (Undone("advice", "restored"),)
    assert await place.memory.sources(["advice"]) == {"advice": FactSource("", ("memory:advice",))}


async def test_facts_that_changed_since_are_left_alone(place: Place) -> None:
    """A fact with another value than the run gave it is refused; one that is as before is settled."""
    await place.remember("one", "new", None)
    await place.remember("two", "new", "old")
    await place.memory.write("one", "by hand")
    await place.memory.write("two", "old")
    report = await place.undo()
    assert ([one.target for one in report.refused], report.undone) == (["one"], ())
    assert dict(await place.memory.search("")) == {"one": "by hand", "two": "old"}


async def test_a_broken_log_ends_the_work(place: Place) -> None:
    """A log that cannot be read is an error of the call, not a refusal."""

    class BrokenLog(InMemoryUndoLog):
        async def latest(self, owners: Any, below: int = 0) -> Change | None:
            raise StoreError("the disk is broken")

    with pytest.raises(StoreError):
        await Restorer(BrokenLog(), place.tools.files, WorkerThreads(), place.memory).undo(
            ("run1",), -1, Workspace("")
        )
