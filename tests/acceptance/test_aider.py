"""Aider in a real daemon: a proposal, its approval, a daemon killed in the middle, and a real model."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aeond.daemon.config.paths import usual_build
from aeond_client import Client, RunOptions
from aeond_client.events import ApprovalRequested, TextDelta
from aeond_client.records.runs import Budget, Plan, PlanStep, RunState, StepState
from tests.support.aider import RIGHT, SAID, TASK, TEST, WRONG, failing_project, needs_aider, stand_in
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.newcomer import Shell, newcomer
from tests.support.tutorial import AIDER, blocks

pytestmark = needs_bubblewrap

PATIENCE_SECONDS = 600.0
PLAN = Plan(
    "make the test green",
    (
        PlanStep("s1", tool="aider", arguments={"task": TASK, "test": [*TEST]}),
        PlanStep("s2", tool="apply_changes", arguments={"proposal": "$s1.proposal"}, depends_on=("s1",)),
    ),
)


@contextmanager
def daemon_with_aider(rules: list[Any], **overrides: Any) -> Iterator[tuple[DaemonProcess, Path]]:
    """A daemon with an Aider, by default the stand-in, and a repository whose test fails."""
    with daemon_folder() as folder:
        sections = {"aider": {"environment": str(stand_in(folder / "environment"))}, **overrides}
        daemon = DaemonProcess(folder, sections)
        write_script(daemon, rules)
        with daemon:
            yield daemon, failing_project(folder / "project")


def write_script(daemon: DaemonProcess, rules: list[Any]) -> None:
    daemon.script.write_text(json.dumps({"rules": rules}), encoding="utf-8")


def test_the_change_reaches_the_tree_after_approval() -> None:
    """The approval shows the diff, the tree is as before until it is given, and the model's use is the run's."""
    with (
        daemon_with_aider([{"text": SAID}], policy={"profile": "ask"}) as (daemon, project),
        Client(daemon.address) as client,
    ):
        run_id = client.create_run("go", RunOptions(plan=PLAN, workspace=str(project))).run_id
        with Collector(daemon.address, run_id) as seen:
            for number in (1, 2):
                came = seen.wait(lambda seen, number=number: _asked(seen) == number, PATIENCE_SECONDS)  # type: ignore[misc]
                assert came, seen.numbered[-3:]
                (approval,) = client.get_run(run_id).approvals
                assert (project / "calc.py").read_text(encoding="utf-8") == WRONG
                client.decide_approval(run_id, approval.approval_id, approval.digest, True)
            assert "-    return a - b\n+    return a + b\n" in approval.previews[0].diff
            seen.wait_for_end(PATIENCE_SECONDS)
        run = client.get_run(run_id)
        assert (run.state, (project / "calc.py").read_text(encoding="utf-8")) == (RunState.SUCCEEDED, RIGHT)
        assert (run.used.llm_calls, run.used.tokens > 0) == (1, True)
        client.undo_run(run_id)
        assert (project / "calc.py").read_text(encoding="utf-8") == WRONG


def test_a_killed_daemon_does_the_step_again() -> None:
    """After SIGKILL while Aider works the tree is untouched, and the next daemon repeats the step and ends the run."""
    with (
        daemon_with_aider([{"text": SAID, "stall": True}]) as (daemon, project),
        Client(daemon.address) as client,
    ):
        before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
        run_id = client.create_run("go", RunOptions(plan=PLAN, workspace=str(project))).run_id
        with Collector(daemon.address, run_id) as seen:
            seen.wait_for(TextDelta, PATIENCE_SECONDS)
            daemon.kill()
            assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
            write_script(daemon, [{"text": SAID}])
            daemon.start()
            seen.wait_for_end(PATIENCE_SECONDS)
        run = client.get_run(run_id)
        assert (run.state, (project / "calc.py").read_text(encoding="utf-8")) == (RunState.SUCCEEDED, RIGHT)
        assert list((daemon.state_dir / "aider/copies").iterdir()) == []


def test_a_cancelled_run_stops_aider() -> None:
    """Cancelling a run ends the step at once, though the model would never answer."""
    with (
        daemon_with_aider([{"text": SAID, "stall": True}]) as (daemon, project),
        Client(daemon.address) as client,
    ):
        run_id = client.create_run("go", RunOptions(plan=PLAN, workspace=str(project))).run_id
        with Collector(daemon.address, run_id) as seen:
            seen.wait_for(TextDelta, PATIENCE_SECONDS)
            client.cancel_run(run_id)
            seen.wait_for_end(PATIENCE_SECONDS)
        run = client.get_run(run_id)
        assert (run.state, run.steps[0].state) == (RunState.CANCELLED, StepState.SKIPPED)


@needs_aider
@pytest.mark.slow
def test_the_page_about_aider_is_right() -> None:
    """Every command of the page succeeds and prints what the page shows."""
    printed = [""]
    with newcomer({"rules": [{"text": SAID}]}) as (first, second):
        for block in blocks(AIDER):
            match block.language, block.place:
                case "sh", "terminal-1":
                    first.type(block.text)
                case "sh", "terminal-2":
                    printed.append(second.type(block.text))
                case "console", "aider":
                    show_as_printed(second, block.text)
                case _:
                    assert (block.language, printed[-1].strip("\n")) == ("text", block.text.strip("\n"))


def show_as_printed(shell: Shell, text: str) -> None:
    """Types the first line into the shell and those after `> ` into Aider; the others are on the screen, in order."""
    first, *lines = text.splitlines()
    with shell.at_terminal(first.removeprefix("$ ")) as shown:
        for line in lines:
            if line.startswith("> "):
                shown.wait("> ")
                shown.type(f"{line.removeprefix('> ')}\r")
            else:
                shown.wait(line)
        assert shown.end() == 0


@needs_aider
@pytest.mark.model
@pytest.mark.slow
def test_the_default_model_makes_a_test_green_though_the_daemon_is_killed() -> None:
    """The real Aider and the default model change the function so that its test passes, over a kill in the middle."""
    model = {
        "engine": "llama_cpp",
        "models_dir": str(Path.home() / ".cache" / "aeond" / "models"),
        "script": "",
        "context_tokens": 8192,
        "yields_memory": False,
    }
    with (
        daemon_with_aider(
            [], model=model, aider={"environment": str(usual_build("aider"))}, runs={"max_running": 2}
        ) as (daemon, project),
        Client(daemon.address) as client,
    ):
        task = "test_calc.py fails: add in calc.py returns the difference. Let it return the sum."
        steps = (PlanStep("s1", tool="aider", arguments={"task": task, "test": [*TEST]}), PLAN.steps[1])
        budget = Budget(llm_calls=30, tokens=200_000, wall_seconds=PATIENCE_SECONDS)
        options = RunOptions(plan=Plan(PLAN.goal, steps), workspace=str(project), budget=budget)
        run_id = client.create_run("go", options).run_id
        with Collector(daemon.address, run_id) as seen:
            seen.wait_for(TextDelta, PATIENCE_SECONDS)
            daemon.restart()
            seen.wait_for_end(PATIENCE_SECONDS)
        run = client.get_run(run_id)
        assert run.state is RunState.SUCCEEDED, run.steps
        assert run.steps[0].output["test"]["after"] == 0
        assert run.used.tokens > 0


def _asked(seen: Collector) -> int:
    return len([event for event in seen.numbered if isinstance(event.kind, ApprovalRequested)])
