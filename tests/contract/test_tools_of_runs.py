"""Allow lists and profiles of tools, and the choice among many, in runs of the real daemon."""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator

import pytest

from aeond_client import (
    AeondError,
    Client,
    ClientTool,
    Plan,
    PlanStep,
    RunOptions,
    ServedTools,
    ToolSpec,
)
from aeond_client.events import RouteChosen, RunCreated
from tests.support.aeonctl import command
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.repository import ROOT

SECONDS = 30.0
SCRIPT = {
    "rules": [{"contains": "serves coffee", "json": {"answer": "shown"}}, {"json": {"answer": "not shown"}}]
}


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    """A real daemon with a profile, whose scripted model says whether it was shown a certain tool."""
    with daemon_folder() as folder:
        daemon = DaemonProcess(folder, {"tools.profiles": {"look": ["read_*", "list_dir"]}})
        daemon.script.write_text(json.dumps(SCRIPT), encoding="utf-8")
        with daemon:
            yield daemon


def many() -> list[ClientTool]:
    """Two hundred tools; one serves coffee."""

    def spec(number: int) -> ToolSpec:
        about = "Brews and serves coffee." if number == 77 else f"Moves lever {number}."
        return ToolSpec(f"tool{number:03}", about, "read", {"type": "object"}, {})

    return [ClientTool(spec(number), lambda _arguments, _context: None) for number in range(200)]


def test_a_run_calls_no_tool_that_is_not_allowed(daemon: DaemonProcess) -> None:
    """A client's plan with another tool is refused, one with an allowed tool is carried out."""
    plan = Plan("", (PlanStep("s1", "", "calculator", {"expression": "1+1"}),))
    with Client(daemon.socket) as client:
        for tools in (("calc*",), ("read_*",)):
            run = client.create_run("add", RunOptions(plan=plan, tools=tools))
            with client.watch(run.run_id) as events:
                kinds = [event.kind for event in events]
            run = client.get_run(run.run_id)
            created = next(kind for kind in kinds if isinstance(kind, RunCreated))
            assert created.tools == tools
            assert (run.steps[0].output == {"result": 2}) is (tools == ("calc*",))


def test_a_profile_is_written_into_the_run(daemon: DaemonProcess) -> None:
    """The run keeps the patterns of its profile; an unknown one is an error that lists the known ones."""
    with Client(daemon.socket) as client:
        run = client.create_run("look around", RunOptions(tool_profile="look"))
        with client.watch(run.run_id) as events:
            created = next(event.kind for event in events if isinstance(event.kind, RunCreated))
        assert created.tools == ("read_*", "list_dir")
        with pytest.raises(AeondError, match="look") as raised:
            client.create_run("look around", RunOptions(tool_profile="watch"))
    assert (raised.value.reason, raised.value.field) == ("TOOL_PROFILE_UNKNOWN", "request.tool_profile")


def test_of_two_hundred_tools_the_nearest_are_shown(daemon: DaemonProcess) -> None:
    """The prompt contains the tool that fits, the event lists those that were shown, and a replay lists the same."""
    with Client(daemon.socket) as client, ServedTools(many(), socket=daemon.socket):
        seen = {}
        for text in ("Please brew some coffee", "Pull lever 12"):
            run = client.create_run(text)
            with client.watch(run.run_id) as events:
                seen[text] = next(event.kind.shown for event in events if isinstance(event.kind, RouteChosen))
            (again,) = [
                event.kind.shown
                for event in client.replay_run(run.run_id)
                if isinstance(event.kind, RouteChosen)
            ]
            assert again == seen[text]
            answer = client.get_run(run.run_id).answer
            assert answer is not None
            assert (answer.text == "shown") is ("tool077" in again)
    assert {len(shown) for shown in seen.values()} == {12}
    assert "tool077" in seen["Please brew some coffee"]
    assert "tool012" in seen["Pull lever 12"]


def test_the_page_about_tools_of_runs_is_right() -> None:
    """Every command of docs/tools-of-a-run.md prints what the page shows, in a daemon with the profile of the page."""
    page = (ROOT / "docs" / "tools-of-a-run.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+) ?(.*?)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (configured,) = (tomllib.loads(text) for language, _, text in blocks if language == "toml")
    with (
        daemon_folder() as folder,
        DaemonProcess(folder, {"tools.profiles": configured["tools"]["profiles"]}) as daemon,
    ):
        (folder / "aeonctl").write_text(f'#!/bin/sh\nexec {" ".join(command())} "$@"\n', encoding="utf-8")
        (folder / "aeonctl").chmod(0o755)
        settings = {
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "AEOND_SOCKET": str(daemon.socket),
        }
        for language, place, text in blocks:
            if language == "json":
                (folder / place).write_text(text, encoding="utf-8")
            elif language == "console":
                typed, _, printed = text.removeprefix("$ ").partition("\n")
                done = subprocess.run(
                    typed,
                    shell=True,
                    cwd=folder,
                    env=settings,
                    capture_output=True,
                    text=True,
                    timeout=60.0,
                    check=True,
                )
                assert done.stdout == printed, typed
