"""The client distributions: built offline, complete, and usable where the daemon is not installed."""

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

import anyio
import pytest
from packaging.requirements import Requirement

import aeond
from tests.support.repository import ROOT, tracked_files
from tests.support.scripted_daemon import ScriptedDaemon

pytestmark = pytest.mark.slow

WHEELS = ("aeond-client", "aeonctl", "aeon-popup")
ASK = "import sys; from aeond_client import Client\nwith Client(sys.argv[1]) as client: print(client.run('2 + 2').text)"
ABSENT = """
from importlib.util import find_spec
names = "anyio apsw pydantic numpy xllamacpp aeond.daemon aeond.kernel aeond.server aeond.facades".split()
print([name for name in names if find_spec(name)])
"""


def run(*command: str | Path, **environment: str) -> str:
    outcome = subprocess.run(
        command,
        cwd="/",
        env={**{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each distribution, built without the network and without the daemon's libraries."""
    built: dict[str, Path] = {}
    for name in WHEELS:
        folder = tmp_path_factory.mktemp(name)
        options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder)
        run(sys.executable, "-m", "pip", "wheel", *options, ROOT / "package" / "wheels" / name)
        (built[name],) = folder.glob("*.whl")
    return built


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def requirements(wheel: Path) -> list[Requirement]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    return [
        Requirement(line.removeprefix("Requires-Dist: "))
        for line in lines
        if line.startswith("Requires-Dist: ")
    ]


def environment(folder: Path, wheels: Iterable[Path]) -> Path:
    """The programs' folder of an environment that has these wheels, and links to the libraries that they require."""
    venv.create(folder, symlinks=True)
    site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    found = list(wheels)
    waiting = [one for wheel in found for one in requirements(wheel)]
    linked = set(WHEELS)
    while waiting:
        wanted = waiting.pop()
        if wanted.name in linked or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        linked.add(wanted.name)
        library = distribution(wanted.name)
        assert library.version in wanted.specifier
        waiting.extend(map(Requirement, library.requires or []))
        for file in library.files or []:
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                (site / file).symlink_to(str(library.locate_file(file)))
    pip = ("-m", "pip", "--python", folder / "bin" / "python")
    run(sys.executable, *pip, "install", "--quiet", "--no-index", "--no-deps", *found)
    run(sys.executable, *pip, "check")
    return folder / "bin"


def test_every_file_of_the_clients_is_in_one_distribution(wheels: dict[str, Path]) -> None:
    """The contract and the clients' packages are in the three wheels, each file in one of them, and nothing else is."""
    held = [name for wheel in wheels.values() for name in contents(wheel)]
    wanted = {
        str(path.relative_to(base))
        for base, parts in (
            (ROOT, ["aeond/api"]),
            (ROOT / "clients", ["aeond_client", "aeon_cli", "aeon_web", "aeon_popup"]),
        )
        for part in parts
        for path in tracked_files()
        if path.is_relative_to(base / part)
    }
    assert len(held) == len(set(held))
    assert set(held) == wanted


def test_the_distributions_have_the_version_of_the_daemon(wheels: dict[str, Path]) -> None:
    """Each wheel has the daemon's version, and asks for just that version of the others."""
    assert {wheel.name.split("-")[1] for wheel in wheels.values()} == {aeond.__version__}
    between = {
        name: [str(one) for one in requirements(wheel) if one.name in WHEELS]
        for name, wheel in wheels.items()
    }
    assert between == {
        "aeond-client": [],
        "aeonctl": [f"aeond-client=={aeond.__version__}"],
        "aeon-popup": [f"aeonctl=={aeond.__version__}"],
    }


async def test_a_program_talks_to_a_daemon_with_the_client_alone(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    """With the wheel of the client, grpcio and protobuf a program gets an answer, and no part of the daemon is there."""
    programs = environment(tmp_path / "env", [wheels["aeond-client"]])
    assert run(programs / "python", "-c", ABSENT) == "[]\n"
    async with ScriptedDaemon(tmp_path / "s"):
        command = [str(programs / "python"), "-I", "-c", ASK, str(tmp_path / "s")]
        outcome = await anyio.run_process(command, check=False, cwd="/")
    assert (outcome.stderr, outcome.stdout) == (b"", b"It is 420.\n")


async def test_the_command_line_works_without_the_daemon(wheels: dict[str, Path], tmp_path: Path) -> None:
    """With the wheels of client and command line, aeonctl says its version and shows the status of a daemon."""
    programs = environment(tmp_path / "env", [wheels["aeond-client"], wheels["aeonctl"]])
    assert run(programs / "aeonctl", "--version") == f"aeonctl {aeond.__version__}\n"
    assert run(programs / "python", "-c", ABSENT) == "[]\n"
    async with ScriptedDaemon(tmp_path / "s"):
        command = [str(programs / "aeonctl"), "--socket", str(tmp_path / "s"), "status"]
        outcome = await anyio.run_process(command, check=False, cwd="/")
    assert (outcome.stderr, outcome.returncode) == (b"", 0)
    assert b"tiny" in outcome.stdout


def test_the_window_comes_with_what_it_needs(wheels: dict[str, Path], tmp_path: Path) -> None:
    """With the three wheels aeon-popup has every library that it imports, and adds itself to a user's desktop."""
    programs = environment(tmp_path / "env", wheels.values())
    run(programs / "python", "-c", "import aeon_popup.app", QT_QPA_PLATFORM="offscreen")
    written = run(
        programs / "aeon-popup", "--install", HOME=str(tmp_path), XDG_DATA_HOME="", XDG_CONFIG_HOME=""
    )
    assert str(tmp_path / ".local/share/applications/dev.aeon.Popup.desktop") in written
