"""Configuration: every key with its type, default, bounds and description.

The descriptions are the documentation: `systemd/aeond.toml` is generated from them, and error messages quote
them.
"""

from enum import StrEnum

from pydantic import Field

from aeond.daemon.config.model_sections import EmbeddingSection, EngineSection, ModelSection, RemoteSection
from aeond.daemon.config.network_sections import EgressSection, McpSection, ServerName
from aeond.daemon.config.observability_sections import MetricsSection, TracesSection
from aeond.daemon.config.section import PathText, Permissions, Section
from aeond.daemon.config.vllm_section import VllmSection
from aeond.daemon.logs.setup import LogFormat, LogLevel


class DaemonSection(Section):
    """The daemon process."""

    state_dir: PathText = Field(
        "",
        description="Folder of the journal, the memory and the private workspaces of runs. Empty:"
        " /var/lib/aeond for root and system services, ~/.local/state/aeond for other users.",
    )
    stop_seconds: float = Field(
        30.0,
        ge=0,
        le=3600,
        description="How long a stop waits for steps with effects before it interrupts them.",
    )
    max_stored_mib_per_user: int = Field(
        1_024,
        ge=0,
        le=1_048_576,
        description="Maximum size of the runs, sessions and facts of one user together, in MiB. At the limit new runs,"
        " sessions and facts are rejected until the user deletes some; runs in progress are completed. Root and the"
        " daemon's own user have no limit. 0: no limit.",
    )


class LogSection(Section):
    """Logging to standard error or journald."""

    level: LogLevel = Field(LogLevel.INFO, description="Minimum level of log records.")
    format: LogFormat = Field(
        LogFormat.AUTO,
        description="Format of log records. auto: text on a terminal, journal (records with fields)"
        " under journald, otherwise json.",
    )


class SocketSection(Section):
    """The Unix socket that clients connect to."""

    path: PathText = Field(
        "",
        description="Path of the socket. Empty: /run/aeond/aeond.sock for root and system services,"
        " $XDG_RUNTIME_DIR/aeond/aeond.sock for other users.",
    )
    mode: Permissions = Field("0660", description="Permissions of the socket, in octal.")
    group: str = Field("", max_length=64, description="Group of the socket. Empty: the daemon's own group.")
    allow_users: tuple[str, ...] = Field(
        (),
        description="Names of users who may connect. If allow_groups is empty too: every user whom the"
        " socket's permissions admit. Root and the daemon's own user may always connect.",
    )
    allow_groups: tuple[str, ...] = Field((), description="Names of groups whose members may connect.")
    admin_path: PathText = Field(
        "",
        description="Path of the administrative socket, which only root and the daemon's own user may use: it shows and"
        " manages what belongs to any user, and alone accepts reload and the commands that load, unload, suspend or wake"
        " models. Empty: beside the socket, with -admin added to its name: aeond-admin.sock.",
    )
    max_connections: int = Field(
        128, ge=1, le=4096, description="Maximum number of open connections of all users together."
    )
    max_connections_per_user: int = Field(
        32, ge=1, le=4096, description="Maximum number of open connections of one user."
    )
    max_request_mib_per_user: int = Field(
        64,
        ge=4,
        le=4096,
        description="Maximum size of the requests of one user that are in progress, in MiB; further ones are rejected.",
    )
    stall_seconds: float = Field(
        30.0,
        ge=1,
        le=60,
        description="How long a client may leave a stream unread before the stream is ended; the client can"
        " resume from the last event that it received.",
    )


class BudgetSection(Section):
    """The budget of a run whose client requests none."""

    ttl: int = Field(50, ge=1, description="Step executions.")
    llm_calls: int = Field(40, ge=0, description="Model calls.")
    tokens: int = Field(100_000, ge=0, description="Tokens, for prompts and answers together.")
    tool_calls: int = Field(50, ge=0, description="Tool calls.")
    passes: int = Field(8, ge=1, description="Passes over the plan.")
    wall_seconds: float = Field(
        900.0, gt=0, description="Seconds of working time; time while the daemon is stopped does not count."
    )
    depth: int = Field(3, ge=0, description="How many levels of child runs are allowed.")


class BudgetLimitSection(Section):
    """The maximum budget of a run, whatever its client requests."""

    ttl: int = Field(500, ge=1, description="Step executions.")
    llm_calls: int = Field(400, ge=0, description="Model calls.")
    tokens: int = Field(2_000_000, ge=0, description="Tokens, for prompts and answers together.")
    tool_calls: int = Field(500, ge=0, description="Tool calls.")
    passes: int = Field(50, ge=1, description="Passes over the plan.")
    wall_seconds: float = Field(86_400.0, gt=0, description="Seconds of working time.")
    depth: int = Field(5, ge=0, description="How many levels of child runs are allowed.")


class RunsSection(Section):
    """How many runs are executed and kept."""

    max_running: int = Field(
        8, ge=1, le=256, description="Maximum number of active runs of all users together."
    )
    max_running_per_user: int = Field(
        4,
        ge=1,
        le=256,
        description="Maximum number of active runs of one user. Less than `max_running`, so that the runs of one"
        " user do not keep others waiting.",
    )
    max_waiting: int = Field(
        256,
        ge=1,
        le=10_000,
        description="Maximum number of waiting runs of all users together; further ones are rejected.",
    )
    max_waiting_per_user: int = Field(
        64,
        ge=1,
        le=10_000,
        description="Maximum number of waiting runs of one user; further ones are rejected.",
    )
    keep_days: float = Field(
        0.0,
        ge=0,
        le=36_500,
        description="Days for which ended runs are kept. Older runs are deleted with their events when"
        " no run is active. 0: for ever.",
    )
    budget: BudgetSection = Field(
        default_factory=BudgetSection, description="The budget of a run whose client requests none."
    )
    budget_limit: BudgetLimitSection = Field(
        default_factory=BudgetLimitSection,
        description="The maximum budget of a run, whatever its client requests.",
    )


class SessionsSection(Section):
    """Conversations."""

    context_tokens: int = Field(
        1_000,
        ge=64,
        le=100_000,
        description="Maximum size of the session part of a prompt in tokens, never more than a third of"
        " the model's context. A session that is longer is summarised; binding statements"
        " are quoted verbatim.",
    )


class WorkspacesSection(Section):
    """Folders in which tools may work."""

    roots: tuple[PathText, ...] = Field(
        ("/",),
        description="A user may choose any folder below one of these as a run's workspace, as far as the daemon can use it"
        " with the rights of this user. The daemon's own state, configuration, secrets, `tools.files` and `agents.files` are never"
        " allowed,"
        " nor are /proc and /sys.",
    )
    readable: tuple[PathText, ...] = Field(
        (), description="Folders that file tools may read in every run, besides its workspace."
    )
    writable: tuple[PathText, ...] = Field(
        (), description="Folders that file tools may read and write in every run, besides its workspace."
    )


class ApprovalsSection(Section):
    """Tool calls that wait for a person's approval."""

    expire_seconds: float = Field(
        3_600.0,
        ge=0,
        le=2_592_000,
        description="How long a request for approval is open; then it counts as denied. The time does not pass while"
        " the run is suspended. 0: without limit.",
    )
    attend_seconds: float = Field(
        300.0,
        ge=0,
        le=2_592_000,
        description="How long a run that needs approval waits for a client to watch it; then it is suspended"
        " until the approval is decided.",
    )


class SandboxKind(StrEnum):
    """Where untrusted tool code runs."""

    AUTO = "auto"  # unit if systemd provides it, else bwrap
    BWRAP = "bwrap"  # bubblewrap: separate namespaces
    UNIT = "unit"  # a systemd unit with a user of its own
    NONE = "none"  # in the daemon, with all its privileges


class ToolsSection(Section):
    """Tools beyond the built-in ones."""

    files: tuple[PathText, ...] = Field(
        (),
        description="Python files with a list TOOLS of tools to register. They run inside the daemon"
        " with all its privileges: list only files that you trust.",
    )
    folders: tuple[PathText, ...] = Field(
        (),
        description="Folders of such files from other authors: their code runs only in a sandbox.",
    )
    accepted: tuple[str, ...] = Field(
        (),
        description="Tools of `folders` and of MCP servers that models may use, each as name:digest. The digest covers the"
        " description that models read; `aeonctl tools NAME` shows it. Clients may use all tools.",
    )
    sandboxed: tuple[str, ...] = Field(
        (), description="Names of tools of `files` whose calls run in a sandbox as well."
    )
    sandbox: SandboxKind = Field(
        SandboxKind.AUTO,
        description="Kind of sandbox: unit, a hardened systemd unit with a user of its own; bwrap,"
        " bubblewrap; auto, the first of the two that is available; none, the daemon itself.",
    )
    subtasks: tuple[str, ...] = Field(
        ("delegate",),
        description="Subtasks that models may use as tools: delegate, which finds the template for any"
        " described work and exists if `templates` names a folder, and templates by name: summarise,"
        " extract, compare, research, or your own. Plans from clients may use all of them; every"
        " additional tool makes a small model less reliable.",
    )
    hands: tuple[str, ...] = Field(
        (),
        description="Tools that act on the machine and that models may use: run_command, run_python, read_document,"
        " git_status, git_diff, git_commit, notify, open_on_desktop (docs/hands.md), aider, apply_changes (docs/aider.md), fetch_url,"
        " http_request, web_search (docs/web.md). Clients and their plans may use all of them that exist here; every additional tool"
        " makes a small model less reliable.",
    )
    templates: tuple[PathText, ...] = Field(
        (),
        description="Folders of your own templates, TOML files; a template with the name of a built-in"
        " one replaces it.",
    )
    profiles: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Profiles that requests can choose: by name, the patterns of the only tools that a run may use and its"
        ' model is shown, such as look = ["read_*", "list_dir"].',
    )
    undo_mib: int = Field(
        256,
        ge=0,
        le=1_048_576,
        description="Maximum size of the file contents that are kept so that runs can be undone, in MiB; the oldest"
        " go first. 0: changes are not undone.",
    )
    sandbox_memory_mib: int = Field(
        1024,
        ge=64,
        le=1_048_576,
        description="Maximum memory of each process of a sandboxed call, in MiB; with bubblewrap also of all its"
        " processes together, if the daemon may make control groups.",
    )


class AiderSection(Section):
    """Aider, which changes source code in a private copy (docs/aider.md)."""

    environment: PathText = Field(
        "",
        description="Folder of the Python environment with Aider, created by aeond aider-setup. Empty:"
        " /opt/aeond-aider for root and system services, ~/.local/share/aeond/aider for other users; in a checkout, the"
        " one created by make aider-setup.",
    )
    model: str = Field(
        "",
        max_length=200,
        description="Name of the model that Aider asks. Empty: the default model.",
    )
    seconds: float = Field(
        600.0,
        ge=10,
        le=3_600,
        description="How long Aider may work on one call, with the tests between its attempts, but without the first and the last test.",
    )


class PolicyProfile(StrEnum):
    """The shipped profiles of the policy."""

    OBSERVE = "observe"  # runs may only read
    ASK = "ask"  # a person is asked about every effect
    TRUSTED_FOLDER = "trusted-folder"  # work in the workspace needs no question


class PolicySection(Section):
    """The policy: which tool calls are carried out, asked about or refused."""

    profile: PolicyProfile = Field(
        PolicyProfile.ASK,
        description="The profile if `file` is empty: observe, runs may only read; ask, a person is asked"
        " about every effect; trusted-folder, work in the run's workspace and on the memory needs no"
        " question until the run has read untrusted data.",
    )
    file: PathText = Field(
        "",
        description="A TOML file with the profile and further rules, described in docs/policy.md. Only the daemon's user"
        " and root may be able to change it, and no run may write it. Empty: the profile alone.",
    )
    trusted: tuple[PathText, ...] = Field(
        (),
        description="Folders whose files are trusted, besides the workspace of each run. A file from elsewhere"
        " taints the run that reads it: its further effects are asked about.",
    )
    untrusted: tuple[PathText, ...] = Field(
        (),
        description="Folders whose files are not trusted, also as a workspace or inside one, such as"
        " ~/Downloads. Of nested folders the innermost decides.",
    )


class AgentsSection(Section):
    """Agents for steps of plans, besides `llm` and `reader`."""

    files: tuple[PathText, ...] = Field(
        (),
        description="Python files with a list AGENTS of agents to register. They run inside the daemon"
        " with all its privileges: list only files that you trust.",
    )
    packaged: tuple[str, ...] = Field(
        (),
        description="Names of agents to load from installed Python packages: entry points in the group"
        " aeond.agents. They run inside the daemon, too.",
    )


class Config(Section):
    """The complete configuration of a daemon."""

    daemon: DaemonSection = Field(default_factory=DaemonSection)
    log: LogSection = Field(default_factory=LogSection)
    socket: SocketSection = Field(default_factory=SocketSection)
    runs: RunsSection = Field(default_factory=RunsSection)
    sessions: SessionsSection = Field(default_factory=SessionsSection)
    workspaces: WorkspacesSection = Field(default_factory=WorkspacesSection)
    approvals: ApprovalsSection = Field(default_factory=ApprovalsSection)
    model: ModelSection = Field(default_factory=ModelSection)
    engine: EngineSection = Field(default_factory=EngineSection)
    remote: RemoteSection = Field(default_factory=RemoteSection)
    vllm: VllmSection = Field(default_factory=VllmSection)
    embedding: EmbeddingSection = Field(default_factory=EmbeddingSection)
    tools: ToolsSection = Field(default_factory=ToolsSection)
    aider: AiderSection = Field(default_factory=AiderSection)
    agents: AgentsSection = Field(default_factory=AgentsSection)
    policy: PolicySection = Field(default_factory=PolicySection)
    metrics: MetricsSection = Field(default_factory=MetricsSection)
    traces: TracesSection = Field(default_factory=TracesSection)
    egress: EgressSection = Field(default_factory=EgressSection)
    mcp: dict[ServerName, McpSection] = Field(
        default_factory=dict,
        description="MCP servers whose tools are used, each in a section [mcp.NAME] of its own; see docs/mcp.md.",
    )
