"""The files of the window for all users of a desktop, judged by the desktop's own programs."""

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import aeond
from aeon_popup.integration import APP_ID
from tests.support.repository import ROOT

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """/usr/share as an installation makes it."""
    folder = tmp_path_factory.mktemp("desktop")
    subprocess.run([sys.executable, ROOT / "package" / "desktop.py", folder, "/usr"], check=True, cwd=ROOT)
    return folder / "usr" / "share"


def judged(program: str, *words: str | Path) -> None:
    outcome = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.skipif(shutil.which("appstreamcli") is None, reason="appstreamcli is not installed here")
def test_appstream_accepts_the_metadata(share: Path) -> None:
    """The metadata for software catalogues has no error and no warning."""
    judged("appstreamcli", "validate", "--no-net", share / "metainfo" / f"{APP_ID}.metainfo.xml")


@pytest.mark.skipif(
    shutil.which("desktop-file-validate") is None, reason="desktop-file-validate is not installed here"
)
def test_the_entries_are_valid(share: Path) -> None:
    """The application's entry and its start with the session follow the specification."""
    autostart = share.parents[1] / "etc" / "xdg" / "autostart"
    judged(
        "desktop-file-validate", share / "applications" / f"{APP_ID}.desktop", autostart / f"{APP_ID}.desktop"
    )


def test_the_metadata_names_what_is_installed(share: Path) -> None:
    """Identifier, launchable and bus name are those of the window's files, and the newest release is this version."""
    root = ET.parse(share / "metainfo" / f"{APP_ID}.metainfo.xml").getroot()
    assert root.findtext("id") == root.findtext("provides/dbus") == APP_ID
    launchable = root.findtext("launchable")
    assert launchable
    assert (share / "applications" / launchable).exists()
    releases = root.findall("releases/release")
    assert releases[0].get("version") == aeond.__version__


def test_the_icon_is_a_square_drawing(share: Path) -> None:
    """The icon that the entry names is an SVG that needs no other file."""
    icon = share / "icons" / "hicolor" / "scalable" / "apps" / f"{APP_ID}.svg"
    root = ET.parse(icon).getroot()
    assert root.tag == f"{SVG}svg"
    assert root.get("width") == root.get("height")
    assert "href" not in icon.read_text(encoding="utf-8")


def test_an_uninstallation_removes_them(tmp_path: Path) -> None:
    """`make uninstall` removes each of these files and the manual page, and keeps those of other programs."""
    subprocess.run(
        [sys.executable, ROOT / "package" / "desktop.py", tmp_path, "/usr/local"], check=True, cwd=ROOT
    )
    page = tmp_path / "usr/local/share/man/man1/aeon-popup.1"
    theirs = tmp_path / "usr/local/share/applications/theirs.desktop"
    page.parent.mkdir(parents=True)
    page.touch()
    theirs.touch()
    subprocess.run([ROOT / "systemd" / "uninstall", tmp_path, "/usr/local"], check=True, timeout=60)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [theirs]


def test_the_packages_have_the_version_of_the_daemon() -> None:
    """The newest entry of Debian's change log is this version."""
    changelog = (ROOT / "package" / "debian" / "changelog").read_text(encoding="utf-8")
    assert changelog.startswith(f"aeond ({aeond.__version__}) ")
