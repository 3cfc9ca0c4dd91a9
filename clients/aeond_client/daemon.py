"""The daemon as its clients see it."""

from dataclasses import dataclass

from aeond_client.models import Engine


@dataclass(frozen=True, slots=True)
class ConfigChanges:
    """What came of reading the configuration again: keys that changed live, and keys that differ in the file
    and need a restart."""

    changed_keys: tuple[str, ...] = ()
    restart_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """How the daemon is: `state` is `starting`, `ready`, `degraded` or `draining`; `messages` say in plain
    words what is wrong and what to do (empty: nothing is). Bounds of 0 mean none, `resident_bytes` 0 means
    not known.
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
