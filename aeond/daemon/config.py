"""Configuration: every key with its type, default, bounds and meaning.

The descriptions are the documentation: `systemd/aeond.toml` is generated from them, and errors quote
them.
"""

from enum import StrEnum

from pydantic import Field

from aeond.daemon.config_models import EngineSection, ModelSection, RemoteSection
from aeond.daemon.config_types import PathText, Permissions, Section
from aeond.daemon.config_vllm import VllmSection
from aeond.daemon.logs import LogFormat, LogLevel


class DaemonSection(Section):
    """The process itself."""

    state_dir: PathText = Field(
        "",
        description="Folder of the journal, the memory and the runs' own workspaces. Empty: /var/lib/aeond "
        "for root and system services, ~/.local/state/aeond for everybody else.",
    )
    stop_seconds: float = Field(
        30.0,
        ge=0,
        le=3600,
        description="How long a stop waits for steps with effects to end before it cuts them off.",
    )


class LogSection(Section):
    """What is logged to standard error or to journald, and how."""

    level: LogLevel = Field(LogLevel.INFO, description="The least important thing that is said.")
    format: LogFormat = Field(
        LogFormat.AUTO,
        description="How a record looks: auto is text at a terminal, journal (records with fields) where systemd "
        "gave us to journald, else json.",
    )


class SocketSection(Section):
    """The Unix socket that clients connect to."""

    path: PathText = Field(
        "",
        description="Where the socket is. Empty: /run/aeond/aeond.sock for root and system services, "
        "$XDG_RUNTIME_DIR/aeond/aeond.sock for everybody else.",
    )
    mode: Permissions = Field("0660", description="Permissions of the socket, in octal.")
    group: str = Field("", max_length=64, description="Group of the socket. Empty: the daemon's own.")
    allow_users: tuple[str, ...] = Field(
        (),
        description="Names of users who may connect. With allow_groups empty too: everybody whom the socket's "
        "permissions let. Root and the daemon's own user always may.",
    )
    allow_groups: tuple[str, ...] = Field((), description="Names of groups whose members may connect.")
    max_connections: int = Field(64, ge=1, le=4096, description="How many connections may be open at once.")


class BudgetSection(Section):
    """What a run gets when its client asks for nothing."""

    ttl: int = Field(50, ge=1, description="Step executions.")
    llm_calls: int = Field(40, ge=0, description="Model calls.")
    tokens: int = Field(100_000, ge=0, description="Tokens, prompts and answers together.")
    tool_calls: int = Field(50, ge=0, description="Tool calls.")
    passes: int = Field(8, ge=1, description="Rounds of executing what is ready.")
    wall_seconds: float = Field(
        900.0, gt=0, description="Seconds of work; waiting for a stopped daemon does not count."
    )
    depth: int = Field(3, ge=0, description="How deep runs may start runs of their own.")


class BudgetLimitSection(Section):
    """What a run gets at most, whatever its client asks for."""

    ttl: int = Field(500, ge=1, description="Step executions.")
    llm_calls: int = Field(400, ge=0, description="Model calls.")
    tokens: int = Field(2_000_000, ge=0, description="Tokens, prompts and answers together.")
    tool_calls: int = Field(500, ge=0, description="Tool calls.")
    passes: int = Field(50, ge=1, description="Rounds of executing what is ready.")
    wall_seconds: float = Field(86_400.0, gt=0, description="Seconds of work.")
    depth: int = Field(5, ge=0, description="How deep runs may start runs of their own.")


class RunsSection(Section):
    """How much is worked on at once."""

    max_running: int = Field(4, ge=1, le=256, description="How many runs are worked on at once.")
    max_waiting: int = Field(
        64, ge=1, le=10_000, description="How many more may wait; beyond that, new ones are refused."
    )
    keep_days: float = Field(
        0.0,
        ge=0,
        le=36_500,
        description="How many days a run that has ended is kept. Older ones are removed, events and all, when "
        "nothing is being worked on. 0: for ever.",
    )
    budget: BudgetSection = Field(
        default_factory=BudgetSection, description="What a run gets when its client asks for nothing."
    )
    budget_limit: BudgetLimitSection = Field(
        default_factory=BudgetLimitSection,
        description="What a run gets at most, whatever its client asks for.",
    )


class SessionsSection(Section):
    """Conversations."""

    context_tokens: int = Field(
        1_000,
        ge=64,
        le=100_000,
        description="How many tokens of a prompt may tell of the session it belongs to, never more than a third "
        "of the model's context. A session that does not fit is told in short; what binds is told word for word.",
    )


class WorkspacesSection(Section):
    """Where tools may work."""

    roots: tuple[PathText, ...] = Field(
        ("/",),
        description="A client may name any folder below one of these as a run's workspace; the daemon's own "
        "state, configuration, secrets and `tools.files` are never allowed, nor are /proc and /sys.",
    )
    readable: tuple[PathText, ...] = Field(
        (), description="Folders that file tools may read in every run, beside its workspace."
    )
    writable: tuple[PathText, ...] = Field(
        (), description="Folders that file tools may read and write in every run, beside its workspace."
    )


class SandboxKind(StrEnum):
    """Where the code of tools runs that is not trusted."""

    AUTO = "auto"  # unit where systemd offers it, else bwrap
    BWRAP = "bwrap"  # bubblewrap: namespaces of its own
    UNIT = "unit"  # a unit of systemd, with a user of its own
    NONE = "none"  # in the daemon, with all of its rights


class ToolsSection(Section):
    """Tools beyond those that are built in."""

    files: tuple[PathText, ...] = Field(
        (),
        description="Python files with a list TOOLS of tools to register. They run inside the daemon with all "
        "of its rights: name only what you would run yourself.",
    )
    folders: tuple[PathText, ...] = Field(
        (),
        description="Folders of such files by other people: their code runs in a sandbox and nowhere else.",
    )
    sandboxed: tuple[str, ...] = Field(
        (), description="Names of tools of `files` whose calls run in a sandbox all the same."
    )
    sandbox: SandboxKind = Field(
        SandboxKind.AUTO,
        description="What a sandbox is: unit, a hardened unit of systemd with a user of its own; bwrap, bubblewrap; "
        "auto, the first of the two that is there; none, the daemon itself.",
    )
    subtasks: tuple[str, ...] = Field(
        (),
        description="Templates whose tools models are told of: summarise, extract, compare, research, or those of "
        "your own. Clients' plans may call them all; every tool that a small model is told of makes it less sure.",
    )
    templates: tuple[PathText, ...] = Field(
        (),
        description="Folders of templates of your own, TOML files; one with the name of a built-in one takes "
        "its place.",
    )
    sandbox_memory_mib: int = Field(
        1024, ge=64, le=1_048_576, description="Memory that each process of a sandboxed call may use, in MiB."
    )


class Config(Section):
    """The whole configuration of a daemon."""

    daemon: DaemonSection = Field(default_factory=DaemonSection)
    log: LogSection = Field(default_factory=LogSection)
    socket: SocketSection = Field(default_factory=SocketSection)
    runs: RunsSection = Field(default_factory=RunsSection)
    sessions: SessionsSection = Field(default_factory=SessionsSection)
    workspaces: WorkspacesSection = Field(default_factory=WorkspacesSection)
    model: ModelSection = Field(default_factory=ModelSection)
    engine: EngineSection = Field(default_factory=EngineSection)
    remote: RemoteSection = Field(default_factory=RemoteSection)
    vllm: VllmSection = Field(default_factory=VllmSection)
    tools: ToolsSection = Field(default_factory=ToolsSection)
