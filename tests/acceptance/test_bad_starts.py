"""A daemon that cannot start says why, with an exit code of its own, and breaks nothing."""

import hashlib
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aeond.daemon.exits import Exit
from aeond_client.client import Client
from tests.support.daemon_process import COMMAND, DaemonProcess, Overrides, daemon_folder, running_daemon


@pytest.fixture(scope="module")
def first() -> Iterator[DaemonProcess]:
    """A daemon that runs, and that is left alone."""
    with running_daemon() as daemon:
        yield daemon


@pytest.fixture(scope="module")
def used_state() -> Iterator[Path]:
    """The state folder of a daemon that has run once and stopped in order."""
    with daemon_folder() as folder:
        daemon = DaemonProcess(folder)
        with daemon, Client(daemon.socket) as client:
            client.write_memory("key", "value")
        yield daemon.state_dir


@pytest.fixture
def used(folder: Path, used_state: Path) -> DaemonProcess:
    """A daemon with such a state."""
    daemon = DaemonProcess(folder)
    shutil.copytree(used_state, daemon.state_dir)
    daemon.write_config()
    return daemon


def failed_start(daemon: DaemonProcess) -> int:
    """The exit code of a start that must not succeed."""
    daemon.log_file.unlink(missing_ok=True)
    daemon.write_config()
    daemon.spawn()
    return daemon.wait(30)


def test_a_second_daemon_on_the_same_state_is_refused(first: DaemonProcess) -> None:
    """A daemon whose state another one uses ends with 3 and leaves that one alone."""
    second = DaemonProcess(first.folder)
    second.log_file = first.folder / "second.log"
    assert failed_start(second) == Exit.ANOTHER_INSTANCE
    assert f"process {first.pid}" in second.log
    with Client(first.socket) as client:
        assert client.get_status().pid == first.pid


def test_a_second_daemon_on_the_same_socket_is_refused(first: DaemonProcess, folder: Path) -> None:
    """A daemon whose socket another one answers on ends with 3 and leaves that one alone."""
    second = DaemonProcess(folder, {"socket": {"path": str(first.socket)}})
    assert failed_start(second) == Exit.ANOTHER_INSTANCE
    assert f"process {first.pid}) uses {first.socket}:" in second.log
    with Client(first.socket) as client:
        assert client.get_status().pid == first.pid


def test_daemons_with_sockets_in_one_folder_leave_each_other_alone(
    first: DaemonProcess, folder: Path
) -> None:
    """A second daemon whose socket is beside the first one's comes and goes, and the first one goes on answering."""
    beside = first.folder / "beside.sock"
    with DaemonProcess(folder, {"socket": {"path": str(beside)}}) as second:
        with Client(beside) as client, Client(first.socket) as other:
            assert (client.get_status().pid, other.get_status().pid) == (second.pid, first.pid)
        assert second.stop() == Exit.OK
    with Client(first.socket) as client:
        assert client.get_status().pid == first.pid


def test_a_stale_socket_is_replaced(folder: Path) -> None:
    """The socket of a killed daemon is replaced."""
    daemon = DaemonProcess(folder)
    with daemon:
        daemon.kill()
        assert daemon.socket.exists()
        daemon.start()
        with Client(daemon.socket) as client:
            assert client.get_status().pid == daemon.pid
    assert not daemon.socket.exists()


def test_a_file_in_the_sockets_place_is_left_alone(folder: Path) -> None:
    """A file in the socket's place is not removed: the daemon ends with 5."""
    daemon = DaemonProcess(folder)
    daemon.socket.write_text("mine")
    assert failed_start(daemon) == Exit.SOCKET
    assert daemon.socket.read_text() == "mine"


def test_a_socket_path_that_is_too_long_is_reported(folder: Path) -> None:
    """A path that no socket can have ends the start with 5 and its length."""
    daemon = DaemonProcess(folder, {"socket": {"path": str(folder / ("x" * 120))}})
    assert failed_start(daemon) == Exit.SOCKET
    assert "107 bytes" in daemon.log


def _truncate(journal: Path) -> None:
    with journal.open("r+b") as file:
        file.truncate(50)


def _scramble(journal: Path) -> None:
    with journal.open("r+b") as file:
        file.seek(0)
        file.write(b"\xde\xad\xbe\xef" * 1024)


def _damage_pages(journal: Path) -> None:
    with journal.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)


def _from_the_future(journal: Path) -> None:
    with sqlite3.connect(journal) as connection:
        connection.execute("PRAGMA user_version = 4711")
    connection.close()


def _of_another_user(journal: Path) -> None:
    journal.unlink()
    with sqlite3.connect(journal) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()


@pytest.mark.parametrize(
    "harm",
    [_truncate, _scramble, _damage_pages, _from_the_future, _of_another_user],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("name", ["journal.db", "memory.db", "sessions.db", "undo.db"])
def test_a_file_that_cannot_be_used_is_kept(
    used: DaemonProcess, harm: Callable[[Path], None], name: str
) -> None:
    """A damaged, newer or foreign journal, memory or file of sessions ends the start with 4 and stays as it is, byte for byte."""
    file = used.state_dir / name
    harm(file)
    before = hashlib.sha256(file.read_bytes()).digest()
    assert failed_start(used) == Exit.JOURNAL
    assert str(file) in used.log
    assert "Traceback" not in used.log
    assert hashlib.sha256(file.read_bytes()).digest() == before


def test_a_state_folder_that_cannot_be_used_is_reported(folder: Path) -> None:
    """A state folder without a lock that can be opened ends the start with 2, the folder, and what to do."""
    daemon = DaemonProcess(folder)
    (daemon.state_dir / "aeond.lock").mkdir(parents=True)
    assert failed_start(daemon) == Exit.CONFIG
    assert f"make this user the owner of {daemon.state_dir}" in daemon.log
    assert "Traceback" not in daemon.log


def test_a_folder_in_the_journal_s_place_is_reported(used: DaemonProcess) -> None:
    """Something that is no file ends the start with 4."""
    (used.state_dir / "journal.db").unlink()
    (used.state_dir / "journal.db").mkdir()
    assert failed_start(used) == Exit.JOURNAL


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"log": {"level": "loud"}}, "log.level is 'loud'"),
        ({"log": {"colour": True}}, "unknown key log.colour; valid keys are level, format"),
        ({"lgo": {"level": "info"}}, "unknown key lgo"),
        ({"runs": {"max_running": "four"}}, "runs.max_running is 'four'"),
        ({"socket": {"group": "no-such-group"}}, "unknown group 'no-such-group'"),
        ({"socket": {"allow_users": ["no-such-user"]}}, "unknown user 'no-such-user'"),
        ({"tools": {"files": ["/no/such/tools.py"]}}, "/no/such/tools.py"),
        ({"model": {"engine": "scripted", "script": "/no/such/script.json"}}, "/no/such/script.json"),
        ({"model": {"engine": "llama_cpp", "name": "no-such-model"}}, "no model 'no-such-model'"),
    ],
)
def test_a_wrong_configuration_is_reported(folder: Path, overrides: Overrides, said: str) -> None:
    """A mistake in the configuration ends the start with 2 and one clear message."""
    daemon = DaemonProcess(folder, overrides)
    assert failed_start(daemon) == Exit.CONFIG
    assert said in daemon.log
    assert "Traceback" not in daemon.log


def test_a_tool_file_that_breaks_is_reported_with_its_line(folder: Path) -> None:
    """An error in a user's tool file is reported with file and line."""
    tools = folder / "tools.py"
    tools.write_text("import os\n\nTOOLS = [1 / 0]\n")
    daemon = DaemonProcess(folder, {"tools": {"files": [str(tools)]}})
    assert failed_start(daemon) == Exit.CONFIG
    assert f"{tools}: line 3" in daemon.log


def test_a_configuration_is_checked_without_starting(folder: Path) -> None:
    """`aeond check-config` says what a start would say, and ends with 2 or 0."""
    daemon = DaemonProcess(folder, {"log": {"level": "loud"}})
    daemon.write_config()
    wrong = _aeond("check-config", str(daemon.config_file))
    assert wrong.returncode == Exit.CONFIG
    assert f"{daemon.config_file}:" in wrong.stderr
    printed = _aeond("check-config", "--defaults")
    daemon.config_file.write_text(printed.stdout)
    right = _aeond("check-config", str(daemon.config_file))
    assert (right.returncode, right.stderr) == (Exit.OK, "")


def test_the_doctor_names_what_is_wrong(used: DaemonProcess) -> None:
    """`aeond doctor` finds a damaged journal and ends with 1; while all is well it ends with 0."""
    well = _aeond("doctor", "--config", str(used.config_file))
    assert well.returncode == Exit.OK, well.stdout
    _scramble(used.state_dir / "journal.db")
    ill = _aeond("doctor", "--config", str(used.config_file))
    assert ill.returncode == Exit.PROBLEM
    assert "BAD  journal" in ill.stdout


def test_the_doctor_may_look_at_a_running_daemon(first: DaemonProcess) -> None:
    """A look at a daemon that works finds it well and does not disturb it."""
    with Client(first.socket) as client:
        client.write_memory("key", "value")
        looked = _aeond("doctor", "--config", str(first.config_file))
        assert looked.returncode == Exit.OK, looked.stdout
        assert f"a daemon is listening on {first.socket}" in looked.stdout
        assert client.read_memory("key") == "value"


def _aeond(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], check=False, capture_output=True, text=True, timeout=60)
