"""aeond as a person installs it on a machine, and the words a person types there.

Only for a systemd of the tests' own: it adds users, writes below /etc and /run, and starts services.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from tests.support.ledgers import TOOL_FILE, Gate, Ledger

STATE = Path("/var/lib/aeond")
ETC = Path("/etc/aeond")
SOCKET = Path("/run/aeond/aeond.sock")
DROP_IN = Path("/run/systemd/system/aeond.service.d/tests.conf")
MEMBER, OUTSIDER = "aeonmember", "aeonoutsider"
DEADLINE_SECONDS = 60.0

Finished = subprocess.CompletedProcess[str]


def run(*words: str | Path, check: bool = True) -> Finished:
    """A command of root's, to its end."""
    finished = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=DEADLINE_SECONDS, cwd="/"
    )
    assert not check or finished.returncode == 0, f"{words}: {finished.stdout}{finished.stderr}\n{journal()}"
    return finished


def systemctl(*words: str, check: bool = True) -> str:
    return run("systemctl", *words, check=check).stdout


def shown(name: str) -> str:
    """A property of the service, as systemd has it."""
    return systemctl("show", "--value", "--property", name, "aeond.service").strip()


def journal() -> str:
    """What the service said, and systemd of it, since it was last started."""
    subprocess.run(["journalctl", "--sync"], check=False, timeout=DEADLINE_SECONDS)
    said = subprocess.run(
        ["journalctl", "--unit", "aeond.service", "--output", "cat", "--no-pager"],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    ).stdout
    return said.rpartition("Starting aeond.service")[2]


def until(condition: Callable[[], bool], what: str) -> None:
    """Returns once systemd, which tells nobody, shows that it is so."""
    deadline = monotonic() + DEADLINE_SECONDS
    while not condition():
        assert monotonic() < deadline, f"not in time: {what}\n{journal()}"
        Event().wait(0.05)


def command_of(user: str, *words: str) -> list[str]:
    """aeonctl as this user types it, in a folder that is nobody's."""
    plain = ["env", "--ignore-environment", "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"]
    return ["setpriv", "--reuid", user, "--regid", user, "--init-groups", *plain, "aeonctl", *words]


def aeonctl(user: str, *words: str) -> Finished:
    return run(*command_of(user, *words), check=False)


class Service:
    """The installed service with the scripted model and the ledger's tools, not started yet."""

    def __init__(self) -> None:
        self.ledger = Ledger(STATE / "ledger")
        self.plans = Path("/run/aeond-plans")

    def install(self, stage: Path) -> None:
        """What `make install` put into the stage comes to where it says that it is."""
        home = Path("/usr/local/lib/aeond")
        home.mkdir(parents=True)
        run("mount", "--bind", stage / home.relative_to("/"), home)
        ignored = shutil.ignore_patterns("aeond")
        shutil.copytree(stage / "usr/local/bin", "/usr/local/bin", symlinks=True, dirs_exist_ok=True)
        shutil.copytree(stage / "usr/local/share", "/usr/local/share", dirs_exist_ok=True)
        shutil.copytree(stage / "usr/local/lib", "/usr/local/lib", ignore=ignored, dirs_exist_ok=True)
        run("systemd-sysusers")
        run("systemd-tmpfiles", "--create", "aeond.conf")
        run("useradd", "--no-create-home", "--groups", "aeond", MEMBER)
        run("useradd", "--no-create-home", OUTSIDER)
        ETC.mkdir()
        shutil.copy(TOOL_FILE, ETC / "ledger_tools.py")
        DROP_IN.parent.mkdir(parents=True)
        DROP_IN.write_text(f"[Service]\nEnvironment=AEOND_LEDGER={self.ledger.path}\n", encoding="utf-8")
        self.plans.mkdir()
        systemctl("daemon-reload")

    def renew(self) -> None:
        """Stopped, without a state, with the usual configuration."""
        systemctl("stop", "aeond.socket", "aeond.service")
        systemctl("reset-failed", "aeond.socket", "aeond.service", check=False)
        shutil.rmtree(STATE, ignore_errors=True)
        self.configure()

    def configure(self, rules: Sequence[Mapping[str, Any]] = (), extra: str = "") -> None:
        """The configuration that the next start reads."""
        (ETC / "script.json").write_text(json.dumps({"rules": rules}), encoding="utf-8")
        (ETC / "aeond.toml").write_text(
            f'[model]\nengine = "scripted"\nscript = "{ETC}/script.json"\n'
            f'[tools]\nfiles = ["{ETC}/ledger_tools.py"]\n{extra}',
            encoding="utf-8",
        )

    def gate(self) -> Gate:
        """A gate that the service's user may stand at; the service has run, so its folder is there."""
        gate = Gate(STATE / "gate")
        shutil.chown(gate.path, "aeond", "aeond")
        return gate

    def plan(self, goal: str, *steps: Mapping[str, Any]) -> str:
        """A plan's file that every user can read."""
        path = self.plans / "plan.json"
        path.write_text(json.dumps({"goal": goal, "steps": steps}), encoding="utf-8")
        os.chmod(path, 0o644)
        return str(path)

    def deeds(self, gate: Gate) -> str:
        """Three steps one after the other; the second waits at the gate."""
        written = []
        for number, (tool, held) in enumerate((("run", ""), ("pure", str(gate.path)), ("run", "")), start=1):
            before = [f"s{number - 1}"] if number > 1 else []
            step = {"step_id": f"s{number}", "tool": tool, "arguments": {"gate": held}, "depends_on": before}
            written.append(step)
        return self.plan("deeds", *written)
