"""The files that make the popup part of a desktop: application entry, icon, autostart, D-Bus activation, systemd unit."""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files as resources
from pathlib import Path

APP_ID = "dev.aeon.Popup"
UNIT = f"app-{APP_ID}.service"
_ICON = f"{APP_ID}.svg"
_METADATA = f"{APP_ID}.metainfo.xml"
# Words that need no quotes.
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)

_DESKTOP = """[Desktop Entry]
Type=Application
Name=aeon
GenericName=Assistant
Comment=Ask aeond to do something
Icon=dev.aeon.Popup
Exec={program} --show
Terminal=false
DBusActivatable=true
Categories=Utility;
Keywords=AI;assistant;agent;launcher;
StartupNotify=true
Actions=toggle;new;quit;

[Desktop Action toggle]
Name=Open or close
Exec={program} --toggle

[Desktop Action new]
Name=New request
Exec={program} --new

[Desktop Action quit]
Name=Quit
Exec={program} --quit
"""

_AUTOSTART = """[Desktop Entry]
Type=Application
Name=aeon
Comment=Waits for the hotkey of the aeon window
Exec={program} --background{options}
Terminal=false
NoDisplay=true
X-GNOME-Autostart-enabled=true
"""

_ACTIVATION = """[D-BUS Service]
Name=dev.aeon.Popup
Exec={program} --background{options}
SystemdService=app-dev.aeon.Popup.service
"""

# The name of the unit gives the portal the application's id. After the colon systemd leaves $ as it is.
_UNIT = """[Unit]
Description=aeond desktop window
After=graphical-session.target
PartOf=graphical-session.target
StartLimitBurst=5
StartLimitIntervalSec=60

[Service]
Type=dbus
BusName=dev.aeon.Popup
ExecStart=:{program} --background{options}
LockPersonality=yes
NoNewPrivileges=yes
Restart=on-failure
RestartSec=1
RestrictRealtime=yes
Slice=app.slice
SystemCallArchitectures=native
TasksMax=64
UMask=0077
"""


def entry_word(word: str) -> str:
    """The word in a command of a desktop entry: quoted, and then escaped like each text of the entry."""
    escaped = re.sub(r'(["`$\\])', r"\\\1", word).replace("%", "%%")
    return _quoted(word, escaped).replace("\\", "\\\\")


def activation_word(word: str) -> str:
    """The word in the command of a D-Bus service file: quoted as in a shell, and then escaped like each text of the file."""
    return shlex.quote(word).replace("\\", "\\\\")


def unit_word(word: str) -> str:
    """The word in a command of a systemd unit."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return _quoted(word, escaped)


def _quoted(word: str, escaped: str) -> str:
    return escaped if _PLAIN.fullmatch(word) else f'"{escaped}"'


def files(program: str, environment: Mapping[str, str], options: Sequence[str] = ()) -> dict[Path, str]:
    """The path and text of each file of one user, for the program at this absolute path, which is started with these
    options. Raises ValueError for a word that cannot stand in the files.
    """
    home = Path(environment.get("HOME", "/"))
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return _files((program, *options), data, config / "autostart", config / "systemd" / "user")


def system_files(program: str, prefix: Path) -> dict[Path, str]:
    """The same for all users, with the metadata for software catalogues, below a prefix such as /usr."""
    data = prefix / "share"
    return {
        **_files((program,), data, Path("/etc/xdg/autostart"), prefix / "lib" / "systemd" / "user"),
        data / "metainfo" / _METADATA: _stored(_METADATA),
    }


def _files(words: Sequence[str], data: Path, autostart: Path, units: Path) -> dict[Path, str]:
    if odd := [word for word in words if not word.isprintable()]:
        raise ValueError(f"{odd[0]!r} has a character that cannot stand in the files of a desktop")
    texts: dict[Path, tuple[str, Callable[[str], str]]] = {
        data / "applications" / f"{APP_ID}.desktop": (_DESKTOP, entry_word),
        data / "dbus-1" / "services" / f"{APP_ID}.service": (_ACTIVATION, activation_word),
        autostart / f"{APP_ID}.desktop": (_AUTOSTART, entry_word),
        units / UNIT: (_UNIT, unit_word),
    }
    made = {}
    for path, (text, word) in texts.items():
        program, *options = map(word, words)
        made[path] = text.format(program=program, options="".join(f" {one}" for one in options))
    return {**made, data / "icons" / "hicolor" / "scalable" / "apps" / _ICON: _stored(_ICON)}


def _stored(name: str) -> str:
    return resources("aeon_popup").joinpath("data", name).read_text(encoding="utf-8")


def install(
    program: str, environment: Mapping[str, str] = os.environ, options: Sequence[str] = ()
) -> list[Path]:
    """Writes the files for this user, replacing older ones, and returns their paths. Raises OSError, and ValueError for a word
    that cannot stand in them.
    """
    wanted = files(program, environment, options)
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(wanted)


def uninstall(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Removes the files and returns the paths of those that existed. Raises OSError."""
    found = [path for path in files("aeon-popup", environment) if path.exists()]
    for path in found:
        path.unlink()
    return found
