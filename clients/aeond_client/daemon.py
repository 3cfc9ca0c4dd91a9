"""The state of the daemon."""

from dataclasses import dataclass

from aeond_client.models import Engine


@dataclass(frozen=True, slots=True)
class ConfigChanges:
    """The result of reloading the configuration: keys that changed, and keys that differ in the file but need
    a restart.
    """

    changed_keys: tuple[str, ...] = ()
    restart_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """State of the daemon: `state` is `starting`, `ready`, `degraded` or `draining`; `messages` describe
    problems and their remedies (empty: no problems). A limit of 0 means none, `resident_bytes` 0 means
    unknown.
    """

    version: str
    state: str
    pid: int
    started_time: float
    uptime_seconds: float
    engine: Engine
    running_runs: int = 0
    waiting_runs: int = 0
    attention_runs: int = 0
    max_running_runs: int = 0
    max_waiting_runs: int = 0
    connections: int = 0
    streams: int = 0
    tool_count: int = 0
    resident_bytes: int = 0
    messages: tuple[str, ...] = ()
