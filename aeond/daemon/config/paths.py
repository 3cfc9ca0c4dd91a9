"""Default paths: those of a system service, or those of a user."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import field
from functools import partial
from itertools import chain
from pathlib import Path

import aeond
from aeond.daemon.config.schema import Config
from aeond.daemon.config.secrets import secret_places
from aeond.daemon.mounts import other_names
from aeond.errors import RefusedError
from aeond.frozen import frozen
from aeond.private_folders import close_to_others, make_private

SYSTEM_CONFIG = Path("/etc/aeond/aeond.toml")
SERVICE_SOCKETS = Path("/run/aeond")
"""The folder of the system service's sockets: the daemon's, and those it connects to."""
_SHOWN_BY_LINUX = (Path("/proc"), Path("/sys"))
"""Pseudo file systems: their files expose this process's memory and environment, and the machine."""


def is_system() -> bool:
    """Whether this process serves the whole machine: root, or a service with a systemd state folder outside
    home folders.
    """
    return os.geteuid() == 0 or os.environ.get("STATE_DIRECTORY", "").startswith("/var/lib/")


def usual_build(name: str) -> Path:
    """The default folder of a separate build, such as `engine` for vLLM's environment, `llama` for llama.cpp built for
    this processor, and `aider`: in a checkout, beside our own environment.
    """
    checkout = Path(aeond.__file__).parent.parent
    in_checkout = checkout / f".venv-{name}"
    # Beside an environment elsewhere, such as one in a home, a tool could make a folder of this name.
    if Path(sys.prefix).parent == checkout and in_checkout.is_dir():
        return in_checkout
    if is_system():
        return Path(f"/opt/aeond-{name}")
    return _home("XDG_DATA_HOME", ".local/share") / "aeond" / name


def _home(variable: str, below: str) -> Path:
    given = os.environ.get(variable, "")
    return Path(given) if given.startswith("/") else Path.home() / below


@frozen
class Paths:
    """Every path that a daemon uses."""

    config_file: Path
    state_dir: Path
    socket: Path
    models_dir: Path
    private_dir: Path
    own_models_dirs: tuple[Path, ...] = ()
    engine_environment: Path = field(default_factory=partial(usual_build, "engine"))
    aider_environment: Path = field(default_factory=partial(usual_build, "aider"))
    native_build: Path = field(default_factory=partial(usual_build, "llama"))
    secrets: tuple[Path, ...] = ()
    tools: tuple[Path, ...] = ()
    admin_path: Path | None = None

    @property
    def admin_socket(self) -> Path:
        return self.admin_path or self.socket.with_name(f"{self.socket.stem}-admin{self.socket.suffix}")

    @property
    def metrics_socket(self) -> Path:
        return self.private_dir / f"{self.socket.stem}-metrics{self.socket.suffix}"

    @property
    def journal(self) -> Path:
        return self.state_dir / "journal.db"

    @property
    def memory(self) -> Path:
        return self.state_dir / "memory.db"

    @property
    def sessions(self) -> Path:
        return self.state_dir / "sessions.db"

    @property
    def undo(self) -> Path:
        return self.state_dir / "undo.db"

    @property
    def lock(self) -> Path:
        return self.state_dir / "aeond.lock"

    @property
    def socket_lock(self) -> Path:
        return self.inner_dir / "aeond.lock"

    @property
    def aider(self) -> Path:
        """Aider's private copies of workspaces, and its proposals."""
        return self.state_dir / "aider"

    @property
    def workspaces(self) -> Path:
        return self.state_dir / "workspaces"

    @property
    def own_files(self) -> tuple[Path, ...]:
        """Files and folders that the daemon trusts, executes or keeps secret: no run may read or write them
        as files. Under all their names: a mount may show a home a second time.
        """
        named = (
            self.state_dir,
            *self._own_folders,
            self.inner_dir,
            self.config_file,
            *self.secrets,
            *self.tools,
        )
        places = (*(place.resolve() for place in named), *_SHOWN_BY_LINUX)
        return (*places, *other_names(places))

    @property
    def _own_folders(self) -> tuple[Path, ...]:
        """Folders that may be missing: nothing has been built or configured yet."""
        builds = (self.engine_environment, self.aider_environment, self.native_build)
        return (default_config_file().parent, self.engine_dir, *builds)

    def make(self) -> None:
        """Creates the folders that a daemon needs first, for its own user alone.

        The state folder and the databases in it are closed to other users if they are not. In a home, also the folders
        that the daemon trusts are created, because a tool could otherwise create them. RefusedError (reason
        FOLDER_REFUSED) if that is not possible, (reason FOLDER_NOT_OURS) if another user owns one of them or could
        access a folder that must be private.
        """
        shared = 0o700 if not is_system() else 0o755
        folders: tuple[tuple[Path, Callable[[Path], None]], ...] = (
            (self.state_dir, partial(_make, 0o700)),
            (self.state_dir, close_to_others),
            (self.socket.parent, partial(_make, shared)),
            (self.admin_socket.parent, partial(_make, shared)),
            (self.private_dir, partial(_make, shared)),
            (self.inner_dir, make_private),
        )
        # The databases last: they are listed once their folder is closed.
        for folder, make in chain(folders, ((file, close_to_others) for file in self._databases())):
            try:
                make(folder)
            except OSError as error:
                raise RefusedError(
                    f"{folder} cannot be created ({error.strerror}): create it for this user, or"
                    " configure another",
                    reason="FOLDER_REFUSED",
                ) from error

        if not is_system():  # whose folders are outside of homes, where only root creates one
            for folder in self._own_folders:
                with suppress(OSError):  # nor can a tool create it then
                    _make(0o700, folder)

    def _databases(self) -> Iterator[Path]:
        """The database files that exist, with their logs."""
        for store in (self.journal, self.memory, self.sessions, self.undo):
            yield from (place for place in store.parent.glob(f"{store.name}*") if place.is_file())

    @property
    def engine_dir(self) -> Path:
        """Sockets of engines: private to this daemon, also among daemons whose sockets share a folder."""
        return self.private_dir / f"{self.socket.name}.engine"

    @property
    def engine_cache(self) -> Path:
        """vLLM's cache between starts, with models in the format that it loads."""
        return self.models_dir.parent / "engine"

    @property
    def quarantine_dir(self) -> Path:
        """Transcripts of runs that were moved out of the journal."""
        return self.state_dir / "quarantine"

    @property
    def prompts_dir(self) -> Path:
        """The engine's saved prompt prefixes for its next start: private to the daemon."""
        return self.state_dir / "prompts"

    @property
    def engine_unit(self) -> Path:
        """A connection here starts the engine's unit; closing it stops the unit."""
        return SERVICE_SOCKETS / "engine.sock"

    @property
    def tool_unit(self) -> Path:
        """A connection here starts a systemd unit for one tool call."""
        return SERVICE_SOCKETS / "tool.sock"

    @property
    def inner_dir(self) -> Path:
        """The gRPC server's own socket, behind the door: private like `engine_dir`."""
        return self.private_dir / f"{self.socket.name}.inner"


def default_config_file() -> Path:
    return SYSTEM_CONFIG if is_system() else _home("XDG_CONFIG_HOME", ".config") / "aeond" / "aeond.toml"


def paths_of(config: Config, config_file: Path) -> Paths:
    """The configured paths, with defaults for the others."""
    if is_system():
        state = Path(os.environ.get("STATE_DIRECTORY", "/var/lib/aeond").split(":")[0])
        runtime, models = SERVICE_SOCKETS, state / "models"
    else:
        state = _home("XDG_STATE_HOME", ".local/state") / "aeond"
        models = user_models_dir()
        session = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}")
        runtime = session / "aeond" if session.is_dir() else state / "run"
    socket = _chosen(config.socket.path, runtime / "aeond.sock")
    return Paths(
        config_file=config_file.absolute(),
        state_dir=_chosen(config.daemon.state_dir, state),
        socket=socket,
        admin_path=Path(config.socket.admin_path).expanduser() if config.socket.admin_path else None,
        models_dir=_chosen(config.model.models_dir, models),
        # Where `aeond demo` keeps models, also when root runs it.
        own_models_dirs=() if config.model.models_dir or os.geteuid() != 0 else (user_models_dir(),),
        # The runtime folder that systemd created for this service alone, else beside the socket.
        private_dir=Path(os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0] or socket.parent),
        engine_environment=_chosen(config.vllm.environment, usual_build("engine")),
        aider_environment=_chosen(config.aider.environment, usual_build("aider")),
        native_build=_chosen(config.model.native_build, usual_build("llama")),
        secrets=secret_places(
            *(config.model.hub_token_file, config.remote.key_file, config.metrics.key_file),
            *(one.key_file for one in config.mcp.values()),
        ),
        tools=tuple(
            Path(file).expanduser()
            for file in (*config.tools.files, *config.agents.files, config.policy.file)
            if file
        ),
    )


def nvidia_driver() -> str:
    """The version of NVIDIA's driver, "" if there is none."""
    try:
        return Path("/sys/module/nvidia/version").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def user_models_dir() -> Path:
    """This user's folder for models."""
    return _home("XDG_CACHE_HOME", ".cache") / "aeond" / "models"


def _make(mode: int, folder: Path) -> None:
    folder.mkdir(mode=mode, parents=True, exist_ok=True)


def _chosen(text: str, usual: Path) -> Path:
    return Path(text).expanduser() if text else usual


def real_names(places: Iterable[str | Path]) -> list[str]:
    """The paths with symbolic links resolved."""
    return [str(Path(place).expanduser().resolve()) for place in places]
