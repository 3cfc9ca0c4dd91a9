"""MCP servers with the real daemon: approval, question, answer, an unknown outcome, and the page that explains them."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aeond_client.client import Client
from aeond_client.events import ApprovalRequested, InputRequested, RunSuspended
from aeond_client.records.runs import Plan, PlanStep, RunState, StepState
from tests.support.aeonctl import environment
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess
from tests.support.mcp_world import SCRIPTED
from tests.support.repository import ROOT
from tests.support.stages import Stage, staged

SERVER = {"command": sys.executable, "args": [str(SCRIPTED), "stdio"], "readable": [str(ROOT)]}
ORDER = Plan("order", (PlanStep("s1", "order", "demo_order", {"text": "one"}),))
PAGE = ROOT / "docs" / "mcp.md"

pytestmark = needs_bubblewrap


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with staged(tmp_path, {"mcp.demo": SERVER}) as stage:
        yield stage


async def questioned(stage: Stage, client: Client) -> str:
    """A run whose call of a server was approved and now asks."""
    run_id = (await stage.aeonctl("ask", "--detach", "--plan", stage.plan_file(ORDER))).out.strip()
    with Collector(stage.socket, run_id) as seen:
        seen.wait_for(ApprovalRequested)
        (approval,) = client.get_run(run_id).approvals
        client.decide_approval(run_id, approval.approval_id, approval.digest, True)
        seen.wait_for(InputRequested)
    return run_id


async def test_a_server_asks_and_the_call_goes_on(stage: Stage) -> None:
    """A call is approved once; the server's question is a question of the run, and its answer continues the call."""
    with Client(stage.socket) as client:
        run_id = await questioned(stage, client)
        (question,) = client.get_run(run_id).questions
        assert question.options == ("small", "large", "(decline)")
        with Collector(stage.socket, run_id) as seen:
            client.answer_run(run_id, "large")
            seen.wait_for_end()
        run = client.get_run(run_id)
    assert (run.state, run.steps[0].output) == (RunState.SUCCEEDED, "accept {'size': 'large'}")
    assert "mcp:demo" in run.taint


async def test_an_answer_after_a_killed_daemon_leaves_an_unknown_outcome(stage: Stage) -> None:
    """The server died with the daemon in the middle of the call: the question stays, and its answer does not repeat the
    call; the user decides."""
    with Client(stage.socket) as client:
        run_id = await questioned(stage, client)
        stage.daemon.restart()
        with Collector(stage.socket, run_id) as seen:
            client.answer_run(run_id, "large")
            seen.wait_for(RunSuspended)
        run = client.get_run(run_id)
    assert (run.steps[0].state, run.steps[0].reason) == (StepState.UNKNOWN, "CALL_CUT")


def test_the_page_is_true(tmp_path: Path) -> None:
    """Every block of docs/mcp.md works in the order of the page, and prints what it shows."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

    def here(text: str) -> str:
        return text.replace("/srv/notes/venv/bin/python", sys.executable).replace("/srv/notes", str(tmp_path))

    configured: dict[str, Any] = {}
    daemon: DaemonProcess | None = None
    printed = ""
    try:
        for language, text in blocks:
            match language:
                case "python":
                    (tmp_path / "server.py").write_text(text, encoding="utf-8")
                case "toml" if daemon is None:
                    configured = tomllib.loads(here(text))
                case "toml":
                    assert daemon is not None
                    with daemon.config_file.open("a", encoding="utf-8") as file:
                        file.write(here(text).replace("DIGEST", printed.strip()))
                case "sh":
                    if daemon is None:
                        overrides = {f"mcp.{name}": section for name, section in configured["mcp"].items()}
                        daemon = DaemonProcess(tmp_path, overrides).start()
                    printed = subprocess.run(
                        ["bash", "-e", "-c", f'PATH="{Path(sys.executable).parent}:$PATH"\n{here(text)}'],
                        env=environment(AEOND_SOCKET=str(daemon.socket)),
                        cwd=tmp_path,
                        stdout=subprocess.PIPE,
                        text=True,
                        check=True,
                    ).stdout
                case "text":
                    assert printed == text, "not what the page shows"
                case _:
                    raise AssertionError(f"unknown block {language}")
        assert daemon is not None
        assert printed == "6\n"
    finally:
        if daemon is not None:
            daemon.stop()
