"""The Debian packages on a machine: installed, used, upgraded with a run in flight, removed, purged."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.installed_service import (
    DROP_INS,
    ETC,
    MEMBER,
    SOCKET,
    STATE,
    AsUser,
    Service,
    aeonctl,
    journal,
    member_session,
    run,
    shown,
    systemctl,
    until,
)
from tests.support.repository import ROOT
from tests.support.user_desktop import user_desktop

pytestmark = pytest.mark.systemd

NAMES = ("aeond-doc", "aeond-popup", "python3-aeond-client", "aeond")
STATUS = "from aeond_client import Client\nwith Client() as client: print(client.get_status().version)"
WINDOW = "from PySide6.QtWidgets import QApplication\nimport aeon_popup.app\nprint(QApplication([]).platformName())"
LIBRARIES = "import acp, mcp, opentelemetry.proto, starlette, uvicorn"

OURS = ("--socket", str(SOCKET))  # of the service, also where the member has a daemon
SUM = {"step_id": "s1", "tool": "calculator", "arguments": {"expression": "17.5 / 100 * 2400"}}


@pytest.fixture(scope="module")
def packages() -> dict[str, Path]:
    """The packages built by `make deb`, by name."""
    built = {path.name.partition("_")[0]: path for path in sorted((ROOT / "dist").glob("*aeond*.deb"))}
    if "WITH_SYSTEMD" not in os.environ or not built:
        pytest.skip("needs packages, and a systemd that may be spoilt: make package-test has both")
    assert sorted(built) == sorted(NAMES)
    return built


@pytest.fixture
def machine(packages: dict[str, Path]) -> Iterator[dict[str, Path]]:
    """A machine that aeond is not on."""
    if Path("/usr/local/lib/aeond").exists():
        pytest.skip("aeond is here already: make package-test gives this file a systemd of its own")
    # Properties of the underlying machine: a state, and a container policy that starts nothing.
    shutil.rmtree(STATE, ignore_errors=True)
    Path("/usr/sbin/policy-rc.d").unlink(missing_ok=True)
    run("useradd", "--no-create-home", MEMBER)
    yield packages
    run("dpkg", "--purge", *NAMES, check=False)
    if DROP_INS.exists():
        Service().forget()
    run("userdel", MEMBER)


def installed(packages: Iterable[Path]) -> str:
    """The output of dpkg, called as apt does; the package's configuration is that of the tests."""
    return run("dpkg", "--auto-deconfigure", "--install", *packages).stdout


def as_member(*words: str | Path) -> str:
    """The output of a command of a member of the group."""
    environment = ("env", "QT_QPA_PLATFORM=offscreen", "HOME=/tmp", "XDG_RUNTIME_DIR=/tmp")
    return run("runuser", "-u", MEMBER, "--", *environment, *words).stdout


def contents(package: Path) -> set[str]:
    """The absolute paths of a package's files and links."""
    lines = run("dpkg-deb", "--contents", package).stdout.splitlines()
    return {
        line.split(maxsplit=5)[5].partition(" -> ")[0].removeprefix(".") for line in lines if line[0] != "d"
    }


def traces() -> set[Path]:
    """Everything on the machine that is called after aeond, but what the tests brought."""
    ours = ("/usr", "/etc", "/var", "/run", "/opt", "/lib")
    found = run("find", *ours, "-xdev", "-name", "*aeon*", check=False).stdout.split("\n")
    said = re.compile(r"/var/log/|/var/cache/|/run/(systemd|log)/|/tmp/|/run/aeond-plans")
    return {Path(name) for name in found if name and not said.search(name)}


def test_no_file_is_in_two_packages(packages: dict[str, Path]) -> None:
    """Each file belongs to one package, and each program has manual page and completions in the package that has it."""
    listed = {name: contents(package) for name, package in packages.items()}
    assert sum(map(len, listed.values())) == len(set().union(*listed.values()))
    pages = {
        Path(path).name: name
        for name, paths in listed.items()
        for path in paths
        if path.startswith("/usr/share/man/")
    }
    assert pages == {
        "aeond.8.gz": "aeond",
        "aeond.toml.5.gz": "aeond",
        "aeonctl.1.gz": "aeond",
        "aeon-popup.1.gz": "aeond-popup",
    }
    programs = {
        path: name for name, paths in listed.items() for path in paths if path.startswith("/usr/bin/")
    }
    folders = (
        "bash-completion/completions/{}",
        "zsh/vendor-completions/_{}",
        "fish/vendor_completions.d/{}.fish",
    )
    for path, name in programs.items():
        assert {f"/usr/share/{folder.format(Path(path).name)}" for folder in folders} <= listed[name]
    assert programs == {
        "/usr/bin/aeond": "aeond",
        "/usr/bin/aeonctl": "aeond",
        "/usr/bin/aeon-popup": "aeond-popup",
    }


def test_the_previous_version_is_upgraded(machine: dict[str, Path]) -> None:
    """The package of 0.1.0, built from its commit, was a single one: its files go over to the packages that have them now, and
    configuration, memory, ended runs and a run in flight are kept.
    """
    previous = Path(os.environ["AEOND_PREVIOUS"])
    installed([previous])
    assert run("dpkg-query", "--show", "--showformat=${Version}", "aeond").stdout == "0.1.0"
    moved = {path for path in contents(machine["aeond-popup"]) if "/site-packages/aeon_popup/" in path}
    moved &= contents(previous)
    assert moved
    service = Service()
    run("usermod", "--append", "--groups", "aeond", MEMBER)
    service.prepare()
    service.configure()
    configured = {path.name: path.read_bytes() for path in ETC.iterdir() if path.is_file()}
    systemctl("enable", "--now", "aeond")
    said("memory", "set", "colour", "blue")
    asked = aeonctl(MEMBER, "ask", "-q", "--workspace", "", "--plan", service.plan("the bonus", SUM))
    assert (asked.returncode, "420" in asked.stdout) == (0, True), asked.stderr
    (ended,) = [one["run_id"] for one in listed("runs")]
    events = listed("watch", ended)
    gate = service.gate()
    in_flight = said("ask", "--detach", "--workspace", "", "--plan", service.deeds(gate)).strip()
    gate.held()
    old = shown("MainPID")

    installed(machine[name] for name in NAMES)
    until(lambda: shown("MainPID") not in {old, "0"} and shown("ActiveState") == "active", "the new daemon")
    assert run("dpkg", "--audit").stdout == ""
    assert run("dpkg", "--verify", *NAMES).stdout == ""
    owners = run("dpkg", "--search", *sorted(moved)).stdout.splitlines()
    assert {line.partition(":")[0] for line in owners} == {"aeond-popup"}
    assert not Path("/usr/share/doc/aeond/operations.md.gz").exists()
    assert Path("/usr/share/doc/aeond/docs/operations.md").exists()

    assert as_member("/usr/bin/python3", "-I", "-c", STATUS).strip() != "0.1.0"
    assert {path.name: path.read_bytes() for path in ETC.iterdir() if path.is_file()} == configured
    assert systemctl("is-enabled", "aeond").strip() == "enabled"
    assert said("memory", "get", "colour").strip() == "blue"
    kept = listed("watch", ended)
    assert [within(new, old) for new, old in zip(kept, events, strict=True)] == events
    gate.open()
    assert aeonctl(MEMBER, "watch", "-q", in_flight).returncode == 0, journal()
    done = service.ledger.ended(in_flight)
    assert (done["s1"], done["s3"]) == (1, 1), service.ledger.lines
    asked = aeonctl(MEMBER, "ask", "-q", "--workspace", "", "--plan", service.plan("the bonus", SUM))
    assert (asked.returncode, "420" in asked.stdout) == (0, True), asked.stderr


def test_a_package_comes_works_and_goes(machine: dict[str, Path], tmp_path: Path) -> None:
    """It starts nothing by itself; started, it answers; upgraded, the run in flight goes on; purged, it is gone; a user's own
    daemon, and the window, which a call of its name has opened, are restarted and stopped with it.
    """
    before = traces()
    installed(machine[name] for name in NAMES)
    states = systemctl("is-active", "aeond.socket", "aeond.service", check=False).split()
    enabled = systemctl("is-enabled", "aeond.socket", "aeond.service", check=False).split()
    assert (states, enabled) == (["inactive"] * 2, ["disabled"] * 2)
    run("/usr/lib/aeond/bin/python", "-c", LIBRARIES)
    compiled = {path.parent.name for path in Path("/usr/lib/aeond/lib").rglob("__pycache__")}
    assert {"aeond", "aeon_cli", "aeon_popup", "PySide6"} <= compiled
    assert "--toggle" in as_member("aeon-popup", "--help")
    assert as_member("/usr/lib/aeond/bin/python", "-c", WINDOW) == "offscreen\n"

    service = Service()
    run("usermod", "--append", "--groups", "aeond", MEMBER)
    service.prepare()
    service.configure()
    systemctl("start", "aeond")
    asked = aeonctl(MEMBER, "ask", "-q", "--workspace", "", "--plan", service.plan("the bonus", SUM))
    assert (asked.returncode, "420" in asked.stdout) == (0, True), asked.stderr

    version = run("dpkg-query", "--show", "--showformat=${Version}", "aeond").stdout
    assert as_member("/usr/bin/python3", "-I", "-c", STATUS) == f"{version}\n"

    with member_session() as as_user, user_desktop(as_user) as desktop:
        desktop.run("aeon-popup", "--toggle")
        until(lambda: desktop.visible, "the window")
        window = desktop.unit("MainPID")
        assert (desktop.unit("ActiveState"), desktop.owner()) == ("active", window)
        assert as_user("systemctl", "--user", "start", "aeond").returncode == 0
        own = of_user(as_user, "MainPID")
        gate = service.gate()
        asked = aeonctl(MEMBER, *OURS, "ask", "--detach", "--workspace", "", "--plan", service.deeds(gate))
        run_id = asked.stdout.strip()
        gate.held()
        old = shown("MainPID")
        installed(newer(machine[name], tmp_path / name) for name in ("aeond", "aeond-popup"))
        assert "9.9.9" in run("dpkg-query", "--show", "aeond").stdout
        until(
            lambda: shown("MainPID") not in {old, "0"} and shown("ActiveState") == "active", "the new daemon"
        )
        until(lambda: of_user(as_user, "MainPID") not in {own, "0"}, "the new daemon of the user")
        until(lambda: desktop.unit("MainPID") not in {window, "0"}, "the new window")
        gate.open()
        assert aeonctl(MEMBER, *OURS, "watch", "-q", run_id).returncode == 0, journal()
        done = service.ledger.ended(run_id)
        assert (done["s1"], done["s3"]) == (1, 1), service.ledger.lines

        systemctl("enable", "aeond.service")
        run("dpkg", "--remove", *NAMES)
        assert (
            systemctl("is-active", "aeond.socket", "aeond.service", check=False).split() == ["inactive"] * 2
        )
        assert of_user(as_user, "ActiveState") == "inactive"
        assert (desktop.unit("ActiveState"), desktop.visible) == ("inactive", False)
        assert (STATE / "journal.db").exists()
        assert (ETC / "aeond.toml").exists()
    run("dpkg", "--purge", *NAMES)
    service.forget()
    assert traces() - before == set()
    assert run("getent", "passwd", "aeond", check=False).stdout == ""
    assert run("getent", "group", "aeond", check=False).stdout == ""


def of_user(as_user: AsUser, name: str) -> str:
    """A property of the user's own daemon."""
    return str(
        as_user("systemctl", "--user", "show", "--value", f"--property={name}", "aeond").stdout
    ).strip()


def newer(package: Path, folder: Path) -> Path:
    """The same package as version 9.9.9."""
    meta = folder / "meta"
    folder.mkdir()
    run("dpkg-deb", "--control", package, meta)
    control = meta / "control"
    text = re.sub(r"^Version: .*$", "Version: 9.9.9", control.read_text(encoding="utf-8"), flags=re.MULTILINE)
    control.write_text(re.sub(r"aeond \(= [^)]*\)", "aeond (= 9.9.9)", text), encoding="utf-8")
    run("tar", "--directory", meta, "--create", "--xz", "--file", folder / "control.tar.xz", ".")
    made = folder / "newer.deb"
    shutil.copy(package, made)
    run("ar", "r", made, folder / "control.tar.xz")
    return made


def said(*words: str) -> str:
    """The output of a command of aeonctl by a member of the group, which must succeed."""
    done = aeonctl(MEMBER, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(command: str, *operands: str) -> list[dict[str, Any]]:
    """The lines of JSON of a command."""
    return [json.loads(line) for line in said(command, "--json", *operands).splitlines()]


def within(new: Any, old: Any) -> Any:
    """The newer value without the keys that the older one lacks: a later version may add fields."""
    if isinstance(new, dict) and isinstance(old, dict):
        return {name: within(value, old[name]) for name, value in new.items() if name in old}
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        return [within(one, other) for one, other in zip(new, old, strict=True)]
    return new
