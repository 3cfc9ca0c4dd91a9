"""The unit files, as systemd judges them, and the files that are installed and removed again."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.installed_service import DEADLINE_SECONDS, Service, run, systemctl
from tests.support.repository import ROOT

pytestmark = pytest.mark.systemd

UNITS = Path("/usr/local/lib/systemd")
# The most that `systemd-analyze security` may say of each, of 10.
EXPOSURE = {"aeond.service": 0.5, "aeond-engine.service": 1.0, "aeond-tool@.service": 1.0}


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize(
    ("whose", "unit"),
    [
        ("--system", "system/aeond.service"),
        ("--system", "system/aeond.socket"),
        ("--system", "system/aeond-admin.socket"),
        ("--system", "system/aeond-engine.service"),
        ("--system", "system/aeond-engine.socket"),
        ("--system", "system/aeond-tool@.service"),
        ("--system", "system/aeond-tool.socket"),
        ("--user", "user/aeond.service"),
        ("--user", "user/aeond.socket"),
        ("--user", "user/aeond-admin.socket"),
        ("--user", "user/aeond-facade@.service"),
        ("--user", "user/app-dev.aeon.Popup.service"),
    ],
)
def test_systemd_has_nothing_to_say_of_the_units(whose: str, unit: str) -> None:
    """Every key of every unit is known to systemd, and what the units name is there."""
    verified = run(
        "env",
        "XDG_RUNTIME_DIR=/run",
        "systemd-analyze",
        whose,
        "--man=no",
        "verify",
        UNITS / unit,
        check=False,
    )
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("unit", EXPOSURE)
def test_a_service_is_hardly_exposed(unit: str) -> None:
    """`systemd-analyze security` finds next to nothing that a service could do beyond its work."""
    report = run(
        "systemd-analyze", "security", "--offline=true", "--no-pager", UNITS / "system" / unit
    ).stdout
    (exposure,) = re.findall(r"Overall exposure level for \S+: ([0-9.]+)", report)
    assert float(exposure) <= EXPOSURE[unit], report


@pytest.mark.usefixtures("service")
def test_an_installation_starts_nothing() -> None:
    """After an installation neither socket nor service is active or enabled."""
    assert systemctl("is-active", "aeond.socket", "aeond.service", check=False).split() == ["inactive"] * 2
    assert systemctl("is-enabled", "aeond.socket", "aeond.service", check=False).split() == ["disabled"] * 2


def test_an_uninstallation_leaves_nothing(tmp_path: Path, service: Service) -> None:
    """All installed files are removed, and files of other programs beside them stay."""
    stage = Path(os.environ["AEOND_STAGE"])
    for file in sorted(stage.rglob("*")):
        if "site-packages" not in file.parts and not file.is_dir():
            copy = tmp_path / file.relative_to(stage)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.touch()
    theirs = tmp_path / "usr/local/bin/theirs"
    theirs.touch()
    subprocess.run(
        [ROOT / "systemd" / "uninstall", tmp_path, "/usr/local"], check=True, timeout=DEADLINE_SECONDS
    )
    assert [file for file in tmp_path.rglob("*") if not file.is_dir()] == [theirs]
