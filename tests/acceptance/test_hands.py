"""Programs, git and documents in a real daemon: its page typed word by word, and a run that people watch."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aeond_client import Client, RunOptions
from aeond_client.events import StepEnded, TextDelta
from aeond_client.records.runs import Plan, PlanStep
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.daemon_process import DaemonProcess
from tests.support.newcomer import newcomer
from tests.support.stages import planned
from tests.support.tutorial import HANDS, blocks

SORT = {"tool": "run_command", "arguments": {"argv": ["sort", "-n", "-o", "sorted.txt", "amounts.txt"]}}
SCRIPT = {
    "rules": [
        {"contains": "reply only: @tools", "text": "@tools"},
        planned("Sort the amounts", SORT),
        {"text": "They are sorted."},
    ]
}
WAITING = "echo ready; while ! test -s go; do sleep 0.02; done; echo new > made.txt"

pytestmark = needs_bubblewrap


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(tmp_path / "daemon")
    daemon.folder.mkdir()
    daemon.start()
    yield daemon
    daemon.kill()


def test_a_program_is_watched_reported_and_undone(daemon: DaemonProcess, tmp_path: Path) -> None:
    """A client sees the output while the program runs, its change in the step's end, and can undo it."""
    work = tmp_path / "work"
    work.mkdir()
    plan = Plan("wait", (PlanStep("s1", tool="run_command", arguments={"argv": ["sh", "-c", WAITING]}),))
    with Client(daemon.address) as client:
        run = client.create_run("wait", RunOptions(plan=plan, workspace=str(work)))
        shown, ended = "", []
        for event in client.watch(run.run_id):
            match event.kind:
                case TextDelta(step_id="s1", text=text):
                    shown += text
                    (work / "go").write_text("go", encoding="utf-8")
                case StepEnded():
                    ended.append(event.kind)
                case _:
                    pass
        assert shown == "ready\n"
        (end,) = ended
        assert [(effect.kind, effect.target) for effect in end.effects[1:]] == [
            ("file.created", "go"),
            ("file.created", "made.txt"),
        ]
        assert [undone.target for undone in client.undo_run(run.run_id).undone] == ["made.txt", "go"]
    assert list(work.iterdir()) == []


def test_clients_may_call_them_by_default(daemon: DaemonProcess) -> None:
    """The tools that need a sandbox exist where there is one, without any configuration."""
    with Client(daemon.address) as client:
        names = {tool.name for tool in client.list_tools()}
    assert {"run_command", "run_python", "read_document", "git_status", "git_diff", "git_commit"} <= names


@pytest.mark.slow
def test_the_page_about_hands_is_right() -> None:
    """Every command of the page succeeds and prints what the page shows."""
    printed = [""]
    with newcomer(SCRIPT) as (first, second):
        for block in blocks(HANDS):
            match block.language, block.place:
                case "sh", "terminal-1":
                    first.type(block.text)
                case "sh", "terminal-2":
                    printed.append(second.type(block.text))
                case _:
                    assert (block.language, printed[-1]) == ("text", block.text)
    assert "tools may run programs" in "".join(printed)
    assert "4\n30\n200\n" in "".join(printed)
