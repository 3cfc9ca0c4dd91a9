"""`aeonctl aider` on a real terminal: the terminal handed over, the changes applied after it, and the session that knows."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aeond.daemon.config.paths import usual_build
from aeond_client import Client
from aeond_client.events import StepStarted
from aeond_client.records.runs import Run, RunState
from tests.support.aeonctl import command, environment
from tests.support.aider import RIGHT, SAID, TASK, WRONG, failing_project, needs_aider, stand_in
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.pty_program import PtyProgram, pty_program

pytestmark = needs_bubblewrap


@contextmanager
def daemon_with(
    rules: list[Any], aider: Path | None = None, profile: str = "ask"
) -> Iterator[tuple[DaemonProcess, Path]]:
    """A daemon with an Aider, by default the stand-in, and a repository whose test fails."""
    with daemon_folder() as folder:
        sections = {
            "aider": {"environment": str(aider or stand_in(folder / "environment"))},
            "policy": {"profile": profile},
        }
        daemon = DaemonProcess(folder, sections)
        daemon.script.write_text(json.dumps({"rules": rules}), encoding="utf-8")
        with daemon:
            yield daemon, failing_project(folder / "project")


@contextmanager
def aeonctl(daemon: DaemonProcess, project: Path, *words: str) -> Iterator[PtyProgram]:
    variables = environment(AEOND_SOCKET=str(daemon.socket), TERM="xterm-256color")
    with pty_program(command("aider", "--workspace", str(project), *words), variables) as shown:
        yield shown


def runs(client: Client) -> list[Run]:
    """All runs, the oldest first."""
    return [client.get_run(run.run_id) for run in reversed(client.list_runs())]


def test_the_terminal_is_handed_over_and_the_changes_need_a_yes() -> None:
    """Keys, sizes and screens pass between the terminal and the sandbox; the files change only after the approval, and can
    be restored; the session has what was asked, the diff, and that it was applied."""
    with daemon_with([{"text": SAID}]) as (daemon, project), aeonctl(daemon, project, TASK) as shown:
        shown.wait("aider_interactive")
        shown.wait("Allow?")
        shown.type("yes\n")
        assert "xterm-256color has 30 100 at /dev/pts/" in shown.wait("ready>")
        shown.wait("a + b")
        shown.wait("ready>")
        shown.resize(20, 60)
        shown.type("/size\r")
        shown.wait("now 20 60")
        shown.type("/attack\r")
        shown.wait("drawn")
        assert (project / "calc.py").read_text(encoding="utf-8") == WRONG
        shown.wait("ready>")
        shown.type("/exit\r")
        shown.wait("+    return a + b")
        shown.wait("Allow?")
        assert (project / "calc.py").read_text(encoding="utf-8") == WRONG
        shown.type("yes\n")
        assert shown.end() == 0
        assert (project / "calc.py").read_text(encoding="utf-8") == RIGHT
        assert b"\x1b]52" not in shown.raw
        assert b"\x1b[21t" not in shown.raw
        with Client(daemon.address) as client:
            worked, applied = runs(client)
            assert worked.used.llm_calls == 1
            assert worked.session_id == applied.session_id != ""
            context = client.preview_context(worked.session_id).text
            assert all(said in context for said in (TASK, "/size", "+    return a + b", "calc.py"))
            client.undo_run(applied.run_id)
        assert (project / "calc.py").read_text(encoding="utf-8") == WRONG


def test_a_terminal_that_is_closed_leaves_a_proposal() -> None:
    """When the client dies, Aider is hung up, and the run ends with what was changed until then."""
    with daemon_with([{"text": SAID}], profile="trusted-folder") as (daemon, project):
        with aeonctl(daemon, project, TASK) as shown:
            shown.wait("a + b")
            shown.wait("ready>")
        with Client(daemon.address) as client:
            (run,) = runs(client)
            with Collector(daemon.address, run.run_id) as seen:
                seen.wait_for_end(60.0)
            (run,) = runs(client)
        effects = run.answer.effects if run.answer else ()
        assert (run.state, [effect.kind for effect in effects]) == (RunState.SUCCEEDED, ["changes.proposed"])
        assert (project / "calc.py").read_text(encoding="utf-8") == WRONG
        assert os.listdir(daemon.state_dir / "aider/copies") == []


def test_without_changes_nothing_is_asked() -> None:
    """A session that changes nothing ends well, and says so."""
    with (
        daemon_with([{"text": "It subtracts."}], profile="trusted-folder") as (daemon, project),
        aeonctl(daemon, project, "What does it do?") as shown,
    ):
        shown.wait("It subtracts.")
        shown.wait("ready>")
        shown.type("/exit\r")
        shown.wait("Nothing was changed.")
        assert shown.end() == 0


def test_after_a_restart_of_the_daemon_aider_starts_again() -> None:
    """A killed daemon cuts the session; the next one starts it again, and the same client lends its terminal again."""
    with (
        daemon_with([{"text": SAID}], profile="trusted-folder") as (daemon, project),
        aeonctl(daemon, project) as shown,
    ):
        shown.wait("ready>")
        daemon.kill()
        shown.wait("Aider was cut off")
        daemon.start()
        shown.wait("ready>")
        shown.type("/exit\r")
        assert shown.end() == 0
        with Client(daemon.address) as client:
            (run,) = runs(client)
            starts = [event for event in client.watch(run.run_id) if isinstance(event.kind, StepStarted)]
        assert len(starts) == 2


def test_a_cancelled_run_gives_the_terminal_back() -> None:
    """Cancelling the run ends Aider at once, and the terminal is as it was."""
    with (
        daemon_with([{"text": SAID, "stall": True}], profile="trusted-folder") as (daemon, project),
        aeonctl(daemon, project, TASK) as shown,
    ):
        shown.wait("ready>")
        with Client(daemon.address) as client:
            client.cancel_run(runs(client)[0].run_id)
        assert shown.end() == 5
        assert shown.raw.count(b"\x1b[?1049l") == 1


@needs_aider
@pytest.mark.slow
def test_the_real_aider_works_at_the_terminal() -> None:
    """The real Aider streams the model's answer, edits the copy, takes /undo, and ends; its edits become the proposal."""
    rules = [{"contains": "commit message", "text": "fix: add returns the sum"}, {"text": SAID}]
    with (
        daemon_with(rules, usual_build("aider"), "trusted-folder") as (daemon, project),
        aeonctl(daemon, project, TASK) as shown,
    ):
        shown.wait("Applied edit to calc.py")
        shown.wait("Commit")
        shown.wait("> ")
        shown.type("/undo\r")
        shown.wait("Removed:")
        shown.type(f"{TASK}\r")
        shown.wait("Applied edit to calc.py")
        shown.wait("Commit")
        shown.type("/exit\r")
        assert shown.end() == 0
        assert (project / "calc.py").read_text(encoding="utf-8") == RIGHT
