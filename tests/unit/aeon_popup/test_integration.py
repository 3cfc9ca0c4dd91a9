"""The popup's files in a user's desktop."""

import configparser
import shlex
from pathlib import Path

import pytest

from aeon_popup import integration
from aeon_popup.toggle import ACTIONS, BUS_NAME

PROGRAM = "/opt/my tools/aeon-popup"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def parsed(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser


def test_the_files_start_the_installed_program(environment: dict[str, str]) -> None:
    """Entry, autostart, activation and unit start the program at its own path, also one with a space."""
    paths = [path for path in integration.install(PROGRAM, environment) if path.suffix != ".svg"]
    assert len(paths) == 4
    for path in paths:
        parser = parsed(path)
        commands = [
            value
            for section in parser.sections()
            for key, value in parser[section].items()
            if key.startswith("Exec")
        ]
        assert commands
        assert {shlex.split(command)[0] for command in commands} == {PROGRAM}


def test_the_names_belong_together(environment: dict[str, str]) -> None:
    """Activation, unit and entry have the name on the bus, and the entry's actions are actions of the popup."""
    integration.install(PROGRAM, environment)
    paths = integration.files(PROGRAM, environment)
    entry, activation, _, unit = (parsed(path) for path in paths if path.suffix != ".svg")
    assert activation["D-BUS Service"]["Name"] == unit["Service"]["BusName"] == BUS_NAME
    assert activation["D-BUS Service"]["SystemdService"] == integration.UNIT
    assert entry["Desktop Entry"]["Icon"] in {path.stem for path in paths if path.suffix == ".svg"}
    assert set(filter(None, entry["Desktop Entry"]["Actions"].split(";"))) <= set(ACTIONS)


def test_the_files_of_all_users_have_the_metadata_for_catalogues() -> None:
    """Below a prefix there are the files of a user and the metadata, and the unit is where systemd looks for it."""
    written = integration.system_files("/usr/bin/aeon-popup", Path("/usr"))
    assert {str(path) for path in written} == {
        "/etc/xdg/autostart/dev.aeon.Popup.desktop",
        "/usr/lib/systemd/user/app-dev.aeon.Popup.service",
        "/usr/share/applications/dev.aeon.Popup.desktop",
        "/usr/share/dbus-1/services/dev.aeon.Popup.service",
        "/usr/share/icons/hicolor/scalable/apps/dev.aeon.Popup.svg",
        "/usr/share/metainfo/dev.aeon.Popup.metainfo.xml",
    }


def test_removal_removes_what_was_added(environment: dict[str, str], tmp_path: Path) -> None:
    """After a removal no file is left, and a second removal has nothing to do."""
    paths = integration.install(PROGRAM, environment)
    assert sorted(integration.uninstall(environment)) == sorted(paths)
    assert integration.uninstall(environment) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
