"""From start to stop: what happens in which order, and what signals do.

Start: locks, journal, memory, tools, engine (it begins to load and nobody waits for it), unfinished runs,
socket, READY. Stop, by SIGTERM or SIGINT: admit nothing, tell watchers where to go on from, park runs and
wait for steps with effects, close the socket, write everything back, end with 0. A second signal does not
wait for steps. SIGHUP reads the configuration again.
"""

import logging
import signal
from contextlib import suppress
from typing import Final, Protocol

import anyio

from aeond.daemon.compose import Daemon, composed
from aeond.daemon.footprint import give_back, settle
from aeond.daemon.liveness import Liveness
from aeond.daemon.locking import single_instance
from aeond.daemon.notify import Notifier
from aeond.daemon.paths import Paths
from aeond.daemon.reloading import LiveConfig
from aeond.domain.llm import EngineSnapshot, EngineState
from aeond.errors import AeondError

GIVE_BACK_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.5
# A start is as long as journal and unfinished runs make it; one that takes longer than this hangs.
LONGEST_START_SECONDS: Final = 900.0
EXTENSION_SECONDS: Final = 30.0
EXTEND_SECONDS: Final = 10.0
CLOSING_SECONDS: Final = 15.0  # after the last step of a stop

log = logging.getLogger("aeond.daemon")


class RunCounts(Protocol):
    """How many runs there are."""

    @property
    def running_count(self) -> int: ...

    @property
    def waiting_count(self) -> int: ...

    @property
    def attention_count(self) -> int: ...


async def serve(live: LiveConfig, paths: Paths, notifier: Notifier, descriptor: int | None = None) -> None:
    """Runs a daemon until it is told to stop. Raises what keeps it from starting or going on.

    `descriptor` is a listening socket that was handed over; without it the daemon makes its own.
    """
    signals = Signals(live)
    paths.make()
    with single_instance(paths.lock), single_instance(paths.socket_lock):
        async with anyio.create_task_group() as tasks:
            await tasks.start(signals.listen)
            starting = anyio.CancelScope()
            tasks.start_soon(ask_for_time, notifier, LONGEST_START_SECONDS, starting)
            notifier.say("starting")
            async with composed(live, paths, descriptor) as daemon:
                resumed = await daemon.scheduler.resume()
                async with daemon.api.opened():
                    daemon.admission.open()
                    await daemon.api.announce(serving=True)
                    starting.cancel()
                    said = {"kind": "daemon_ready", "socket": str(daemon.socket), "resumed_runs": resumed}
                    log.info("ready", extra=said)
                    await _live(daemon, live, notifier, signals)
            tasks.cancel_scope.cancel()
    log.info("stopped", extra={"kind": "daemon_stopped"})


class Signals:
    """What signals ask for: another look at the configuration, an orderly stop, then one that does not wait."""

    def __init__(self, live: LiveConfig) -> None:
        self._live = live
        self.stop = anyio.Event()
        self.hurry = anyio.Event()
        self._serving = False
        self._reload_wanted = False

    def serving(self) -> None:
        """From now on the configuration is read when that is asked for; and now, if it was during the start,
        when nobody would have carried it out, and a reload's end would have said READY."""
        self._serving = True
        if self._reload_wanted:
            self._reload()

    async def listen(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            task_status.started()
            async for number in signals:
                log.info("received %s", signal.Signals(number).name)
                if number == signal.SIGHUP and self._serving:
                    self._reload()
                elif number == signal.SIGHUP:
                    self._reload_wanted = True
                elif self.stop.is_set():
                    self.hurry.set()
                else:
                    self.stop.set()

    def _reload(self) -> None:
        with suppress(AeondError):  # which is in the log, and the old configuration in force
            self._live.reload()


async def _live(daemon: Daemon, live: LiveConfig, notifier: Notifier, signals: Signals) -> None:
    """READY, until a stop is asked for and everything is parked."""
    liveness = Liveness(journal=daemon.journal, scheduler=daemon.scheduler, clock=daemon.clock)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tell_status, daemon, notifier)
        tasks.start_soon(_watch_engine, daemon)
        tasks.start_soon(daemon.retention.keep)
        tasks.start_soon(_give_back, daemon)
        if live.config.model.reads_ahead:
            tasks.start_soon(daemon.warming.keep_warm)
        tasks.start_soon(liveness.watch_loop)
        tasks.start_soon(liveness.give_signs, notifier)
        notifier.ready()
        signals.serving()
        settle()
        await signals.stop.wait()
        log.info("stopping", extra={"kind": "daemon_stopping"})
        notifier.stopping()
        limit_seconds = live.config.daemon.stop_seconds
        tasks.start_soon(ask_for_time, notifier, limit_seconds, anyio.CancelScope())
        await _drain(daemon, limit_seconds, signals)
        notifier.extend(CLOSING_SECONDS)
        tasks.cancel_scope.cancel()


async def _drain(daemon: Daemon, limit_seconds: float, signals: Signals) -> None:
    daemon.admission.drain()
    await daemon.api.drain()
    daemon.feed.close()
    async with anyio.create_task_group() as group:
        group.start_soon(_cancel_when_hurried, signals, group.cancel_scope)
        cut = await daemon.scheduler.drain(limit_seconds)
        if cut:
            log.warning(
                "stopped without waiting for %d runs: steps that were cut are shown when they resume", cut
            )
        group.cancel_scope.cancel()


async def _cancel_when_hurried(signals: Signals, scope: anyio.CancelScope) -> None:
    await signals.hurry.wait()
    log.warning("told to hurry: not waiting for steps to end")
    scope.cancel()


async def ask_for_time(notifier: Notifier, limit_seconds: float, scope: anyio.CancelScope) -> None:
    """Keeps the service manager from giving up on a start or a stop that takes long, while the loop turns."""
    with scope, anyio.move_on_after(limit_seconds):
        while notifier.listens:
            notifier.extend(EXTENSION_SECONDS)
            await anyio.sleep(EXTEND_SECONDS)


async def _tell_status(daemon: Daemon, notifier: Notifier) -> None:
    """Keeps the service manager's one line about the daemon current."""
    while notifier.listens:
        engine = daemon.engine.snapshot()
        notifier.say(status_line(engine, daemon.scheduler), engine=engine.state.value)
        await daemon.clock.sleep_until(daemon.clock.monotonic() + LOOK_SECONDS)


# What a state means where its name does not say it.
IN_WORDS: Final = {
    EngineState.COLD: "cold, the next request loads one",
    EngineState.ASLEEP: "asleep, the next request wakes it",
}


def status_line(engine: EngineSnapshot, runs: RunCounts) -> str:
    """Engine and runs, in one line for people."""
    model = engine.model or "no model"
    told = f"{model}: {IN_WORDS.get(engine.state, engine.state)}"
    if engine.activity:
        told += f", {engine.activity}" + (f" {engine.progress:.0%}" if engine.progress else "")
    elif engine.error:
        told = f"{model}: {engine.state} ({engine.error})"
    return (
        f"{told}; runs: {runs.running_count} at work, {runs.waiting_count} waiting, "
        f"{runs.attention_count} held up"
    )


async def _give_back(daemon: Daemon) -> None:
    """Makes the process small again after work."""
    while True:
        await daemon.clock.sleep_until(daemon.clock.monotonic() + GIVE_BACK_SECONDS)
        if not daemon.scheduler.running_count:
            give_back()


async def _watch_engine(daemon: Daemon) -> None:
    """Shows what the model is doing to those who wait for an answer, and each new state of it to the log."""
    logged = EngineState.COLD
    while True:
        daemon.showing.look()
        engine = daemon.engine.snapshot()
        if engine.state is not logged:
            # Who only wants to know whether models answer asks health: all other states are waited for.
            await daemon.api.announce_models(serving=engine.state is not EngineState.DEAD)
            logged = engine.state
            said = {"kind": "engine_changed", "engine": logged.value, "model": engine.model}
            log.log(logging.WARNING if logged is EngineState.DEAD else logging.INFO, "engine", extra=said)
        await daemon.clock.sleep_until(daemon.clock.monotonic() + LOOK_SECONDS)
