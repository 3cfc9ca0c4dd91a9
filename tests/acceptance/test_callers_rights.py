"""A daemon of root's uses the folders of other users with their rights, in tools of every kind."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aeond.user_rights import UserRights
from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.errors import AeondError
from aeond_client.events import InputRequested, RunEnded
from aeond_client.records.runs import Plan, PlanStep, StepState
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.collecting import Collector
from tests.support.outsiders import as_user, open_folder
from tests.support.stages import staged

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")

USER, GROUP, CLUB = 12_351, 12_352, 12_353
ANN = UserRights(USER, GROUP, (CLUB,))
SECRET = "the gate code is 7714"
TOOL = '''
from pathlib import Path

from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import Effect, ToolContext


class Nothing(BaseModel):
    """No arguments."""


class Seen(BaseModel):
    text: str


@tool(effect=Effect.READ, example={})
async def peek(arguments: Nothing, context: ToolContext) -> Seen:
    """Reads the private file."""
    return Seen(text=Path(context.workspace, "private.txt").read_text())


TOOLS = [peek]
'''


@pytest.fixture
def home() -> Iterator[Path]:
    """Ann's folder, with files that she may read and files that she may not, one of them through a link."""
    with open_folder() as folder:
        home = folder / "ann"
        (home / "locked").mkdir(parents=True)
        (home / "shown").mkdir()
        for name, mode, uid, gid in (
            ("own.txt", 0o600, USER, GROUP),
            ("club.txt", 0o640, 0, CLUB),
            ("private.txt", 0o600, 0, 0),
            ("not_for_the_club.txt", 0o604, 0, CLUB),
            ("only_read.txt", 0o644, 0, 0),
            ("locked/inside.txt", 0o644, 0, 0),
            ("shown/by_root.txt", 0o644, 0, 0),
        ):
            (home / name).write_text(SECRET, encoding="utf-8")
            os.chown(home / name, uid, gid)
            (home / name).chmod(mode)
        (home / "link.txt").symlink_to("private.txt")
        (home / "locked").chmod(0o700)
        os.chown(home, USER, GROUP)
        yield home


def served(folder: Path, **more: Any) -> Any:
    """A daemon of root's that every user may use; with its own files where only root reads them."""
    folder.chmod(0o755)
    sections = {"socket": {"mode": "0666"}, "policy": {"profile": "trusted-folder"}, **more}
    return staged(folder, sections)


FORBIDDEN = [
    ("read_file", {"path": "private.txt"}),
    ("read_file", {"path": "link.txt"}),
    ("read_file", {"path": "not_for_the_club.txt"}),
    ("read_file", {"path": "locked/inside.txt"}),
    ("list_dir", {"path": "locked"}),
    ("write_file", {"path": "private.txt", "content": "x"}),
    ("write_file", {"path": "only_read.txt", "content": "x"}),
    ("write_file", {"path": "shown/new.txt", "content": "x"}),
    ("write_file", {"path": "locked/new.txt", "content": "x"}),
    ("append_file", {"path": "only_read.txt", "text": "x"}),
    ("delete_file", {"path": "shown/by_root.txt"}),
    ("move_file", {"path": "own.txt", "to": "shown/own.txt"}),
]


def test_tools_have_the_rights_of_the_caller(folder: Path, home: Path) -> None:
    """Files that the user may read, by uid or group, are read, and new files are the user's; others are not read, written,
    listed, deleted or moved with the rights of root, also through a link.
    """
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    with served(folder) as stage, as_user(ANN), Client(stage.socket) as client:
        for name in ("own.txt", "club.txt", "only_read.txt"):
            result = client.call_tool("read_file", {"path": name}, workspace=str(home))
            assert SECRET in str(result.data), (name, result.error)
        for tool, arguments in FORBIDDEN:
            result = client.call_tool(tool, arguments, workspace=str(home))
            assert (result.success, result.reason) == (False, "FILE_FORBIDDEN"), (tool, arguments, result)
        found = client.call_tool("search_files", {"text": "gate code"}, workspace=str(home))
        assert "own.txt" in str(found.data), found.error
        for name in ("private.txt", "link.txt", "not_for_the_club.txt", "inside.txt"):
            assert name not in str(found.data)
        made = client.call_tool("write_file", {"path": "a/new.txt", "content": "x"}, workspace=str(home))
        assert made.success, made.error
    for path in (home / "a", home / "a" / "new.txt"):
        assert (path.stat().st_uid, path.stat().st_gid) == (USER, GROUP)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_folder_that_the_caller_cannot_enter_is_no_workspace(folder: Path, home: Path) -> None:
    """A user gets the same answer about a folder in root's hands, a file, and a folder that does not exist."""
    with served(folder) as stage, as_user(ANN), Client(stage.socket) as client:
        for name in ("locked", "locked/inside.txt", "missing", "own.txt"):
            workspace = str(home / name)
            with pytest.raises(AeondError) as called:
                client.call_tool("list_dir", {}, workspace=workspace)
            with pytest.raises(AeondError) as created:
                client.create_run("go", RunOptions(workspace=workspace))
            assert {called.value.reason, created.value.reason} == {"WORKSPACE_UNUSABLE"}


@pytest.mark.parametrize("restarted", [False, True], ids=["same daemon", "restarted"])
def test_a_run_keeps_the_rights_of_its_user(folder: Path, home: Path, restarted: bool) -> None:
    """A run that continues after an answer, also with the next daemon and when root answers, reads as its user, writes as
    its user, and is undone as its user.
    """
    plan = Plan(
        "ask and work",
        (
            PlanStep("s1", "ask", "request_user_input", {"prompt": "Go on?"}),
            PlanStep("s2", "read", "read_file", {"path": "link.txt"}, depends_on=("s1",)),
            PlanStep("s3", "write", "write_file", {"path": "own.txt", "content": "y"}, depends_on=("s1",)),
        ),
    )
    with served(folder) as stage:
        with as_user(ANN), Client(stage.socket) as client:
            run_id = client.create_run("go", RunOptions(plan=plan, workspace=str(home))).run_id
            with Collector(stage.socket, run_id) as seen:
                seen.wait_for(InputRequested)
        if restarted:
            stage.daemon.restart()
        with Client(str(stage.daemon.admin_socket)) as admin:
            admin.answer_run(run_id, "yes")
            with Collector(str(stage.daemon.admin_socket), run_id) as seen:
                seen.wait_for(RunEnded)
            states = {step.plan_step.step_id: step.state for step in admin.get_run(run_id).steps}
            assert (states["s2"], states["s3"]) == (StepState.FAILED, StepState.SUCCEEDED)
            assert SECRET not in str(admin.get_run(run_id))
            own = home / "own.txt"
            assert (own.read_text(encoding="utf-8"), own.stat().st_uid) == ("y", USER)
            assert len(admin.undo_run(run_id).undone) == 1
            assert (own.read_text(encoding="utf-8"), own.stat().st_uid) == (SECRET, USER)


def test_a_tool_inside_the_daemon_is_not_called_for_others(folder: Path, home: Path) -> None:
    """A tool file that runs in the daemon, and reads with its rights, is refused in another user's folder."""
    file = folder / "peek.py"
    file.write_text(TOOL, encoding="utf-8")
    with served(folder, tools={"files": [str(file)]}) as stage:
        with as_user(ANN), Client(stage.socket) as client:
            refused = client.call_tool("peek", {}, workspace=str(home))
            assert (refused.success, refused.reason) == (False, "TOOL_NOT_CONFINED")
        with Client(stage.socket) as client:
            assert client.call_tool("peek", {}, workspace=str(home)).success


@needs_bubblewrap
def test_a_sandboxed_tool_has_the_rights_of_the_caller(folder: Path, home: Path) -> None:
    """A sandboxed tool does not read a private file of root's in the user's folder: the sandbox is started for the user, or
    not at all if the user cannot read Python.
    """
    file = folder / "peek.py"
    file.write_text(TOOL, encoding="utf-8")
    tools = {"files": [str(file)], "sandboxed": ["peek"], "sandbox": "bwrap"}
    with served(folder, tools=tools) as stage:
        with as_user(ANN), Client(stage.socket) as client:
            refused = client.call_tool("peek", {}, workspace=str(home))
            assert not refused.success
            assert refused.reason in ("TOOL_RAISED", "SANDBOX_UNAVAILABLE")
            assert "Permission denied" in refused.error
        with Client(stage.socket) as client:
            assert SECRET in str(client.call_tool("peek", {}, workspace=str(home)))
