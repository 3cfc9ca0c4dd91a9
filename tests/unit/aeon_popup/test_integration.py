"""The popup's files in a user's desktop."""

import configparser
import re
import shlex
import sys
from pathlib import Path

import pytest

from aeon_popup import __main__, integration
from aeon_popup.toggle import ACTIONS, BUS_NAME

PROGRAM = "/opt/my tools/aeon-popup"
ODD = (r"""/run/a "b" 'c' $d $$ `e` \f %i %% {g} \\""", "Ctrl+Alt+%", 'Super+"', "#", ";", "~")
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def parsed(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def words_of_entry(command: str) -> list[str]:
    """The words by the rules of desktop entries: first those of a text, then those of a command."""
    return words_of_unit(unescaped(command))


def words_of_unit(command: str) -> list[str]:
    """The words by the rules of systemd, for a command in which $ has no meaning."""
    found = _WORD.findall(command.removeprefix(":"))
    return [unescaped(quoted or plain).replace("%%", "%") for quoted, plain in found]


def words_of_activation(command: str) -> list[str]:
    """The words by the rules of D-Bus: first those of a text, then those of a shell."""
    return shlex.split(unescaped(command))


def commands(environment: dict[str, str], *options: str) -> list[tuple[str, list[str]]]:
    """The name of each section with a command, and its words."""
    integration.install(PROGRAM, environment, options)
    readers = {"D-BUS Service": words_of_activation, "Service": words_of_unit}
    return [
        (section, readers.get(section, words_of_entry)(value))
        for path in integration.files(PROGRAM, environment)
        if path.suffix != ".svg"
        for section, values in parsed(path).items()
        for key, value in values.items()
        if key.startswith("Exec")
    ]


def test_the_files_start_the_installed_program(environment: dict[str, str]) -> None:
    """Entry, autostart, activation and unit start the program at its own path, also one with a space."""
    assert [words for _, words in commands(environment)] == [
        *([PROGRAM, action] for action in ("--show", "--toggle", "--new", "--quit")),
        *[[PROGRAM, "--background"]] * 3,
    ]


@pytest.mark.parametrize("word", ODD)
def test_each_start_has_the_options(environment: dict[str, str], word: str) -> None:
    """Autostart, activation and unit start the program with the given options, whatever characters are in them."""
    started = [words for _, words in commands(environment, "--socket", word) if "--background" in words]
    assert started == [[PROGRAM, "--background", "--socket", word]] * 3


def test_the_given_options_are_kept(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--install` keeps the hotkey, or that none is wanted, the theme and the whole path of the socket, and nothing that is not given."""
    for name, value in {"XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [PROGRAM])
    entry = tmp_path / ".config" / "autostart" / "dev.aeon.Popup.desktop"
    given = ["--hotkey", "Super+A", "--theme", "dark", "--socket", "own.sock"]
    kept = [*given[:-1], str(tmp_path / "own.sock")]
    unwanted = ["--hotkey", "none"]
    for options, wanted in ((given, kept), (unwanted, unwanted), ([], [])):
        assert __main__.main(["--install", *options]) == 0
        started = words_of_entry(parsed(entry)["Desktop Entry"]["Exec"])
        assert started == [PROGRAM, "--background", *wanted]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["--hotkey", "A"], "has no modifier"),
        (["--theme", "blue"], "invalid choice"),
        (["--socket", "a\nb"], "cannot stand in the files"),
        (["--socket", "a" * 200], "A socket path must have"),
    ],
)
def test_what_cannot_be_kept_is_an_error(
    given: list[str],
    problem: str,
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`--install` writes nothing for an option that the program would not accept, or that has a line break."""
    for name, value in {"XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", **environment}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="2"):
        __main__.main(["--install", *given])
    assert problem in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "environment", "wanted"),
    [
        ([], {}, ("Ctrl+Alt+Space", "auto")),
        ([], {"AEON_POPUP_HOTKEY": "super+a", "AEON_POPUP_THEME": "light"}, ("Super+A", "light")),
        ([], {"AEON_POPUP_HOTKEY": "none"}, ("", "auto")),
        (["--hotkey", "none"], {"AEON_POPUP_HOTKEY": "Super+A"}, ("", "auto")),
        (["--hotkey", "Super+B", "--theme", "dark"], {"AEON_POPUP_HOTKEY": "A"}, ("Super+B", "dark")),
        ([], {"AEON_POPUP_HOTKEY": "A"}, "has no modifier"),
        ([], {"AEON_POPUP_THEME": "blue"}, "unknown theme 'blue' in AEON_POPUP_THEME"),
    ],
)
def test_the_environment_has_the_defaults(
    given: list[str], environment: dict[str, str], wanted: tuple[str, str] | str
) -> None:
    """The variables choose hotkey and theme where no option does, and the same values are errors."""
    options = __main__.command_line().parse_args(given)
    if isinstance(wanted, str):
        with pytest.raises(ValueError, match=wanted):
            __main__.chosen(options, environment)
        return
    keys, theme = __main__.chosen(options, environment)
    assert (keys.text if keys else "", theme) == wanted


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
