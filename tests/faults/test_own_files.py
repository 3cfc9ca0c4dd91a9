"""The daemon's own files stay out of reach of its tools, also when they lie inside a workspace."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import Resolver, keep_out, resolve_by_steps, resolve_in_kernel
from aeond.daemon.config.paths import Paths, paths_of, real_names
from aeond.daemon.config.schema import Config
from aeond.domain.runs.run import Owner
from aeond.errors import RefusedError, ToolError
from aeond.service.runs.workspaces import Workspaces


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that is used as a workspace, with the daemon's state, its configuration and ways to them in it."""
    state = tmp_path / ".local" / "state"
    (state / "workspaces" / "run").mkdir(parents=True)
    (state / "journal.db").write_text("the truth")
    (state / "workspaces" / "run" / "own.txt").write_text("fine")
    (tmp_path / "aeond.toml").write_text("[runs]")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "shortcut").symlink_to(".local/state")
    (tmp_path / "link.toml").symlink_to("aeond.toml")
    return tmp_path.resolve()


@pytest.fixture(params=[resolve_in_kernel, resolve_by_steps], ids=["in kernel", "by steps"])
def files(request: pytest.FixtureRequest, home: Path) -> ContainedFiles:
    resolve: Resolver = request.param
    state = home / ".local" / "state"
    places = [str(state), str(home / "aeond.toml")]
    return ContainedFiles(keep_out(resolve, places, but_for=[str(state / "workspaces")]))


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """The places of a daemon that was given a credential, a key and a token, the token by way of a link."""
    credentials = tmp_path / "credentials" / "aeond.service"
    credentials.mkdir(parents=True)
    for file in (credentials / "hub", tmp_path / "key", tmp_path / "token-1"):
        file.write_text("7321")
    (tmp_path / "token").symlink_to("token-1")
    (tmp_path / "shortcut").symlink_to("credentials/aeond.service")
    (tmp_path / "self").symlink_to("/proc/self")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(credentials))
    monkeypatch.setenv("HOME", str(tmp_path))
    config = Config.model_validate(
        {
            "daemon": {"state_dir": str(tmp_path / "state")},
            "socket": {"path": str(tmp_path / "run" / "aeond.sock")},
            "model": {"hub_token_file": str(tmp_path / "token")},
            "remote": {"key_file": "~/key"},
        }
    )
    return paths_of(config, tmp_path / "etc" / "aeond.toml")


SECRET = ["credentials/aeond.service/hub", "shortcut/hub", "key", "token", "token-1", "./credentials/../key"]
OF_THIS_PROCESS = ["environ", "mem", "maps", "task/../environ", "fd/0", "root/proc/self/environ"]


@pytest.mark.parametrize("resolve", [resolve_in_kernel, resolve_by_steps])
@pytest.mark.parametrize("path", SECRET)
def test_secrets_are_not_read(guarded: Paths, tmp_path: Path, resolve: Resolver, path: str) -> None:
    """No tool reads a credential, a key or a token, by whatever path, in whatever workspace above it."""
    files = ContainedFiles(keep_out(resolve, real_names(guarded.own_files)))
    for workspace, below in ((tmp_path, path), (Path("/"), str(tmp_path / path).lstrip("/"))):
        with pytest.raises(ToolError), files.open_file(below, str(workspace)):
            pass
        with pytest.raises(ToolError):
            files.write_file(below, str(workspace), b"lies", "run/step")
    assert (tmp_path / "key").read_text() == "7321"


@pytest.mark.parametrize("resolve", [resolve_in_kernel, resolve_by_steps])
@pytest.mark.parametrize("path", OF_THIS_PROCESS)
def test_the_process_is_not_read(guarded: Paths, resolve: Resolver, path: str) -> None:
    """No tool reads the daemon's variables or its memory where Linux shows them as files."""
    files = ContainedFiles(keep_out(resolve, real_names(guarded.own_files)))
    for workspace, below in (("/", f"proc/self/{path}"), ("/", f"proc/{os.getpid()}/{path}")):
        with pytest.raises(ToolError), files.open_file(below, workspace):
            pass


def test_a_workspace_that_turns_into_a_link_shows_no_secret(guarded: Paths, tmp_path: Path) -> None:
    """A workspace replaced by a link after it was allowed gives no access to protected files."""
    files = ContainedFiles(keep_out(resolve_in_kernel, real_names(guarded.own_files)))
    for link, name in (("shortcut", "hub"), ("self", "environ")):
        with pytest.raises(ToolError), files.open_file(name, str(tmp_path / link)):
            pass


@pytest.mark.parametrize(
    "folder", ["credentials/aeond.service", "shortcut", "self", "/proc", "/proc/self/fd", "/sys/kernel"]
)
async def test_no_run_works_among_secrets(guarded: Paths, tmp_path: Path, folder: str) -> None:
    """Neither the folder of the credentials nor what Linux shows of processes is a workspace, by no link."""
    workspaces = Workspaces(
        own=guarded.workspaces, roots=[Path("/")], protected=guarded.own_files, user_id=1000
    )
    with pytest.raises(RefusedError) as raised:
        await workspaces.resolve(str(tmp_path / folder), "run", Owner(1000))
    assert raised.value.reason == "WORKSPACE_PROTECTED"


INSIDE = [".local/state/journal.db", "./.local/../.local/state/journal.db", "shortcut/journal.db"]
CONFIGURATION = ["aeond.toml", "link.toml", ".local/../aeond.toml"]


@pytest.mark.parametrize("path", [*INSIDE, *CONFIGURATION])
def test_own_files_are_not_read(files: ContainedFiles, home: Path, path: str) -> None:
    """No path and no link opens a file of the daemon's own."""
    with pytest.raises(ToolError), files.open_file(path, str(home)):
        pass


@pytest.mark.parametrize("path", [*INSIDE, *CONFIGURATION, ".local/state/new.db", "shortcut/new/new.db"])
def test_own_files_are_not_written(files: ContainedFiles, home: Path, path: str) -> None:
    """No path and no link replaces a file of the daemon's own or puts one beside it."""
    with pytest.raises(ToolError):
        files.write_file(path, str(home), b"lies", "run/step")
    state = home / ".local" / "state"
    assert (state / "journal.db").read_text() == "the truth"
    assert (home / "aeond.toml").read_text() == "[runs]"
    assert sorted(os.listdir(state)) == ["journal.db", "workspaces"]


def test_the_state_is_not_listed(files: ContainedFiles, home: Path) -> None:
    """The folder of the daemon's state cannot be listed."""
    with pytest.raises(ToolError), files.open_folder(".local/state", str(home)):
        pass


def test_everything_else_in_the_workspace_works(files: ContainedFiles, home: Path) -> None:
    """Files beside the daemon's own are read and written, and so are the workspaces that it keeps itself."""
    with files.open_file("notes.txt", str(home)) as opened:
        assert os.pread(opened, 100, 0) == b"hello"
    files.write_file("notes.txt", str(home), b"hello again", "run/step")
    own = home / ".local" / "state" / "workspaces" / "run"
    files.write_file("own.txt", str(own), b"finer", "run/step")
    assert (own / "own.txt").read_text() == "finer"


def test_own_files_that_do_not_exist_are_not_made(home: Path) -> None:
    """A file that the daemon would trust is not written where it is missing, nor is one renamed to it."""
    places = [str(home / name) for name in ("tools.py", "a/build")]
    files = ContainedFiles(keep_out(resolve_in_kernel, places))
    for path in ("tools.py", "./a/../tools.py", "a/build", "a/build/x/y.py"):
        for attempt in (
            partial(files.write_file, path, str(home), b"lies", "run/step"),
            partial(files.move_file, "notes.txt", path, str(home)),
        ):
            with pytest.raises(ToolError):
                attempt()
    assert not (home / "tools.py").exists()
    assert not (home / "a" / "build").exists()
    files.write_file("a/builds", str(home), b"fine", "run/step")
    files.move_file("notes.txt", "tools.pyi", str(home))


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a folder")
def test_a_second_mount_of_a_home_leads_to_no_own_file(home: Path) -> None:
    """Where a home is mounted at a second path, file tools do not open the daemon's files there, and the second path is
    among the places that workspaces and sandboxes exclude.
    """
    (home / "data").mkdir()
    program = f"""
import subprocess
from pathlib import Path
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import keep_out, resolve_in_kernel
from aeond.daemon.config.paths import Paths, real_names
from aeond.errors import ToolError

home = Path({str(home)!r})
subprocess.run(["mount", "--bind", home / ".local", home / "data"], check=True)
own = Paths(home / "aeond.toml", home / ".local/state", home / "s", home, home).own_files
files = ContainedFiles(keep_out(resolve_in_kernel, real_names(own)))
try:
    with files.open_file("state/journal.db", str(home / "data")):
        print("read")
except ToolError as error:
    print(error.reason)
print(home / "data/state" in own)
"""
    command = ["unshare", "--mount", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and "mount" in done.stderr:
        pytest.skip("this machine does not let the test mount a folder")
    assert done.stdout.split() == ["FILE_FORBIDDEN", "True"], done.stderr
