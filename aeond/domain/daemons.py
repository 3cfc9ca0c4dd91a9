"""The daemon as its clients see it."""

from dataclasses import field
from enum import StrEnum

from aeond.domain.llm import EngineMetrics, EngineSnapshot, EngineState
from aeond.frozen import frozen


class DaemonState(StrEnum):
    """The place of the daemon in its life."""

    STARTING = "starting"
    READY = "ready"
    DEGRADED = "degraded"  # it serves, but something that runs need is broken: see the messages
    DRAINING = "draining"  # it admits nothing new and is about to end


@frozen
class DaemonLoad:
    """How much is going on, and the bound where there is one (0: none)."""

    running_runs: int = 0
    waiting_runs: int = 0  # admitted, not yet started
    attention_runs: int = 0  # suspended or awaiting input: a person is needed
    max_running_runs: int = 0
    max_waiting_runs: int = 0


@frozen
class ConfigChanges:
    """What came of reading the configuration again: keys that changed, and keys that differ in the file and
    need a restart."""

    changed_keys: tuple[str, ...] = ()
    restart_keys: tuple[str, ...] = ()


@frozen
class DaemonSnapshot:
    """All that GetStatus tells. `started_time` is Unix time in seconds; `messages` say in plain words
    what is wrong and what to do about it (empty: nothing is).
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
    metrics: EngineMetrics | None = None  # of the engine; None where nothing is measured
    messages: tuple[str, ...] = ()
