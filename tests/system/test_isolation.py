"""The engine and tool calls in units of their own, under the real systemd."""

import json
import os
import pwd
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aeond_client.client import Client
from tests.support.hostile_tools import ATTEMPTS, is_refused
from tests.support.installed_service import (
    ETC,
    MEMBER,
    SOCKET,
    STATE,
    Service,
    aeonctl,
    journal,
    run,
    shown,
    systemctl,
    until,
)
from tests.support.repository import ROOT

pytestmark = pytest.mark.systemd

TOOLS = ETC / "tools"
SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53.gguf"


@pytest.fixture
def guarded(service: Service) -> Iterator[Service]:
    """The service with a folder of tools that are not trusted."""
    TOOLS.mkdir()
    for name in ("sandbox_tools.py", "hostile_tools.py", "hostile_limits.py"):
        shutil.copy(ROOT / "tests" / "support" / name, TOOLS)
    service.configure(extra=f'folders = ["{TOOLS}"]\n')
    yield service
    shutil.rmtree(TOOLS)


@pytest.fixture
def modelled(service: Service) -> Service:
    """The service with the real engine and the smallest model."""
    cache = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache")  # a unit has no HOME
    places = (
        os.environ.get("AEOND_TEST_MODELS", ""),
        str(cache / "aeond-tests/models"),
        str(cache / "aeond/models"),
    )
    model = next(
        (Path(place) / SMOLLM2 for place in places if place and (Path(place) / SMOLLM2).exists()), None
    )
    if model is None:
        pytest.skip("the test model is not downloaded: make accept gets it")
    models = STATE / "models"
    models.mkdir(parents=True)
    shutil.copy(model, models)
    run("chown", "--recursive", "aeond:aeond", STATE)
    STATE.chmod(0o700)
    (ETC / "aeond.toml").write_text(
        '[model]\nname = "smollm2-135m-instruct"\ncontext_tokens = 4096\nparallel_requests = 1\n',
        encoding="utf-8",
    )
    return service


def called(tool: str, **arguments: Any) -> Any:
    """The result of a tool call by a member of the group."""
    completed = aeonctl(MEMBER, "call", "--json", "--workspace", "", tool, json.dumps(arguments))
    assert completed.returncode == 0, completed.stdout + completed.stderr + journal()
    return json.loads(completed.stdout)["data"]["value"]


def of(unit: str, name: str) -> str:
    return systemctl("show", "--value", "--property", name, unit).strip()


def pids_of(pattern: str) -> list[str]:
    return run("pgrep", "--full", pattern, check=False).stdout.split()


@pytest.mark.usefixtures("guarded")
def test_a_tool_call_is_a_unit() -> None:
    """A tool that is not trusted runs as a user of its own, with no network, no capability, no file of ours."""
    systemctl("start", "aeond")
    seen = called("peek", text=str(ETC / "aeond.toml"))
    assert (seen["file"], seen["networks"], seen["capabilities"]) == ("FileNotFoundError", ["lo"], ["0" * 16])
    other = called("peek", text="/etc/passwd")
    assert other["file"] == "FileNotFoundError"
    assert not {seen["uid"], other["uid"]} & {0, int(run("id", "--user", "aeond").stdout)}
    assert not [name for name in seen["environment"] if name.startswith("AEOND")]


@pytest.mark.usefixtures("guarded")
def test_a_hostile_tool_is_refused_everything() -> None:
    """Every attempt of a hostile tool is refused in a unit as it is in bubblewrap."""
    systemctl("start", "aeond")
    outcomes = called("attack", secret=str(ETC / "aeond.toml"), pid=os.getpid())
    assert {name: end for name, end in outcomes.items() if not is_refused(name, end)} == {}
    assert outcomes.keys() == ATTEMPTS.keys()


@pytest.mark.usefixtures("guarded")
def test_a_hostile_tool_is_bounded() -> None:
    """A tool that multiplies, or fills file systems in memory, reaches the bounds of its unit."""
    systemctl("start", "aeond")
    assert called("multiply") <= 64
    assert sum(called("fill_memory_disk").values()) <= 448


@pytest.mark.usefixtures("guarded")
def test_nothing_of_a_tool_call_outlives_it() -> None:
    """A process that a tool left behind is gone, and so is the unit."""
    systemctl("start", "aeond")
    called("linger", text="86392.5")
    until(lambda: not pids_of("sleep 86392.5"), "the end of what the tool left")
    until(
        lambda: not systemctl("list-units", "--all", "--plain", "--no-legend", "aeond-tool@*"), "no unit left"
    )


@pytest.mark.usefixtures("guarded")
def test_a_tool_works_on_its_workspace() -> None:
    """Files that a tool writes to its workspace appear in the run's workspace, owned by the daemon's user."""
    systemctl("start", "aeond")
    assert called("write", text="deep/note", number=7) == ["deep/note"]
    (written,) = STATE.rglob("note")
    assert written.read_text(encoding="utf-8") == "7"
    assert written.owner() == "aeond"


@pytest.mark.usefixtures("guarded")
def test_a_killed_daemon_leaves_no_tool_call() -> None:
    """When the daemon is killed in the middle of a call, the call ends with it."""
    systemctl("start", "aeond")
    completed = aeonctl(
        MEMBER, "ask", "--detach", "--workspace", "", "--plan",
        Service().plan("spin", {"step_id": "s1", "tool": "hold", "arguments": {"text": "86393.5"}}),
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    until(lambda: bool(pids_of("sleep 86393.5")), "the call")
    (first,) = pids_of("sleep 86393.5")
    systemctl("kill", "--kill-who", "main", "--signal", "KILL", "aeond")
    until(lambda: first not in pids_of("sleep 86393.5"), "the end of the call")


def test_the_engine_is_a_unit(modelled: Service) -> None:
    """The engine runs in its own unit and cgroup, answers, is stopped by an unload and started by a request."""
    systemctl("start", "aeond")
    assert answer() != ""
    assert of("aeond-engine.service", "ActiveState") == "active"
    engine, daemon = of("aeond-engine.service", "ControlGroup"), shown("ControlGroup")
    assert (engine, daemon) == ("/system.slice/aeond-engine.service", "/system.slice/aeond.service")
    first = of("aeond-engine.service", "MainPID")
    assert aeonctl("root", "models", "unload").returncode == 0
    until(lambda: not Path("/proc", first).exists(), "the end of the engine")
    assert answer() != ""
    systemctl("stop", "aeond.socket", "aeond.service")
    until(lambda: of("aeond-engine.service", "ActiveState") == "inactive", "the end of the engine")
    assert not pids_of("unit_host")
    assert of("aeond-engine.service", "Result") == "success"


def test_a_killed_engine_comes_back(modelled: Service) -> None:
    """An engine that dies is started again, and requests are answered; the daemon is the same."""
    systemctl("start", "aeond")
    assert answer() != ""
    daemon = shown("MainPID")
    systemctl("kill", "--signal", "KILL", "aeond-engine")
    assert answer() != ""
    assert (shown("MainPID"), shown("NRestarts")) == (daemon, "0")


@pytest.mark.parametrize("engine", ["running", "stopped"])
def test_a_killed_daemon_leaves_no_engine(modelled: Service, engine: str) -> None:
    """When the daemon is killed its engine ends, also one that stands still, and the next one answers."""
    systemctl("start", "aeond")
    assert answer() != ""
    first = of("aeond-engine.service", "MainPID")
    if engine == "stopped":
        systemctl("kill", "--signal", "STOP", "aeond-engine")
    systemctl("kill", "--kill-who", "main", "--signal", "KILL", "aeond")
    until(lambda: not Path("/proc", first).exists(), "the end of the first engine")
    until(lambda: shown("NRestarts") == "1" and shown("ActiveState") == "active", "the restart")
    assert answer() != ""


def answer() -> str:
    """A real model's answer, whatever it says."""
    with Client(f"unix:{SOCKET}") as client:
        return "".join(
            piece.text for piece in client.generate("Say hello.", max_tokens=4, timeout_seconds=60)
        )


def test_a_user_s_daemon_has_sandboxes_too(service: Service) -> None:
    """Under the hardening of a user's daemon bubblewrap works: a tool of a folder runs apart and answers."""
    if not bubblewrap_works_for(MEMBER):
        pytest.skip("an ordinary user has no bubblewrap here (with-systemd --proc rw gives it)")
    home, uid = Path("/home") / MEMBER, run("id", "--user", MEMBER).stdout.strip()
    tools = home / "tools"
    tools.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "support" / "sandbox_tools.py", tools)
    config = home / ".config" / "aeond" / "aeond.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[model]\nengine = "scripted"\n[tools]\nfolders = ["{tools}"]\n', encoding="utf-8")
    run("chown", "--recursive", f"{MEMBER}:{MEMBER}", home)
    known = [f"HOME={home}", f"XDG_RUNTIME_DIR=/run/user/{uid}", "PATH=/usr/local/bin:/usr/bin:/bin"]
    become = ["setpriv", "--reuid", MEMBER, "--regid", MEMBER, "--init-groups", "env", "--ignore-environment"]
    systemctl("start", f"user@{uid}.service")
    try:
        run(*become, *known, "systemctl", "--user", "start", "aeond")
        completed = run(
            *become, *known, "aeonctl", "call", "--json", "--workspace", "", "peek", f"text={config}"
        )
        seen = json.loads(completed.stdout)["data"]["value"]
        assert (seen["file"], seen["networks"]) == ("FileNotFoundError", ["lo"])
    finally:
        systemctl("stop", f"user@{uid}.service")
        shutil.rmtree(home)


def bubblewrap_works_for(user: str) -> bool:
    become = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
    words = [
        "bwrap",
        "--unshare-all",
        "--disable-userns",
        "--unshare-user",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
    ]
    return run(*become, *words, "true", check=False).returncode == 0
