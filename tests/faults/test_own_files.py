"""The daemon's own files stay out of reach of its tools, also when they lie inside a workspace."""

import os
from pathlib import Path

import pytest

from aeond.capabilities.tools.beneath import Resolver, keep_out, resolve_by_steps, resolve_in_kernel
from aeond.capabilities.tools.contained_files import ContainedFiles
from aeond.errors import ToolError


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
