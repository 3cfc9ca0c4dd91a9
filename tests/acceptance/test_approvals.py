"""Calls that wait for approval: the real program, policy and tools."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.errors import WrongStateError
from aeond_client.events import ApprovalRequested
from aeond_client.records.runs import Plan, PlanStep, RunState, StepState
from tests.support.aeonctl import command, environment
from tests.support.collecting import Collector
from tests.support.daemon_process import Overrides, daemon_folder
from tests.support.ledgers import TOOL_FILE, deed
from tests.support.screens import terminal
from tests.support.stages import Stage, staged

REPORT = "12 failures\n"
CONTENT = "all is well\n"


SETTINGS: Overrides = {"policy": {"profile": "ask"}, "approvals": {"attend_seconds": 0.2}}


@pytest.fixture
def stage(folder: Path) -> Iterator[Stage]:
    """A daemon with the profile that asks, and a file to be overwritten."""
    with staged(folder, SETTINGS) as stage:
        (stage.workspace / "report.txt").write_text(REPORT)
        yield stage


@pytest.fixture(scope="module")
def stage_of_module() -> Iterator[Stage]:
    """Such a daemon for the tests that do not stop it."""
    with daemon_folder() as folder, staged(folder, SETTINGS) as stage:
        yield stage


@pytest.fixture
def shared(stage_of_module: Stage, tmp_path: Path) -> Stage:
    """This daemon, with a file to be overwritten."""
    stage = stage_of_module.at(tmp_path / "workspace")
    (stage.workspace / "report.txt").write_text(REPORT)
    return stage


def overwrite(stage: Stage) -> str:
    arguments = {"path": "report.txt", "content": CONTENT}
    return stage.plan_file(Plan("", (PlanStep("s1", "", "write_file", arguments),)))


def report(stage: Stage) -> str:
    return (stage.workspace / "report.txt").read_text()


@pytest.mark.parametrize(("typed", "code", "left"), [("yes", 0, CONTENT), ("", 1, REPORT)])
async def test_ask_shows_the_diff_and_does_what_is_said(
    shared: Stage, typed: str, code: int, left: str
) -> None:
    """At the terminal the change of the file is shown before it is made; a plain Enter leaves the file as it was."""
    variables = environment(AEOND_SOCKET=shared.socket, TERM="xterm-256color")
    ask = command("ask", "--plan", overwrite(shared), "--workspace", str(shared.workspace))
    async with terminal(ask, environment=variables, columns=100, lines=30) as shown:
        await shown.read_until("Allow?")
        assert "     | -12 failures" in shown.screen.text
        assert "     | +all is well" in shown.screen.text
        assert report(shared) == REPORT
        shown.press(f"{typed}\n")
        assert await shown.read_to_end() == code
    assert report(shared) == left


async def test_an_approval_survives_a_killed_daemon(stage: Stage) -> None:
    """After SIGKILL while a run waits the approval is open as before; the first decision counts, the next is refused."""
    asked = await stage.aeonctl("ask", "--detach", "--plan", overwrite(stage))
    run_id = asked.out.strip()
    with Client(stage.socket) as client:
        with Collector(stage.socket, run_id) as seen:
            seen.wait_for(ApprovalRequested)
            before = client.get_run(run_id).approvals
            stage.daemon.restart()
            assert client.get_run(run_id).approvals == before
            client.decide_approval(run_id, before[0].approval_id, before[0].digest, True)
            seen.wait_for_end()
        with pytest.raises(WrongStateError, match="not open"):
            client.decide_approval(run_id, before[0].approval_id, before[0].digest, False)
        run = client.get_run(run_id)
    assert (run.state, run.steps[0].state, report(stage)) == (
        RunState.SUCCEEDED,
        StepState.SUCCEEDED,
        CONTENT,
    )


async def test_an_unwatched_run_is_suspended_and_denied(shared: Stage) -> None:
    """Without a watcher the run is suspended with the reason; denied later, it ends without having changed anything."""
    run_id = (
        await shared.aeonctl("ask", "--unattended", "--detach", "--plan", overwrite(shared))
    ).out.strip()
    left = await shared.aeonctl("watch", run_id)
    assert (left.code, "aeonctl approvals deny" in left.err) == (6, True)
    assert (await shared.aeonctl("approvals", "deny", "last")).code == 0
    assert (await shared.aeonctl("watch", run_id)).code == 1
    with Client(shared.socket) as client:
        assert client.get_run(run_id).steps[0].reason == "APPROVAL_DENIED"
    assert report(shared) == REPORT


def test_a_file_behind_a_new_link_is_asked_about_again(shared: Stage) -> None:
    """A plan is approved as a whole, and a link is made while its first step runs: the file that the second step would
    replace is not the one that was shown, and the second step is asked about again with the reason for that file."""
    config = shared.workspace / ".git" / "config"
    config.parent.mkdir()
    config.write_text("as it was\n")
    gate = shared.gate()
    write = PlanStep("s2", "", "write_file", {"path": "out/config", "content": CONTENT}, depends_on=("s1",))
    with Client(shared.socket) as client:
        options = RunOptions(
            plan=Plan("", (deed("s1", "run", gate=gate), write)), workspace=str(shared.workspace)
        )
        run_id = client.create_run("work and write", options).run_id
        with Collector(shared.socket, run_id) as seen:
            assert seen.wait(lambda seen: _asked(seen) == 1)
            (shown,) = client.get_run(run_id).approvals
            assert (shown.step_ids, ".git" in shown.message) == (("s1", "s2"), False)
            client.decide_approval(run_id, shown.approval_id, shown.digest, True)
            (shared.workspace / "out").symlink_to(".git")
            gate.open()
            assert seen.wait(lambda seen: _asked(seen) == 2 or seen.has_ended)
            (again,) = client.get_run(run_id).approvals
            assert (again.step_ids, ".git" in again.message) == (("s2",), True)
            client.decide_approval(run_id, again.approval_id, again.digest, False)
            seen.wait_for_end()
    assert config.read_text() == "as it was\n"


def test_a_file_of_an_earlier_step_is_asked_about_once(shared: Stage) -> None:
    """One approval covers a plan that creates a file and adds to it, and replaces a file and edits it."""
    edit: dict[str, Any] = {"path": "Report.txt", "changes": [{"replace": "all", "with": "most"}]}
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("write_file", {"path": "lists/new.txt", "content": "a\n"}),
        ("append_file", {"path": "lists/new.txt", "text": "b"}),
        ("write_file", {"path": "report.txt", "content": CONTENT}),
        ("edit_file", edit),
    )
    steps = tuple(
        PlanStep(f"s{n}", "", tool, arguments, depends_on=(f"s{n - 1}",) if n > 1 else ())
        for n, (tool, arguments) in enumerate(calls, 1)
    )
    with Client(shared.socket) as client:
        options = RunOptions(plan=Plan("", steps), workspace=str(shared.workspace))
        run_id = client.create_run("write and edit", options).run_id
        with Collector(shared.socket, run_id) as seen:
            seen.wait_for(ApprovalRequested)
            (shown,) = client.get_run(run_id).approvals
            client.decide_approval(run_id, shown.approval_id, shown.digest, True)
            seen.wait_for_end()
    assert (_asked(seen), shown.step_ids) == (1, ("s1", "s2", "s3", "s4"))
    assert (shared.workspace / "lists" / "new.txt").read_text() == "a\nb\n"
    assert report(shared) == "most is well\n"


def test_a_changed_tool_is_asked_about_again(tmp_path: Path) -> None:
    """An approval does not hold for the code that replaced the tool's while the run waited; it is asked about again."""
    tool = tmp_path / "tools.py"
    tool.write_bytes(TOOL_FILE.read_bytes())
    tool.chmod(0o644)
    plan = Plan("", (PlanStep("s1", "", "run", {}),))
    changes: Overrides = {"tools": {"files": [str(tool)]}, "policy": {"profile": "ask"}}
    with staged(tmp_path, changes) as stage, Client(stage.socket) as client:
        run_id = client.create_run("run it", RunOptions(plan=plan)).run_id
        with Collector(stage.socket, run_id) as seen:
            for known in range(2):
                assert seen.wait(lambda seen, known=known: _asked(seen) > known)  # type: ignore[misc]
                assert stage.ledger.lines == []
                (open_one,) = client.get_run(run_id).approvals
                if known == 0:
                    tool.write_bytes(TOOL_FILE.read_bytes() + b"# replaced\n")
                    stage.daemon.restart()
                client.decide_approval(run_id, open_one.approval_id, open_one.digest, True)
            seen.wait_for_end()
        assert stage.ledger.ended(run_id) == {"s1": 1}
        assert _asked(seen) == 2


def _asked(seen: Collector) -> int:
    return len([event for event in seen.numbered if isinstance(event.kind, ApprovalRequested)])
