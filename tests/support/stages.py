"""A stage for whole programs: the real daemon with the ledger's tools, a workspace, and aeonctl."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aeond_client import Client
from aeond_client.records.runs import Plan, RunSummary
from aeond_client.records.sessions import Session
from tests.support.aeonctl import Printed, command, environment, finished
from tests.support.daemon_process import DaemonProcess, Overrides
from tests.support.ledgers import TOOL_FILE, Gate, Ledger

MOST = 1_000


@dataclass(frozen=True)
class Stage:
    """A daemon with the ledger's tools, its ledger, and a workspace."""

    daemon: DaemonProcess
    ledger: Ledger
    workspace: Path

    @property
    def socket(self) -> str:
        return str(self.daemon.socket)

    def at(self, workspace: Path) -> "Stage":
        """The same daemon with this workspace, which is made."""
        workspace.mkdir()
        return replace(self, workspace=workspace)

    def gate(self, name: str = "gate") -> Gate:
        return Gate(self.daemon.folder / name)

    def plan_file(self, plan: Plan) -> str:
        """The plan as a person would write it down."""
        steps = [
            {"step_id": s.step_id, "tool": s.tool, "arguments": s.arguments, "depends_on": list(s.depends_on)}
            for s in plan.steps
        ]
        path = self.workspace / "plan.json"
        path.write_text(json.dumps({"goal": plan.goal, "steps": steps}), encoding="utf-8")
        return str(path)

    async def aeonctl(self, *words: str) -> Printed:
        """The result of a command run in the workspace."""
        return await finished(command(*words), environment(AEOND_SOCKET=self.socket), cwd=self.workspace)


def planned(request: str, *steps: object) -> dict[str, object]:
    """The rule of a script by which requests with these words get a plan of these steps."""
    pattern = rf"You plan how to fulfil a request[\s\S]*{request}"
    return {"pattern": pattern, "json": {"steps": list(steps)}}


class News:
    """The runs and sessions that a daemon has more than before: those of one test, where tests share the daemon."""

    def __init__(self, daemon: Client) -> None:
        self.daemon = daemon
        self._old_runs = {line.run_id for line in daemon.list_runs(limit=MOST)}
        self._old_sessions = {session.session_id for session in daemon.list_sessions(MOST)}

    @property
    def runs(self) -> list[RunSummary]:
        """Newest first."""
        return [line for line in self.daemon.list_runs(limit=MOST) if line.run_id not in self._old_runs]

    @property
    def sessions(self) -> list[Session]:
        found = self.daemon.list_sessions(MOST)
        return [session for session in found if session.session_id not in self._old_sessions]


@contextmanager
def staged(
    folder: Path, overrides: Overrides | None = None, script: Mapping[str, Any] | None = None
) -> Iterator[Stage]:
    """A daemon that is READY, with a scripted model that has nothing to say but what the script tells it."""
    workspace = folder / "workspace"
    workspace.mkdir()
    ledger = Ledger(folder / "ledger")
    daemon = DaemonProcess(folder, {"tools": {"files": [str(TOOL_FILE)]}, **(overrides or {})})
    daemon.environment["AEOND_LEDGER"] = str(ledger.path)
    daemon.script.write_text(json.dumps(script or {}), encoding="utf-8")
    with daemon:
        yield Stage(daemon, ledger, workspace)
