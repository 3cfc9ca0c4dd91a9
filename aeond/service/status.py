"""The state of the daemon, and reloading of its configuration."""

from collections.abc import Callable

from aeond.domain.daemons import ConfigChanges, DaemonLoad, DaemonSnapshot, DaemonState
from aeond.domain.llm import EngineState
from aeond.frozen import frozen
from aeond.ports import Clock, Engine, ToolRegistry
from aeond.service.runs.admission import Admission, AdmissionState
from aeond.service.runs.scheduler import RunScheduler


@frozen
class Process:
    """Constants of the process, and a function for its memory use (resident bytes, 0: unknown)."""

    version: str
    pid: int
    resident_bytes: Callable[[], int]


class Status:
    """Answers in every state of the daemon's lifecycle."""

    def __init__(
        self,
        *,
        process: Process,
        admission: Admission,
        scheduler: RunScheduler,
        engine: Engine,
        registry: ToolRegistry,
        clock: Clock,
        reload: Callable[[], ConfigChanges],
    ) -> None:
        self._process = process
        self._admission = admission
        self._scheduler = scheduler
        self._engine = engine
        self._registry = registry
        self._clock = clock
        self._reload = reload
        self._started_time = clock.time()
        self._started_monotonic = clock.monotonic()

    async def status(self) -> DaemonSnapshot:
        messages = self._messages()
        return DaemonSnapshot(
            version=self._process.version,
            state=self._state(messages),
            pid=self._process.pid,
            started_time=self._started_time,
            uptime_seconds=self._clock.monotonic() - self._started_monotonic,
            engine=self._engine.snapshot(),
            metrics=await self._engine.metrics(),
            load=DaemonLoad(
                running_runs=self._scheduler.running_count,
                waiting_runs=self._scheduler.waiting_count,
                attention_runs=self._scheduler.attention_count,
                max_running_runs=self._scheduler.limits.running,
                max_waiting_runs=self._scheduler.limits.waiting,
            ),
            tool_count=len(self._registry.list_names()),
            resident_bytes=self._process.resident_bytes(),
            messages=messages,
        )

    async def reload(self) -> ConfigChanges:
        """InvalidInputError (reason CONFIG_INVALID) if the file is invalid; nothing has changed then."""
        return self._reload()

    def _state(self, messages: tuple[str, ...]) -> DaemonState:
        match self._admission.state:
            case AdmissionState.STARTING:
                return DaemonState.STARTING
            case AdmissionState.DRAINING:
                return DaemonState.DRAINING
            case AdmissionState.OPEN:
                return DaemonState.DEGRADED if messages else DaemonState.READY

    def _messages(self) -> tuple[str, ...]:
        """Current problems and their remedies."""
        messages = [
            f"{said}; stop the daemon and quarantine that run: aeond quarantine RUN"
            for said in self._scheduler.refused
        ]
        engine = self._engine.snapshot()
        if engine.state is EngineState.DEAD:
            messages.append(
                f"the engine is not running: {engine.error or 'no reason is known'}; run `aeond doctor`"
            )
        if self._scheduler.out_of_room:
            messages.append(
                "the disk is full, or another program has locked the journal: free some space, or let that program"
                " finish, and the waiting runs continue automatically"
            )
        return tuple(messages)
