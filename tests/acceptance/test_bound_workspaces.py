"""A run works in the folder that it was bound to, and nowhere else, with the real daemon."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.events import InputRequested, RunEnded, RunSuspended
from aeond_client.records.runs import Plan, PlanStep, Resolution, Run, RunState, StepState
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.collecting import Collector
from tests.support.repository import ROOT
from tests.support.stages import Stage, staged

READ = ("read_file", {"path": "note.txt"})
WRITE = ("write_file", {"path": "note.txt", "content": "planted"})
SANDBOXED = ("write", {"text": "note.txt", "number": 7})


def asking(tool: str, arguments: dict[str, Any]) -> Plan:
    """A person is asked, then a tool works in the workspace."""
    return Plan(
        "ask and work",
        (
            PlanStep("s1", "ask", "request_user_input", {"prompt": "Go on?"}),
            PlanStep("s2", "work", tool, arguments, depends_on=("s1",)),
        ),
    )


def replace_by_link(workspace: Path, outside: Path) -> None:
    workspace.rename(workspace.with_name("moved"))
    workspace.symlink_to(outside)


def replace_by_folder(workspace: Path, outside: Path) -> None:
    workspace.rename(workspace.with_name("moved"))
    outside.rename(workspace)
    shutil.copytree(workspace, outside)


def put_back(workspace: Path) -> None:
    if workspace.is_symlink():
        workspace.unlink()
    else:
        shutil.rmtree(workspace)
    workspace.with_name("moved").rename(workspace)


def seen_until(stage: Stage, run_id: str, kind: type) -> None:
    with Collector(stage.socket, run_id) as seen:
        seen.wait_for(kind)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A workspace, and a folder outside of it with a private note."""
    workspace, outside = tmp_path / "workspace-of-run", tmp_path / "outside"
    for folder, text in ((workspace, "mine"), (outside, "private")):
        folder.mkdir()
        (folder / "note.txt").write_text(text, encoding="utf-8")
    return workspace, outside


@pytest.mark.parametrize("restarted", [False, True], ids=["same daemon", "restarted"])
@pytest.mark.parametrize("swap", [replace_by_link, replace_by_folder])
@pytest.mark.parametrize("work", [READ, WRITE], ids=["read", "write"])
def test_a_run_does_not_follow_a_swapped_folder(
    request: pytest.FixtureRequest,
    places: tuple[Path, Path],
    work: tuple[str, dict[str, str]],
    swap: Callable[[Path, Path], None],
    restarted: bool,
) -> None:
    """A run whose folder is replaced by a link or another folder while it waits for an answer, which had private files
    read and written there, is suspended with the reason, and continues when a person has put the folder back.
    """
    workspace, outside = places
    stage: Stage = request.getfixturevalue("stage" if restarted else "shared")
    with Client(stage.socket) as client:
        run = client.create_run("go", RunOptions(plan=asking(*work), workspace=str(workspace)))
        seen_until(stage, run.run_id, InputRequested)
    swap(workspace, outside)
    if restarted:
        stage.daemon.restart()
    with Client(stage.socket) as client:
        client.answer_run(run.run_id, "yes")
        seen_until(stage, run.run_id, RunSuspended)
        held = client.get_run(run.run_id)
        assert (held.state, held.suspend_reason) == (RunState.SUSPENDED, "workspace_changed")
        assert (outside / "note.txt").read_text(encoding="utf-8") == "private"
        put_back(workspace)
        client.decide_run(run.run_id, Resolution.RETRY)
        seen_until(stage, run.run_id, RunEnded)
        assert step(client.get_run(run.run_id), "s2") is StepState.SUCCEEDED
    assert (outside / "note.txt").read_text(encoding="utf-8") == "private"


def test_a_folder_that_is_missing_still_is_refused_to_the_tools(
    shared: Stage, places: tuple[Path, Path]
) -> None:
    """A run that a person continues although its folder is still another one reads nothing there."""
    workspace, outside = places
    with Client(shared.socket) as client:
        run = client.create_run("go", RunOptions(plan=asking(*READ), workspace=str(workspace)))
        seen_until(shared, run.run_id, InputRequested)
        replace_by_link(workspace, outside)
        client.answer_run(run.run_id, "yes")
        seen_until(shared, run.run_id, RunSuspended)
        client.decide_run(run.run_id, Resolution.RETRY)
        seen_until(shared, run.run_id, RunEnded)
        (failed,) = (one for one in client.get_run(run.run_id).steps if one.plan_step.step_id == "s2")
        assert failed.state is not StepState.SUCCEEDED
        assert "private" not in str(client.get_run(run.run_id))


@needs_bubblewrap
def test_a_sandbox_does_not_follow_a_swapped_folder(tmp_path: Path, places: tuple[Path, Path]) -> None:
    """The same swap does not reach the daemon's own files through a sandboxed tool, to which they were hidden under their
    real path and shown under the link's.
    """
    workspace, _ = places
    tools = tmp_path / "tools"
    tools.mkdir()
    shutil.copy(ROOT / "tests" / "support" / "sandbox_tools.py", tools)
    stage_folder = tmp_path / "stage"
    stage_folder.mkdir()
    with staged(stage_folder, {"tools": {"folders": [str(tools)], "sandbox": "bwrap"}}) as stage:
        state = stage.daemon.state_dir
        before = sorted(path.name for path in state.iterdir())
        with Client(stage.socket) as client:
            run = client.create_run("go", RunOptions(plan=asking(*SANDBOXED), workspace=str(workspace)))
            seen_until(stage, run.run_id, InputRequested)
            replace_by_link(workspace, state)
            client.answer_run(run.run_id, "yes")
            seen_until(stage, run.run_id, RunSuspended)
        assert sorted(path.name for path in state.iterdir()) == before
        assert not (state / "note.txt").exists()


def step(run: Run, step_id: str) -> StepState:
    return next(one.state for one in run.steps if one.plan_step.step_id == step_id)
