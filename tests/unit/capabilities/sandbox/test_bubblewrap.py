"""A sandbox of bubblewrap."""

import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil
import pytest

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap, View, made_group
from aeond.capabilities.sandbox.cgroups import GroupHome
from aeond.capabilities.sandbox.conversing import Conditions
from aeond.capabilities.sandbox.sandboxed_tool import SandboxedTool, sandboxed_file
from aeond.errors import InvalidInputError, ToolError
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.repository import ROOT
from tests.support.tools import called

pytestmark = [needs_bubblewrap, pytest.mark.slow]
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


async def test_hidden_files_are_not_in_the_workspace(tmp_path: Path) -> None:
    """The daemon's own files are not there, also when the workspace is the folder that they lie in."""
    state, config = tmp_path / "state", tmp_path / "aeond.toml"
    state.mkdir()
    for file in (state / "journal.db", config):
        file.write_text("7321", encoding="utf-8")
    tool = await tool_named("peek", Bubblewrap(hidden=[state, config]))
    assert (await called(tool, tmp_path, text=str(state / "journal.db")))["file"] == "FileNotFoundError"
    assert (await called(tool, tmp_path, text=str(config)))["file"] in {"", "PermissionError"}


async def test_a_hidden_place_cannot_be_moved(tmp_path: Path) -> None:
    """A tool whose workspace has the daemon's state in it cannot rename the folders above the state, which a later
    call would then find unhidden: an attack that worked while only the place's old path was covered.
    """
    state = tmp_path / "local" / "state"
    state.mkdir(parents=True)
    (state / "journal.db").write_text("7321", encoding="utf-8")
    sandbox = Bubblewrap(hidden=[state])
    with pytest.raises(ToolError, match="Device or resource busy"):
        await called(await tool_named("rename", sandbox), tmp_path, text="local")
    seen = await called(
        await tool_named("peek", sandbox), tmp_path, text=str(tmp_path / "renamed/state/journal.db")
    )
    assert seen["file"] == "FileNotFoundError"
    assert (state / "journal.db").exists()


async def test_hidden_places_beside_each_other_stay_hidden(tmp_path: Path) -> None:
    """Places that share a folder are all hidden, and one inside another: the mounts for the second one used to show the
    first again.
    """
    places = [tmp_path / ".local" / name for name in ("state/aeond", "state/aeond/run", "share/aeond")]
    for place in places:
        place.mkdir(parents=True)
        (place / "key").write_text("7321", encoding="utf-8")
    tool = await tool_named("peek", Bubblewrap(hidden=places))
    for place in places:
        assert (await called(tool, tmp_path, text=str(place / "key")))["file"] == "FileNotFoundError"


async def test_a_missing_place_of_the_daemon_is_not_created_by_a_tool(tmp_path: Path) -> None:
    """Where a program could create a folder that the daemon trusts, at any depth, it is not run; where it may change
    nothing, it is.
    """
    build = tmp_path / ".local" / "share" / "aeond" / "llama"
    sandbox = Bubblewrap(hidden=[build])
    for depth in (tmp_path, tmp_path / ".local", build.parent):
        depth.mkdir(exist_ok=True, parents=True)
        with pytest.raises(ToolError, match="does not exist") as refused:
            await called(await tool_named("write", sandbox), tmp_path, text=".local/planted")
        assert refused.value.reason == "WORKSPACE_REFUSED"
    with ExitStack() as stack:
        View(stack).show(str(tmp_path), [build], Conditions({"": False}))
    build.mkdir()
    with pytest.raises(ToolError, match="Device or resource busy"):
        await called(await tool_named("rename", sandbox), tmp_path, text=".local")


async def test_a_tool_does_not_change_the_code_of_the_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment inside the workspace from which the daemon runs is read-only, and so is a workspace inside it."""
    code = tmp_path / "venv" / "lib"
    (code / "package").mkdir(parents=True)
    monkeypatch.setattr("aeond.capabilities.sandbox.bubblewrap.own_code", lambda: [str(code)])
    tool = await tool_named("write", Bubblewrap())
    for workspace, name in ((tmp_path, "venv/lib/x.py"), (code, "x.py"), (code / "package", "x.py")):
        with pytest.raises(ToolError, match="Read-only file system"):
            await called(tool, workspace, text=name)
    assert await called(tool, tmp_path, text="venv/notes.txt") == ["venv/notes.txt"]


async def test_a_hidden_place_is_found_by_what_it_is(tmp_path: Path) -> None:
    """A workspace whose path was replaced by a link is refused, so that the daemon's files are not shown under the
    link's name while their real path is hidden.
    """
    state, link = tmp_path / "real" / "state", tmp_path / "link"
    state.mkdir(parents=True)
    (state / "journal.db").write_text("7321", encoding="utf-8")
    link.symlink_to("real")
    with pytest.raises(ToolError) as caught:
        await called(
            await tool_named("peek", Bubblewrap(hidden=[state])),
            link,
            text=str(link / "state" / "journal.db"),
        )
    assert caught.value.reason == "WORKSPACE_MISSING"


async def test_the_first_process_has_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bubblewrap, whose environment /proc/1/environ shows to the sandbox, is started with none: keys in the daemon's
    environment were read there.
    """
    monkeypatch.setenv("AEOND_TEST_SECRET", "7321")
    before = set(psutil.Process().children(recursive=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(called, await tool_named("hold", Bubblewrap()), text="86394.5"))
        with anyio.fail_after(30):
            while not sleepers("86394.5"):
                await anyio.lowlevel.checkpoint()
        started = set(psutil.Process().children(recursive=True)) - before
        assert [name for one in started for name in one.environ() if name.startswith("AEOND")] == []
        assert any(one.name() == "bwrap" for one in started)
        tasks.cancel_scope.cancel()


async def test_only_the_workspace_can_be_written_to(tmp_path: Path) -> None:
    """Files that a tool writes outside its workspace vanish, and writes to the system fail."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    tool = await tool_named("write", Bubblewrap())
    await called(tool, workspace, text="../beside")
    assert os.listdir(tmp_path) == ["workspace"]
    with pytest.raises(ToolError, match="Read-only file system"):
        await called(tool, workspace, text="/usr/new")


async def test_a_missing_bubblewrap_is_reported() -> None:
    """Without bubblewrap nothing runs, and the error says what to install."""
    with pytest.raises(InvalidInputError, match="apt-get install bubblewrap") as caught:
        await tool_named("write", Bubblewrap("no-such-bwrap"))
    assert caught.value.reason == "SANDBOX_UNAVAILABLE"


async def test_how_a_process_ended_is_reported() -> None:
    """A process that ends without an answer is named with its exit code and the last line that it said."""
    with pytest.raises(ToolError, match="exit code 3; so long"):
        await called(await tool_named("leave", Bubblewrap()), number=3)


def test_the_profile_names_the_layers(tmp_path: Path) -> None:
    """Another set of hidden files or of layers is another profile; the same sandbox has the same one."""
    own, shown = Bubblewrap(hidden=[tmp_path]), Bubblewrap()
    grouped = Bubblewrap(groups=GroupHome((tmp_path,), unified=True))
    assert own.profile == Bubblewrap(hidden=[tmp_path]).profile
    assert len({own.profile, shown.profile, grouped.profile}) == 3
    assert shown.profile.startswith("bubblewrap+seccomp")
    assert "+cgroup" in grouped.profile


def test_an_error_of_the_errand_is_not_taken_for_one_of_its_group(tmp_path: Path) -> None:
    """What fails while a control group is used keeps its own error."""
    with pytest.raises(BrokenPipeError), made_group(GroupHome((tmp_path,), unified=False), 1 << 20):
        raise BrokenPipeError
