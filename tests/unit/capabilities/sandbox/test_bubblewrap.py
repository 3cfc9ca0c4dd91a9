"""A sandbox of bubblewrap."""

import os
from pathlib import Path

import anyio
import psutil
import pytest

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.sandboxed_tool import SandboxedTool, sandboxed_file
from aeond.errors import InvalidInputError, ToolError
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.repository import ROOT
from tests.support.tools import called

pytestmark = needs_bubblewrap
TOOL_FILE = ROOT / "tests" / "support" / "sandbox_tools.py"


async def tool_named(name: str, sandbox: Bubblewrap) -> SandboxedTool:
    tools = await sandboxed_file(TOOL_FILE, sandbox, 1 << 30)
    return next(tool for tool in tools if tool.spec.name == name)


def sleepers(seconds: str) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] == ["/bin/sleep", seconds]
    ]


async def test_nothing_of_a_call_outlives_it() -> None:
    """A process that a tool left behind, in a session of its own, is gone when the call returns."""
    assert await called(await tool_named("linger", Bubblewrap()), text="86391.5") > 0
    assert sleepers("86391.5") == []


async def test_nothing_of_a_cancelled_call_outlives_it() -> None:
    """The processes of a call that is cancelled are gone when the caller goes on."""
    tool = await tool_named("spin", Bubblewrap())
    before = set(psutil.Process().children(recursive=True))  # of other tests: an engine that they share
    with anyio.move_on_after(1.0):
        await called(tool)
    children = set(psutil.Process().children(recursive=True)) - before
    assert [one for one in children if one.status() != psutil.STATUS_ZOMBIE] == []


async def test_a_tool_sees_next_to_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of anybody's, no variable of the daemon's, no network but its own loopback, no capability."""
    monkeypatch.setenv("AEOND_TEST_SECRET", "7321")
    secret = tmp_path / "secret"
    secret.write_text("7321", encoding="utf-8")
    seen = await called(await tool_named("peek", Bubblewrap()), text=str(secret))
    assert seen["file"] == "FileNotFoundError"
    assert [
        name for name in seen["environment"] if name not in {"LANG", "LC_CTYPE", "PATH", "PWD", "PYTHONUTF8"}
    ] == []
    assert (seen["networks"], seen["capabilities"]) == (["lo"], ["0000000000000000"])


async def test_what_is_hidden_is_not_in_the_workspace(tmp_path: Path) -> None:
    """The daemon's own files are not there, also when the workspace is the folder that they lie in."""
    state, config = tmp_path / "state", tmp_path / "aeond.toml"
    state.mkdir()
    for file in (state / "journal.db", config):
        file.write_text("7321", encoding="utf-8")
    tool = await tool_named("peek", Bubblewrap(hidden=[state, config]))
    assert (await called(tool, tmp_path, text=str(state / "journal.db")))["file"] == "FileNotFoundError"
    assert (await called(tool, tmp_path, text=str(config)))["file"] in {"", "PermissionError"}


async def test_only_the_workspace_can_be_written_to(tmp_path: Path) -> None:
    """Files that a tool writes outside its workspace vanish, and writes to the system fail."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    tool = await tool_named("write", Bubblewrap())
    await called(tool, workspace, text="../beside")
    assert os.listdir(tmp_path) == ["workspace"]
    with pytest.raises(ToolError, match="Read-only file system"):
        await called(tool, workspace, text="/usr/new")


async def test_a_missing_bubblewrap_is_told() -> None:
    """Without bubblewrap nothing runs, and the error says what to install."""
    with pytest.raises(InvalidInputError, match="apt-get install bubblewrap") as caught:
        await tool_named("write", Bubblewrap("no-such-bwrap"))
    assert caught.value.reason == "SANDBOX_UNAVAILABLE"


async def test_how_a_process_ended_is_told() -> None:
    """A process that ends without an answer is named with its exit code and the last line that it said."""
    with pytest.raises(ToolError, match="exit code 3; so long"):
        await called(await tool_named("leave", Bubblewrap()), number=3)
