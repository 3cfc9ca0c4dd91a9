"""Where things are."""

import os
from pathlib import Path

import pytest

from aeond.daemon.config.paths import Paths, default_config_file, is_system, paths_of, usual_build
from aeond.daemon.config.schema import Config
from aeond.errors import RefusedError

FILE = Path("/etc/aeond/aeond.toml")
USER = 987_654_321  # the user nobody has no session folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ordinary user's home and nothing else in the environment."""
    monkeypatch.setattr(os, "geteuid", lambda: USER)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_a_user_s_daemon_lives_in_the_user_s_home(home: Path) -> None:
    """Without a word of configuration everything of a user's daemon is below the user's home."""
    paths = paths_of(Config(), FILE)
    assert paths.state_dir == home / ".local/state/aeond"
    assert paths.models_dir == home / ".cache/aeond/models"
    assert paths.socket == home / ".local/state/aeond/run/aeond.sock"
    assert default_config_file() == home / ".config/aeond/aeond.toml"


def test_the_desktop_s_folders_are_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's daemon follows the folders that the session names."""
    for name in ("STATE_HOME", "CONFIG_HOME", "CACHE_HOME", "RUNTIME_DIR"):
        (home / name.lower()).mkdir()
        monkeypatch.setenv(f"XDG_{name}", str(home / name.lower()))
    paths = paths_of(Config(), FILE)
    assert paths.state_dir == home / "state_home/aeond"
    assert paths.models_dir == home / "cache_home/aeond/models"
    assert paths.socket == home / "runtime_dir/aeond/aeond.sock"
    assert default_config_file() == home / "config_home/aeond/aeond.toml"


@pytest.mark.usefixtures("home")
def test_a_system_daemon_lives_in_the_system_s_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root's daemon uses the places of system services."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    paths = paths_of(Config(), FILE)
    assert (str(paths.state_dir), str(paths.socket)) == ("/var/lib/aeond", "/run/aeond/aeond.sock")
    assert str(default_config_file()) == "/etc/aeond/aeond.toml"


def test_root_uses_what_its_demonstration_downloaded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root's daemon looks for models also where `aeond demo` keeps them, unless a folder is configured."""
    assert paths_of(Config(), FILE).own_models_dirs == ()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    paths = paths_of(Config(), FILE)
    assert str(paths.models_dir) == "/var/lib/aeond/models"
    assert paths.own_models_dirs == (home / ".cache/aeond/models",)
    configured = Config.model_validate({"model": {"models_dir": "/srv/models"}})
    assert paths_of(configured, FILE).own_models_dirs == ()


@pytest.mark.usefixtures("home")
def test_a_service_of_a_user_of_its_own_is_a_system_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that systemd gave a state folder of the system needs not be root."""
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/aeond")
    assert is_system()
    assert str(paths_of(Config(), FILE).models_dir) == "/var/lib/aeond/models"


@pytest.mark.usefixtures("home")
def test_private_sockets_are_in_the_runtime_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sockets that only the daemon uses are in its runtime folder, else beside its own socket."""
    config = Config.model_validate({"socket": {"path": "/srv/s.sock"}})
    assert paths_of(config, FILE).inner_dir == Path("/srv/s.sock.inner")
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/aeond-private")
    private = paths_of(config, FILE)
    assert str(private.inner_dir) == "/run/aeond-private/s.sock.inner"
    assert str(private.engine_dir) == "/run/aeond-private/s.sock.engine"


def test_configured_paths_are_used(home: Path) -> None:
    """A configured place wins over the usual one, with ~ for the home."""
    config = Config.model_validate({"daemon": {"state_dir": "~/there"}, "socket": {"path": "/srv/s.sock"}})
    paths = paths_of(config, FILE)
    assert (paths.state_dir, paths.socket) == (home / "there", Path("/srv/s.sock"))


@pytest.mark.usefixtures("home")
def test_the_daemon_s_folders_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that the daemon makes can be entered by its user alone."""
    paths = paths_of(Config(), FILE)
    monkeypatch.setattr(os, "geteuid", os.getuid)  # whose the folders will be
    monkeypatch.setattr("aeond.daemon.config.paths.is_system", lambda: False)
    paths.make()
    for folder in (paths.state_dir, paths.socket.parent, paths.inner_dir):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_what_the_daemon_would_trust_is_not_left_for_tools_to_create(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folders of builds and of the configuration exist once the daemon has started, so that sandboxes can hide them,
    also one that is configured below folders that do not exist.
    """
    paths = paths_of(Config.model_validate({"model": {"native_build": "~/a/b/c"}}), FILE)
    monkeypatch.setattr(os, "geteuid", os.getuid)  # whose the folders will be
    monkeypatch.setattr("aeond.daemon.config.paths.is_system", lambda: False)
    paths.make()
    for folder in (default_config_file().parent, paths.engine_dir, home / "a/b/c"):
        assert (folder.is_dir(), folder.stat().st_mode & 0o777) == (True, 0o700)
    assert [place for place in paths.own_files if not place.exists() and home in place.parents] == []


def test_a_folder_beside_an_environment_in_a_home_is_no_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a checkout has its builds beside its environment: a tool could create a folder of that name in a home."""
    (tmp_path / ".venv-llama").mkdir()
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))
    assert usual_build("llama") != tmp_path / ".venv-llama"


def test_an_open_state_folder_is_closed_with_its_databases(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A state folder that all users may write, and a journal that they may read and write, are closed at the start,
    with a word in the log; the daemon used to start without one."""
    paths = Paths(FILE, tmp_path / "state", tmp_path / "aeond.sock", tmp_path, tmp_path)
    paths.state_dir.mkdir()
    paths.state_dir.chmod(0o777)
    for file in (paths.journal, paths.state_dir / "journal.db-wal"):
        file.touch()
        file.chmod(0o666)
    paths.make()
    assert paths.state_dir.stat().st_mode & 0o777 == 0o700
    for file in (paths.journal, paths.state_dir / "journal.db-wal"):
        assert file.stat().st_mode & 0o777 == 0o600
        assert str(file) in caplog.text


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    """A place that cannot be used gives an error that names it."""
    (tmp_path / "file").write_text("")
    paths = Paths(FILE, tmp_path / "file" / "state", tmp_path / "aeond.sock", tmp_path, tmp_path)
    with pytest.raises(RefusedError, match="file/state cannot be created") as raised:
        paths.make()
    assert raised.value.reason == "FOLDER_REFUSED"


@pytest.mark.usefixtures("home")
def test_the_daemons_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State, configuration, private sockets, secrets, its tools' code and what Linux shows of processes are its own."""
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "credentials"))
    config = Config.model_validate(
        {
            "model": {"hub_token_file": "~/hub", "native_build": "~/llama"},
            "remote": {"key_file": "~/key"},
            "tools": {"files": ["~/tools.py"]},
            "vllm": {"environment": "~/vllm"},
            "aider": {"environment": "~/aider"},
        }
    )
    paths = paths_of(config, tmp_path / "other.toml")
    own = {str(place.relative_to(tmp_path)) for place in paths.own_files if place.is_relative_to(tmp_path)}
    state = ".local/state/aeond"
    assert own == {
        *(state, f"{state}/run/aeond.sock.engine", f"{state}/run/aeond.sock.inner"),
        *(".config/aeond", "other.toml", "credentials", "hub", "key"),
        *("tools.py", "vllm", "aider", "llama"),
    }
    assert {Path("/proc"), Path("/sys")} < set(paths.own_files)


@pytest.mark.parametrize(
    ("path", "admin_path", "admin"),
    [
        ("/run/aeond/aeond.sock", "", "/run/aeond/aeond-admin.sock"),
        ("/srv/x", "", "/srv/x-admin"),
        ("/srv/x", "/srv/y", "/srv/y"),
    ],
)
def test_the_administrative_socket_is_beside_the_socket(path: str, admin_path: str, admin: str) -> None:
    """Its name is that of the socket with -admin before the suffix, unless it is configured."""
    config = Config.model_validate({"socket": {"path": path, "admin_path": admin_path}})
    assert paths_of(config, FILE).admin_socket == Path(admin)
