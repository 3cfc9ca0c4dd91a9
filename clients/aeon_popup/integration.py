"""The files that make the popup part of a desktop: application entry, icon, autostart, D-Bus activation, systemd unit."""

import os
import shlex
from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path

APP_ID = "dev.aeon.Popup"
UNIT = f"app-{APP_ID}.service"
_ICON = f"{APP_ID}.svg"
_METADATA = f"{APP_ID}.metainfo.xml"

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
Exec={program} --background
Terminal=false
NoDisplay=true
X-GNOME-Autostart-enabled=true
"""

_ACTIVATION = """[D-BUS Service]
Name=dev.aeon.Popup
Exec={program} --background
SystemdService=app-dev.aeon.Popup.service
"""

# The name of the unit gives the portal the application's id.
_UNIT = """[Unit]
Description=aeond desktop window
After=graphical-session.target
PartOf=graphical-session.target
StartLimitBurst=5
StartLimitIntervalSec=60

[Service]
Type=dbus
BusName=dev.aeon.Popup
ExecStart={program} --background
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


def files(program: str, environment: Mapping[str, str]) -> dict[Path, str]:
    """The path and text of each file of one user, for the program at this absolute path."""
    home = Path(environment.get("HOME", "/"))
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return _files(program, data, config / "autostart", config / "systemd" / "user")


def system_files(program: str, prefix: Path) -> dict[Path, str]:
    """The same for all users, with the metadata for software catalogues, below a prefix such as /usr."""
    data = prefix / "share"
    return {
        **_files(program, data, Path("/etc/xdg/autostart"), prefix / "lib" / "systemd" / "user"),
        data / "metainfo" / _METADATA: _stored(_METADATA),
    }


def _files(program: str, data: Path, autostart: Path, units: Path) -> dict[Path, str]:
    texts = {
        data / "applications" / f"{APP_ID}.desktop": _DESKTOP,
        data / "dbus-1" / "services" / f"{APP_ID}.service": _ACTIVATION,
        autostart / f"{APP_ID}.desktop": _AUTOSTART,
        units / UNIT: _UNIT,
    }
    return {
        **{path: text.format(program=shlex.quote(program)) for path, text in texts.items()},
        data / "icons" / "hicolor" / "scalable" / "apps" / _ICON: _stored(_ICON),
    }


def _stored(name: str) -> str:
    return resources("aeon_popup").joinpath("data", name).read_text(encoding="utf-8")


def install(program: str, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Writes the files for this user, replacing older ones, and returns their paths. Raises OSError."""
    wanted = files(program, environment)
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
