"""The state of the daemon as clients see it."""

from dataclasses import field
from enum import StrEnum

from aeond.domain.llm import EngineMetrics, EngineSnapshot, EngineState
from aeond.frozen import frozen


class DaemonState(StrEnum):
    """The lifecycle state of the daemon."""

    STARTING = "starting"
    READY = "ready"
    DEGRADED = "degraded"  # it serves requests, but something that runs need is broken: see `messages`
    DRAINING = "draining"  # it admits no new work and is about to exit


@frozen
class DaemonLoad:
    """The current load, with its limits (0: unlimited)."""

    running_runs: int = 0
    waiting_runs: int = 0  # admitted, not yet started
    attention_runs: int = 0  # suspended or awaiting input: a person is needed
    max_running_runs: int = 0
    max_waiting_runs: int = 0


@frozen
class ConfigChanges:
    """The result of rereading the configuration: keys that changed, and keys that differ in the file but need
    a restart.
    """

    changed_keys: tuple[str, ...] = ()
    restart_keys: tuple[str, ...] = ()


@frozen
class DaemonSnapshot:
    """The content of GetStatus. `started_time` is Unix time in seconds; `messages` describe problems and
    their remedies (empty: no problems).
    """

    version: str
    state: DaemonState
    pid: int
    started_time: float
    uptime_seconds: float
    engine: EngineSnapshot = field(default_factory=lambda: EngineSnapshot(EngineState.COLD))
    load: DaemonLoad = field(default_factory=DaemonLoad)
    tool_count: int = 0
    resident_bytes: int = 0
    metrics: EngineMetrics | None = None  # of the engine; None if it reports no metrics
    messages: tuple[str, ...] = ()
