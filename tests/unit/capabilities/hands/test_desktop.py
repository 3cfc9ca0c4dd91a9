"""The tools of the desktop, over programs of the test."""

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.hands import desktop as desktop_module
from aeond.capabilities.hands.desktop import Desktop, desktop_tools, find_desktop
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.policy import Access, TargetKind
from aeond.domain.tools import RecordedEffect, ToolCall, ToolContext, ToolResult
from tests.support.tools import CONTEXT, invoker_of

UID = os.getuid()


def program(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def found(**environment: str) -> Desktop | None:
    return find_desktop(environment, ContainedFiles(resolve_in_kernel), WorkerThreads())


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    """A desktop whose programs write down how they were called."""
    (tmp_path / "programs").mkdir()
    for name in ("busctl", "xdg-open"):
        program(tmp_path / "programs", name, f'printf "%s|" {name} "$@" > {tmp_path}/called')
    made = found(
        DBUS_SESSION_BUS_ADDRESS="unix:path=/nowhere",
        XDG_RUNTIME_DIR=str(tmp_path),
        PATH=f"{tmp_path}/programs:/usr/bin:/bin",
        SECRET="7321",
    )
    assert made is not None
    return made


async def call(desktop: Desktop, tool: str, context: ToolContext = CONTEXT, **arguments: Any) -> ToolResult:
    invoker = invoker_of(*desktop_tools(desktop))
    return await invoker.invoke(ToolCall(tool, arguments, "call1"), context)


def test_a_daemon_without_a_session_has_no_desktop(tmp_path: Path) -> None:
    """There is a desktop only with a session bus: an address of one, or its socket in the runtime folder."""
    assert found() is None
    assert found(XDG_RUNTIME_DIR=str(tmp_path)) is None
    with socket.socket(socket.AF_UNIX) as bus:
        bus.bind(str(tmp_path / "bus"))
        assert found(XDG_RUNTIME_DIR=str(tmp_path)) is not None


def test_only_programs_that_are_there_become_tools(tmp_path: Path, desktop: Desktop) -> None:
    """A tool whose program is missing does not exist."""
    assert [tool.spec.name for tool in desktop_tools(desktop)] == ["notify", "open_on_desktop"]
    empty = replace(desktop, environment={"PATH": str(tmp_path)})
    assert desktop_tools(empty) == []


async def test_a_file_is_opened(tmp_path: Path, desktop: Desktop) -> None:
    """The file that an inexact name means is opened, by its whole path, with the environment of the session alone."""
    (tmp_path / "map.png").touch()
    program(tmp_path / "programs", "xdg-open", f'echo "$1" > {tmp_path}/called; env >> {tmp_path}/called')
    context = replace(CONTEXT, workspace=str(tmp_path), uid=UID)
    result = await call(desktop, "open_on_desktop", context, path="Map")
    assert result.effects == (RecordedEffect("file.opened", f"{tmp_path}/map.png"),)
    called = (tmp_path / "called").read_text(encoding="utf-8")
    assert called.startswith(f"{tmp_path}/map.png\n")
    assert "7321" not in called


async def test_the_user_s_manager_starts_the_application(tmp_path: Path, desktop: Desktop) -> None:
    """Where systemd manages the session, it starts the application, which then outlives the daemon; in the name of a file it
    expands no variables.
    """
    (tmp_path / "a $HOME.png").touch()
    (tmp_path / "systemd").mkdir()
    (tmp_path / "systemd/private").touch()
    program(tmp_path / "programs", "systemd-run", f'printf "%s|" "$@" > {tmp_path}/called')
    await call(desktop, "open_on_desktop", replace(CONTEXT, workspace=str(tmp_path)), path="a $HOME.png")
    called = (tmp_path / "called").read_text(encoding="utf-8")
    *options, dashes, opener, path, rest = called.split("|")
    assert {"--user", "--property=ExitType=cgroup"} <= {*options}
    assert (dashes, opener, path, rest) == ("--", "xdg-open", f"{tmp_path}/a $$HOME.png", "")


async def test_a_desktop_that_fails_is_an_error(tmp_path: Path, desktop: Desktop) -> None:
    """The output of a failed program is the error; a program that cannot be started is one too."""
    program(tmp_path / "programs", "busctl", "echo no service >&2; exit 4")
    failed = await call(desktop, "notify", title="x")
    assert (failed.reason, "no service" in failed.error) == ("DESKTOP_FAILED", True)
    (tmp_path / "programs/busctl").write_bytes(b"\0")
    assert (await call(desktop, "notify", title="x")).reason == "DESKTOP_FAILED"


async def test_an_application_goes_on_by_itself(
    tmp_path: Path, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that does not end counts as started, and is left running."""
    monkeypatch.setattr(desktop_module, "START_SECONDS", 0.3)
    (tmp_path / "map.png").touch()
    os.mkfifo(tmp_path / "gate")
    program(tmp_path / "programs", "xdg-open", f"read line < {tmp_path}/gate; echo $line > {tmp_path}/after")
    result = await call(desktop, "open_on_desktop", replace(CONTEXT, workspace=str(tmp_path)), path="map.png")
    assert result.success, result.error
    (tmp_path / "gate").write_text("still here\n", encoding="utf-8")  # waits for the reader


async def test_other_users_do_not_reach_the_desktop(desktop: Desktop) -> None:
    """A run of another user can neither show nor open anything."""
    other = replace(CONTEXT, uid=UID + 1)
    assert (await call(desktop, "notify", other, title="x")).reason == "DESKTOP_OF_OTHER_USER"
    assert (await call(desktop, "open_on_desktop", other, path="x")).reason in (
        "DESKTOP_OF_OTHER_USER",
        "WORKSPACE_MISSING",
    )


async def test_targets_and_previews_name_program_and_file(tmp_path: Path, desktop: Desktop) -> None:
    """The policy and the person who approves learn which program is used, and on which file."""
    (tmp_path / "map.png").touch()
    notify, opening = desktop_tools(desktop)
    context = replace(CONTEXT, workspace=str(tmp_path))
    (target,) = await notify.targets({"title": "Tea"}, context) or ()
    assert (target.kind, target.name) == (TargetKind.COMMAND, "busctl")
    assert (await notify.preview({"title": "Tea", "text": "now"}, context)).command == (
        "notify",
        "Tea",
        "now",
    )
    command, file = await opening.targets({"path": "map"}, context) or ()
    assert (command.name, file.name, file.access) == ("xdg-open", f"{tmp_path}/map.png", Access.READ)
    assert (await opening.preview({"path": "map"}, context)).command == ("xdg-open", f"{tmp_path}/map.png")
