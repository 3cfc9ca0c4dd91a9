"""The Debian package on a machine: installed, used, upgraded with a run in flight, removed, purged."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed_service import (
    ETC,
    MEMBER,
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

SUM = {"step_id": "s1", "tool": "calculator", "arguments": {"expression": "17.5 / 100 * 2400"}}


@pytest.fixture(scope="module")
def package() -> Path:
    """The package built by `make deb`."""
    built = sorted((ROOT / "dist").glob("aeond_*.deb"))
    if "WITH_SYSTEMD" not in os.environ or not built:
        pytest.skip("needs a package, and a systemd that may be spoilt: make package-test has both")
    return built[-1]


@pytest.fixture
def machine(package: Path) -> Iterator[Path]:
    """A machine that aeond is not on."""
    if Path("/usr/local/lib/aeond").exists():
        pytest.skip("aeond is here already: make package-test gives this file a systemd of its own")
    # Properties of the underlying machine: a state, and a container policy that starts nothing.
    shutil.rmtree(STATE, ignore_errors=True)
    Path("/usr/sbin/policy-rc.d").unlink(missing_ok=True)
    run("useradd", "--no-create-home", MEMBER)
    yield package
    run("dpkg", "--purge", "aeond", check=False)
    run("userdel", MEMBER)


def installed(package: Path) -> str:
    """The output of dpkg; the package's configuration is that of the tests."""
    return run("dpkg", "--install", package).stdout


def traces() -> set[Path]:
    """Everything on the machine that is called after aeond, but what the tests brought."""
    ours = ("/usr", "/etc", "/var", "/run", "/opt", "/lib")
    found = run("find", *ours, "-xdev", "-name", "*aeon*", check=False).stdout.split("\n")
    said = re.compile(r"/var/log/|/var/cache/|/run/(systemd|log)/|/tmp/|/run/aeond-plans")
    return {Path(name) for name in found if name and not said.search(name)}


def test_a_package_comes_works_and_goes(machine: Path, tmp_path: Path) -> None:
    """It starts nothing by itself; started, it answers; upgraded, the run in flight goes on; purged, it is gone."""
    before = traces()
    installed(machine)
    states = systemctl("is-active", "aeond.socket", "aeond.service", check=False).split()
    enabled = systemctl("is-enabled", "aeond.socket", "aeond.service", check=False).split()
    assert (states, enabled) == (["inactive"] * 2, ["disabled"] * 2)
    assert "/man5/aeond.toml.5" in run("dpkg", "--listfiles", "aeond").stdout

    service = Service()
    run("usermod", "--append", "--groups", "aeond", MEMBER)
    service.prepare()
    service.configure()
    systemctl("start", "aeond")
    asked = aeonctl(MEMBER, "ask", "-q", "--workspace", "", "--plan", service.plan("the bonus", SUM))
    assert (asked.returncode, "420" in asked.stdout) == (0, True), asked.stderr

    gate = service.gate()
    asked = aeonctl(MEMBER, "ask", "--detach", "--workspace", "", "--plan", service.deeds(gate))
    run_id = asked.stdout.strip()
    gate.held()
    old = shown("MainPID")
    installed(newer(machine, tmp_path))
    assert "9.9.9" in run("dpkg-query", "--show", "aeond").stdout
    until(lambda: shown("MainPID") not in {old, "0"} and shown("ActiveState") == "active", "the new daemon")
    gate.open()
    assert aeonctl(MEMBER, "watch", "-q", run_id).returncode == 0, journal()
    done = service.ledger.ended(run_id)
    assert (done["s1"], done["s3"]) == (1, 1), service.ledger.lines

    systemctl("enable", "aeond.service")
    run("dpkg", "--remove", "aeond")
    assert systemctl("is-active", "aeond.socket", "aeond.service", check=False).split() == ["inactive"] * 2
    assert (STATE / "journal.db").exists()
    assert (ETC / "aeond.toml").exists()
    run("dpkg", "--purge", "aeond")
    service.forget()
    assert traces() - before == set()
    assert run("getent", "passwd", "aeond", check=False).stdout == ""
    assert run("getent", "group", "aeond", check=False).stdout == ""


def newer(package: Path, folder: Path) -> Path:
    """The same package as version 9.9.9."""
    meta = folder / "meta"
    run("dpkg-deb", "--control", package, meta)
    control = meta / "control"
    control.write_text(
        re.sub(r"^Version: .*$", "Version: 9.9.9", control.read_text(encoding="utf-8"), flags=re.MULTILINE),
        encoding="utf-8",
    )
    run("tar", "--directory", meta, "--create", "--xz", "--file", folder / "control.tar.xz", ".")
    made = folder / "newer.deb"
    shutil.copy(package, made)
    run("ar", "r", made, folder / "control.tar.xz")
    return made
