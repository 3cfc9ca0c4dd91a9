"""Configuration: every key with its type, default, bounds and meaning.

The descriptions are the documentation: `systemd/aeond.toml` is generated from them, and errors quote
them.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from aeond.daemon.logs import LogFormat, LogLevel


def _absolute(text: str) -> str:
    if text and not Path(text).expanduser().is_absolute():
        raise ValueError("it must be an absolute path, or start with ~, or be empty")
    return text


def _permissions(text: str) -> str:
    if not (len(text) == 4 and text[0] == "0" and all(digit in "01234567" for digit in text)):
        raise ValueError('it must be file permissions in octal, such as "0660"')
    return text


def _public(text: str) -> str:
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise ValueError("it must not have a name and password in it: name a credential or a file for them")
    return text


PathText = Annotated[str, AfterValidator(_absolute)]
Permissions = Annotated[str, AfterValidator(_permissions)]
UrlText = Annotated[str, AfterValidator(_public)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors, and types are not guessed."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


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
        "state and configuration are never allowed.",
    )
    readable: tuple[PathText, ...] = Field(
        (), description="Folders that file tools may read in every run, beside its workspace."
    )
    writable: tuple[PathText, ...] = Field(
        (), description="Folders that file tools may read and write in every run, beside its workspace."
    )


class EngineKind(StrEnum):
    """What generates text."""

    LLAMA_CPP = "llama_cpp"  # the embedded engine, in a process of its own
    SCRIPTED = "scripted"  # answers from a file, for tests


class ModelSection(Section):
    """The model and the engine that runs it."""

    engine: EngineKind = Field(
        EngineKind.LLAMA_CPP,
        description="What generates text: llama_cpp is the embedded engine in a process of its own; scripted "
        "answers from a script and is for tests.",
    )
    name: str = Field("", max_length=200, description="A model of the catalogue. Empty: its default.")
    file: PathText = Field(
        "", description="A GGUF file of your own in place of a model of the catalogue; it is named `own`."
    )
    models_dir: PathText = Field(
        "",
        description="Folder where models are kept. Empty: /var/lib/aeond/models for root and system services, "
        "~/.cache/aeond/models for everybody else.",
    )
    hub_url: UrlText = Field(
        "",
        max_length=500,
        pattern=r"^(https?://.*)?$",
        description="Address of a model hub to get models from, asked before the package mirrors. Empty: none.",
    )
    hub_credential: str = Field(
        "",
        max_length=255,
        description="Name of the systemd credential that holds the hub's access token. Empty: none.",
    )
    hub_token_file: PathText = Field(
        "",
        description="File with the hub's access token where there is no credential; only its owner may read it.",
    )
    load_at_start: bool = Field(
        True, description="Whether the model is loaded when the daemon starts, or with the first request."
    )
    context_tokens: int = Field(
        8192,
        ge=512,
        le=1_048_576,
        description="Tokens of context for each request, prompt and answer together.",
    )
    parallel_requests: int = Field(
        4, ge=1, le=64, description="How many requests the engine answers at once; each has its own context."
    )
    threads: int = Field(0, ge=0, le=1024, description="Threads of the engine. 0: one per core.")
    busy_seconds: float = Field(
        0.1,
        ge=0.02,
        le=10,
        description="About how long a request that is cancelled while its prompt is read may keep the engine "
        "busy. Longer reads prompts faster where the machine is slow.",
    )
    read_ahead: bool = Field(
        True,
        description="Whether what most prompts begin with is read as soon as the model is ready and nobody waits, "
        "and kept below the state folder for the next start (some tens of megabytes).",
    )
    script: PathText = Field("", description="The scripted engine's script, a TOML or JSON file.")

    @property
    def reads_ahead(self) -> bool:
        """Whether there is an engine that is worth the trouble, and it is wanted."""
        return self.read_ahead and self.engine is EngineKind.LLAMA_CPP


class EngineRun(StrEnum):
    """Where the engine's process is."""

    AUTO = "auto"  # unit where systemd offers it, else child
    CHILD = "child"
    UNIT = "unit"


class EngineSection(Section):
    """Where the model's engine runs."""

    run: EngineRun = Field(
        EngineRun.AUTO,
        description="How its process is started: child, by the daemon itself; unit, as aeond-engine.service, which "
        "systemd keeps apart from the daemon; auto, unit where its socket is there.",
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
    tools: ToolsSection = Field(default_factory=ToolsSection)
