"""aeond as a person installs it on a machine, and the words a person types there.

Only for a systemd of the tests' own: it adds users, writes below /etc and /run, and starts services.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from tests.support.daemon_process import POLICY
from tests.support.ledgers import TOOL_FILE, Gate, Ledger

BLOCKING_TOOLS = Path(__file__).with_name("blocking_tools.py")

STATE = Path("/var/lib/aeond")
ETC = Path("/etc/aeond")
SOCKET = Path("/run/aeond/aeond.sock")
DROP_INS = Path("/run/systemd/system/aeond.service.d")
MEMBER, OUTSIDER = "aeonmember", "aeonoutsider"
DEADLINE_SECONDS = 240.0  # of the longest, which unpacks the package on a slow disk

Finished = subprocess.CompletedProcess[str]
AsUser = Callable[..., Finished]
"""Runs the given words as the member of the group, in that user's session."""


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
    """The log of the service, and of systemd about it, since its last start."""
    subprocess.run(["journalctl", "--sync"], check=False, timeout=DEADLINE_SECONDS)
    said = subprocess.run(
        ["journalctl", "--unit", "aeond.service", "--output", "cat", "--no-pager"],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    ).stdout
    return said.rpartition("Starting aeond.service")[2]


def records(*matches: str) -> list[dict[str, Any]]:
    """Records of the log with these fields, oldest first, each with all of its fields."""
    run("journalctl", "--sync", check=False)
    found = run("journalctl", "--output", "json", "--no-pager", *matches).stdout
    return [json.loads(line) for line in found.splitlines()]


def until(condition: Callable[[], bool], what: str, seconds: float = DEADLINE_SECONDS) -> None:
    """Polls until systemd, which sends no notification, shows the expected state."""
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, f"not in time: {what}\n{journal()}"
        Event().wait(0.05)


def command_of(user: str, *words: str) -> list[str]:
    """aeonctl as this user runs it, in a neutral folder."""
    plain = ["env", "--ignore-environment", "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"]
    return ["setpriv", "--reuid", user, "--regid", user, "--init-groups", *plain, "aeonctl", *words]


def aeonctl(user: str, *words: str) -> Finished:
    return run(*command_of(user, *words), check=False)


def uid_of_member() -> str:
    return run("id", "--user", MEMBER).stdout.strip()


@contextmanager
def member_session() -> Iterator[AsUser]:
    """Runs commands as the member, with that user's systemd running and the scripted model configured for a daemon of their own."""
    home, uid = Path("/home") / MEMBER, uid_of_member()
    config = home / ".config" / "aeond" / "aeond.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[model]\nengine = "scripted"\n', encoding="utf-8")
    run("chown", "--recursive", f"{MEMBER}:{MEMBER}", home)
    systemctl("start", f"user@{uid}.service")
    known = [f"HOME={home}", f"XDG_RUNTIME_DIR=/run/user/{uid}", "PATH=/usr/local/bin:/usr/bin:/bin"]
    become = ["setpriv", "--reuid", MEMBER, "--regid", MEMBER, "--init-groups", "env", "--ignore-environment"]
    try:
        yield lambda *words: run(*become, *known, "LC_ALL=C.UTF-8", *words, check=False)
    finally:
        systemctl("stop", f"user@{uid}.service")
        shutil.rmtree(home)


class Service:
    """The installed service with the scripted model and the ledger's tools, not started yet."""

    def __init__(self) -> None:
        self.ledger = Ledger(STATE / "ledger")
        self.plans = Path("/run/aeond-plans")
        self._cursor = ""
        self._changed = DROP_INS / "this-test.conf"

    def install(self, stage: Path) -> None:
        """Moves the result of `make install` from the stage to its final place."""
        home = Path("/usr/local/lib/aeond")
        home.mkdir(parents=True)
        run("mount", "--bind", stage / home.relative_to("/"), home)
        ignored = shutil.ignore_patterns("aeond")
        shutil.copytree(stage / "usr/local/bin", "/usr/local/bin", symlinks=True, dirs_exist_ok=True)
        for folder in ("usr/local/share", "etc"):
            shutil.copytree(stage / folder, Path("/") / folder, dirs_exist_ok=True)
        shutil.copytree(stage / "usr/local/lib", "/usr/local/lib", ignore=ignored, dirs_exist_ok=True)
        run("systemd-sysusers")
        run("systemd-tmpfiles", "--create", "aeond.conf")
        run("useradd", "--no-create-home", "--groups", "aeond", MEMBER)
        run("useradd", "--no-create-home", OUTSIDER)
        self.prepare()
        run("journalctl", "--update-catalog")

    def prepare(self) -> None:
        """The tests' own tools, ledger and plans come to a machine that has aeond."""
        ETC.mkdir()
        for file in (TOOL_FILE, BLOCKING_TOOLS):
            shutil.copy(file, ETC)
        DROP_INS.mkdir(parents=True)
        self.plans.mkdir()
        self._write_drop_in("ledger", f"Environment=AEOND_LEDGER={self.ledger.path}")

    def forget(self) -> None:
        """Removes files that the tests placed beside the configuration."""
        shutil.rmtree(DROP_INS)
        shutil.rmtree(self.plans)

    def renew(self) -> None:
        """Stopped, without a state, with the usual configuration."""
        systemctl("stop", "aeond.socket", "aeond.service")
        systemctl("reset-failed", "aeond.socket", "aeond.service", check=False)
        shutil.rmtree(STATE, ignore_errors=True)
        if self._changed.exists():
            self._changed.unlink()
            systemctl("daemon-reload")
        self.configure()
        run("journalctl", "--sync", check=False)
        completed = run("journalctl", "--no-pager", "--lines", "1", "--show-cursor")
        self._cursor = completed.stdout.rpartition("-- cursor: ")[2].strip()

    def said(self) -> str:
        """The log of the service, and of systemd about it, over all its starts in this test."""
        run("journalctl", "--sync", check=False)
        unit = ("--unit", "aeond.service", "--output", "cat", "--no-pager")
        return run("journalctl", *unit, "--after-cursor", self._cursor).stdout

    def change(self, *lines: str) -> None:
        """Other lines in the unit's [Service], until the service is renewed."""
        self._write_drop_in(self._changed.stem, *lines)

    def _write_drop_in(self, name: str, *lines: str) -> None:
        text = "\n".join(("[Service]", *lines, ""))
        (DROP_INS / f"{name}.conf").write_text(text, encoding="utf-8")
        systemctl("daemon-reload")

    def configure(self, rules: Sequence[Mapping[str, Any]] = (), extra: str = "", model: str = "") -> None:
        """The configuration that the next start or reload reads; `model` in place of the scripted one."""
        (ETC / "script.json").write_text(json.dumps({"rules": rules}), encoding="utf-8")
        model = model or f'engine = "scripted"\nscript = "{ETC}/script.json"\n'
        files = [str(ETC / file.name) for file in (TOOL_FILE, BLOCKING_TOOLS)]
        (ETC / "policy.toml").write_text(POLICY, encoding="utf-8")
        (ETC / "aeond.toml").write_text(
            f'[policy]\nfile = "{ETC}/policy.toml"\n[model]\n{model}[tools]\nfiles = {json.dumps(files)}\n{extra}',
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
