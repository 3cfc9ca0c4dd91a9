"""Programs in the sandbox: their changes, what they may not change, and what becomes of it."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.capabilities.hands import workshop, workspace_tree
from aeond.capabilities.sandbox.tool_unit import ToolUnit
from aeond.capabilities.tools.worker_threads import MAX_THREADS, WorkerThreads
from aeond.domain.tools import RecordedEffect, ToolCall, ToolResult
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.hands import Hands
from tests.support.tool_sockets import tool_socket
from tests.support.tools import CONTEXT


@pytest.fixture(params=[pytest.param("bwrap", marks=needs_bubblewrap), "unit"])
def hands(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hands]:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "old.txt").write_text("old\n", encoding="utf-8")
    (folder / "gone.txt").write_text("gone\n", encoding="utf-8")
    if request.param == "bwrap":
        yield Hands(folder)
    else:
        with tool_socket(tmp_path / "tool.sock") as address:
            yield Hands(folder, ToolUnit(address))


async def test_changes_are_reported_and_undone(hands: Hands) -> None:
    """Files that a command created, changed and deleted are reported, and undo restores all of them."""
    result = await hands.shell("mkdir new; echo 1 > new/file; echo new > old.txt; rm gone.txt; echo done")
    assert result.success, result.error
    assert result.effects[1:] == (
        RecordedEffect("file.deleted", "gone.txt"),
        RecordedEffect("file.changed", "old.txt", "4 bytes"),
        RecordedEffect("file.created", "new/file", "2 bytes"),
    )
    assert hands.text("old.txt") == "new\n"
    report = await hands.undo()
    assert report.refused == ()
    assert (hands.text("old.txt"), hands.text("gone.txt")) == ("old\n", "gone\n")
    assert not (hands.folder / "new").exists()


async def test_commands_of_one_user_leave_room_for_others(hands: Hands, tmp_path: Path) -> None:
    """While one user's commands run as long as they may, a command of another user runs to its end."""
    begun = anyio.Event()
    shown: list[str] = []

    def note(text: str) -> None:
        shown.append(text)
        if "".join(shown).count("begun") == workshop.MAX_OF_ONE_USER:
            begun.set()

    hands.on_text = note

    async def shell(uid: int, name: str, commands: str) -> ToolResult:
        folder = tmp_path / name
        folder.mkdir()
        call = ToolCall("run_command", {"argv": ["sh", "-c", commands]}, name)
        return await hands.invoker.invoke(call, replace(CONTEXT, workspace=str(folder), uid=uid))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for number in range(workshop.MAX_OF_ONE_USER):
                group.start_soon(shell, 1, f"endless-{number}", "echo begun; exec tail -f /dev/null")
            await begun.wait()
            result = await shell(2, "other", "echo done")
            group.cancel_scope.cancel()
    assert result.success, result.error


async def test_protected_names_keep_their_content(hands: Hands) -> None:
    """A command cannot change, move or replace an existing file that runs code; one that it makes is renamed."""
    (hands.folder / ".git").mkdir()
    (hands.folder / ".git/config").write_text("mine", encoding="utf-8")
    (hands.folder / ".envrc").write_text("mine", encoding="utf-8")
    result = await hands.shell(
        "echo x > .envrc; mv .envrc y; rm -rf .git; mv .git z; echo x > .git/config; echo x > .git/hook; echo x > .npmrc"
    )
    assert result.success, result.error
    data: Any = result.data
    assert (hands.text(".envrc"), hands.text(".git/config")) == ("mine", "mine")
    assert not (hands.folder / ".npmrc").exists()
    assert not (hands.folder / ".git/hook").exists()
    assert hands.text(".npmrc.refused") == "x\n"
    assert ".npmrc.refused" in data["note"]


@needs_bubblewrap
async def test_protected_names_are_renamed_however_long_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program cannot keep a protected name by making the search long: only the list of changes has a deadline."""
    monkeypatch.setattr(workshop, "SETTLE_SECONDS", 0.0)
    result = await Hands(tmp_path).shell("echo x > .envrc; echo x > other")
    assert result.success, result.error
    data: Any = result.data
    assert sorted(path.name for path in tmp_path.iterdir()) == [".envrc.refused", "other"]
    assert "renamed to .envrc.refused" in data["note"]
    assert "could not be listed in time" in data["note"]


@needs_bubblewrap
async def test_protected_names_are_renamed_while_tools_hold_all_threads(tmp_path: Path) -> None:
    """Blocking tools that hold all threads while a program ends do not keep its protected names from being renamed."""
    hands = Hands(tmp_path)
    os.mkfifo(tmp_path / "go")  # the program ends once all threads are held
    hands.workshop.threads = WorkerThreads(max_wait_seconds=0.5)
    free, held = threading.Event(), anyio.Event()
    try:
        async with anyio.create_task_group() as group:

            async def hold_all() -> None:
                for _ in range(MAX_THREADS):
                    begun = await hands.workshop.threads.begin(lambda _stopped: free.wait(60))
                    group.start_soon(begun.result)
                held.set()
                await anyio.to_thread.run_sync((tmp_path / "go").write_text, "go")

            def hold(text: str) -> None:
                if "made" in text:
                    group.start_soon(hold_all)

            hands.on_text = hold
            result = await hands.shell("echo x > .envrc; echo x > new; echo made; cat go")
            assert held.is_set(), result
            free.set()
    finally:
        free.set()
    assert result.success, result.error
    assert sorted(path.name for path in tmp_path.iterdir()) == [".envrc.refused", "go", "new"]


@needs_bubblewrap
async def test_a_protected_name_that_is_left_fails_the_call(tmp_path: Path) -> None:
    """If a protected name cannot be renamed, the call fails and names it; the other changes can be undone."""
    hands = Hands(tmp_path)
    taken = "for i in '' $(seq 2 99); do echo > .envrc.refused$i; done"
    result = await hands.shell(f"echo > .envrc; {taken}; mkdir sub; echo > sub/.npmrc; echo > new")
    assert result.reason == "NAMES_NOT_RENAMED"
    assert ".envrc could not be renamed" in result.error
    assert (tmp_path / "sub/.npmrc.refused").exists()
    await hands.undo()
    assert not (tmp_path / "new").exists()


@needs_bubblewrap
async def test_output_is_shown_while_the_command_runs(tmp_path: Path) -> None:
    """People who watch see the output before the command has ended."""
    hands = Hands(tmp_path)
    hands.on_text = lambda text: (tmp_path / "go").write_text(text, encoding="utf-8")
    result = await hands.shell("echo ready; while ! test -s go; do sleep 0.02; done; cat go", seconds=50)
    data: Any = result.data
    assert data["output"].startswith("ready\nready\n")


@needs_bubblewrap
async def test_changes_of_a_cancelled_call_can_be_undone(tmp_path: Path) -> None:
    """A command that is cancelled leaves no process, and what it changed until then can be undone."""
    hands = Hands(tmp_path)
    (tmp_path / "old.txt").write_text("old\n", encoding="utf-8")
    with anyio.fail_after(50):
        async with anyio.create_task_group() as group:
            hands.on_text = lambda _text: group.cancel_scope.cancel()
            group.start_soon(hands.shell, "echo new > old.txt; echo ready; exec sleep 600")
    assert hands.text("old.txt") == "new\n"
    assert (await hands.undo()).refused == ()
    assert hands.text("old.txt") == "old\n"


@needs_bubblewrap
async def test_changes_that_cannot_be_undone_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of a file whose content was not kept is named, and undo refuses it; so are changes beyond the bound."""
    monkeypatch.setattr(workshop, "MAX_KEPT_FILE_BYTES", 10)
    monkeypatch.setattr(workshop, "MAX_RECORDED", 2)
    hands = Hands(tmp_path)
    (tmp_path / "large").write_bytes(bytes(11))
    result = await hands.shell("echo > large; echo > a; echo > b; ln -s a c")
    data: Any = result.data
    assert data["note"] == "cannot be undone: large, b, c"
    assert [refused.reason for refused in (await hands.undo()).refused] == ["CONTENT_NOT_KEPT"]
    monkeypatch.setattr(workshop, "MAX_RECORDED", 9)
    (tmp_path / "large").write_bytes(bytes(11))
    await hands.shell("echo > large")
    assert [refused.reason for refused in (await hands.undo()).refused] == ["CONTENT_NOT_KEPT"]


@needs_bubblewrap
async def test_originals_can_be_undone_before_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more changes than can be recorded, deleted and changed files are restored, and new files are left."""
    monkeypatch.setattr(workshop, "MAX_RECORDED", 2)
    hands = Hands(tmp_path)
    for name in ("gone.txt", "old.txt"):
        (tmp_path / name).write_text("before\n", encoding="utf-8")
    result = await hands.shell("echo > a; echo > b; rm gone.txt; echo after > old.txt")
    data: Any = result.data
    assert data["note"] == "cannot be undone: a, b"
    assert (await hands.undo()).refused == ()
    assert (hands.text("gone.txt"), hands.text("old.txt")) == ("before\n", "before\n")
    assert (tmp_path / "a").exists()


@needs_bubblewrap
async def test_a_file_replaced_by_a_folder_comes_back(tmp_path: Path) -> None:
    """Undo removes the folder that a command put in a file's place before it restores the file."""
    hands = Hands(tmp_path)
    (tmp_path / "thing").write_text("before\n", encoding="utf-8")
    await hands.shell("rm thing; mkdir thing; echo > thing/inner")
    assert (await hands.undo()).refused == ()
    assert hands.text("thing") == "before\n"


@needs_bubblewrap
async def test_a_cancelled_program_can_clean_up(tmp_path: Path) -> None:
    """A program of a cancelled call is asked to end before it is killed, so that it can remove its lock for example."""
    hands = Hands(tmp_path)
    with anyio.fail_after(50):
        async with anyio.create_task_group() as group:
            hands.on_text = lambda _text: group.cancel_scope.cancel()
            group.start_soon(
                hands.shell,
                "trap 'rm lock; exit 1' TERM; touch lock; echo ready; sleep 600 & wait",
            )
    assert list(tmp_path.iterdir()) == []


@needs_bubblewrap
async def test_a_folder_with_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that is too large to compare nothing is run; one that becomes so is reported, and made harmless."""
    monkeypatch.setattr(workspace_tree, "MAX_ENTRIES", 4)
    hands = Hands(tmp_path)
    result = await hands.shell("touch a b c d e .envrc")
    data: Any = result.data
    assert "cannot be listed or undone" in data["note"]
    assert not (tmp_path / ".envrc").exists()
    assert (await hands.shell("touch f")).reason == "WORKSPACE_TOO_LARGE"
    assert not (tmp_path / "f").exists()


@needs_bubblewrap
async def test_a_name_that_is_no_text_is_reported(tmp_path: Path) -> None:
    """A file whose name is not UTF-8 is reported in a readable form; undo cannot remove it."""
    result = await Hands(tmp_path).shell(r"touch $(printf 'a\377')")
    data: Any = result.data
    assert data["note"] == r"cannot be undone: a\xff"
    assert len(result.effects) == 2


@needs_bubblewrap
async def test_many_changes_are_counted(tmp_path: Path) -> None:
    """The list of changes is bounded, and the number of all is said."""
    result = await Hands(tmp_path).shell("for i in $(seq 100); do echo > f$i; done; chmod 600 f1")
    data: Any = result.data
    assert data["note"] == "100 files changed in all"
    assert len(result.effects) == 64


@needs_bubblewrap
async def test_a_process_tree_that_is_ended_is_an_outcome(tmp_path: Path) -> None:
    """A command whose sandbox is killed under it has failed with the exit code of a kill, and its changes are known."""
    result = await Hands(tmp_path).shell("echo > made; kill -9 $PPID; exec sleep 600")
    data: Any = result.data
    assert (result.success, data["exit_code"]) == (True, 137)
    assert "ended without a reply" in data["note"]
    assert result.effects[1:] == (RecordedEffect("file.created", "made", "1 bytes"),)


@needs_bubblewrap
async def test_a_call_without_a_folder_works_in_its_own(tmp_path: Path) -> None:
    """Without a workspace a command runs in an empty folder of the sandbox, and changes nothing."""
    hands = Hands(tmp_path)
    hands.folder = Path()
    ran = await hands.workshop.change(CONTEXT, [["sh", "-c", "echo > x; ls -A; pwd"]], 20, 1_000)
    assert (ran.programs[0].output, ran.effects) == ("x\n/tmp\n", ())
