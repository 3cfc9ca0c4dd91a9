"""The installed packages: the wheel, and the dependencies of each extra."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support.dependencies import PINS
from tests.support.repository import ROOT

pytestmark = pytest.mark.slow


def run(*command: str | Path) -> str:
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as users get it."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT)
    (built,) = folder.glob("aeond-*.whl")
    return built


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The Python of an environment that has the wheel with its command line and nothing else."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--constraint", PINS, f"{wheel}[cli]")
    return python


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    """The wheel has the daemon, the client library, the command line, the page and the window, with their types."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "aeond",
        "aeond_client",
        "aeon_cli",
        "aeon_popup",
        "aeon_web",
    }
    assert {
        f"{top}/py.typed" for top in ("aeond", "aeond_client", "aeon_cli", "aeon_popup", "aeon_web")
    } <= names
    assert {f"aeon_web/page/{name}" for name in ("index.html", "app.js", "style.css")} <= names


def test_clients_install_without_the_daemon(fresh: Path) -> None:
    """A client program gets the contract and the client library with grpcio and protobuf alone."""
    installed = run(fresh, "-m", "pip", "list", "--format", "freeze").split()
    names = {line.partition("==")[0] for line in installed}
    extras_of_the_command_line = {"click", "h11", "rich", "markdown-it-py", "mdurl", "Pygments", "pygments"}
    assert names - extras_of_the_command_line - {"pip", "setuptools"} == {
        "aeond",
        "grpcio",
        "protobuf",
        "typing_extensions",
    }


def test_clients_work_without_the_daemon(fresh: Path) -> None:
    """The contract, the client library and aeonctl can be imported and used where no daemon is."""
    run(fresh, "-c", "import aeond.api.v1.runs_pb2_grpc, aeond_client, aeon_cli.main, aeon_web.server")
    assert "ask" in run(fresh.with_name("aeonctl"), "--help")


def test_the_daemon_says_what_it_lacks(fresh: Path) -> None:
    """Where only the clients are installed, `aeond` says which extra to install and starts nothing."""
    outcome = subprocess.run(
        [fresh.with_name("aeond"), "serve"], capture_output=True, text=True, check=False, timeout=60
    )
    assert outcome.returncode != 0
    assert "pip install '.[daemon]'" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_the_window_says_what_it_lacks(fresh: Path) -> None:
    """Where the extra is not installed, `aeon-popup` names it and starts nothing."""
    outcome = subprocess.run(
        [fresh.with_name("aeon-popup")], capture_output=True, text=True, check=False, timeout=60
    )
    assert outcome.returncode == 1
    assert "pip install '.[popup]'" in outcome.stderr
    assert "Traceback" not in outcome.stderr
