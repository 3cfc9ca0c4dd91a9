# Generated from protos/ by `make proto`; never edited.
"""The state of the daemon."""

from dataclasses import dataclass

from aeond_client.records.models import Engine


@dataclass(frozen=True, slots=True)
class ConfigChanges:
    """The result of a reload."""

    changed_keys: tuple[str, ...] = ()
    """Keys that changed at run time."""
    restart_keys: tuple[str, ...] = ()
    """Keys that differ in the file and need a restart."""


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """The state of the daemon."""

    version: str
    """The version of aeond."""
    state: str
    """The lifecycle state."""
    pid: int
    """Its process id."""
    started_time: float
    """Its start time."""
    uptime_seconds: float
    """The time since its start."""
    engine: Engine
    """The model's engine; always set."""
    running_runs: int = 0
    """Active runs."""
    waiting_runs: int = 0
    """Runs accepted and not yet started."""
    attention_runs: int = 0
    """Runs that need a person: suspended or awaiting input."""
    max_running_runs: int = 0
    """Limit of running_runs. 0: none."""
    max_waiting_runs: int = 0
    """Limit of waiting_runs. 0: none."""
    connections: int = 0
    """Open connections, including this one."""
    streams: int = 0
    """Open streams."""
    tool_count: int = 0
    """The number of registered tools."""
    resident_bytes: int = 0
    """Memory of the daemon itself, without the engine. 0: unknown."""
    messages: tuple[str, ...] = ()
    """Problems and their remedies. Empty: no problems."""
