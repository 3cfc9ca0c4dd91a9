"""The lifecycle from start to stop, and the effect of signals.

Start: locks, journal, memory, tools, engine (which loads in the background), unfinished runs, socket, READY.
Stop, by SIGTERM or SIGINT: reject new work, send watchers their resume positions, park runs and wait for
steps with effects, close the socket, write everything back, exit with 0. A second signal does not wait for
steps. SIGHUP reloads the configuration, SIGUSR1 logs what each task waits for. Other signals that would end the process by default have no effect.
"""

import asyncio
import logging
import signal
from contextlib import suppress
from typing import Final, Protocol, cast

import anyio

from aeond.daemon.compose.daemon import Daemon, composed
from aeond.daemon.compose.embedding import fetches_at_start
from aeond.daemon.config.paths import Paths
from aeond.daemon.config.reloading import LiveConfig
from aeond.daemon.lifecycle.footprint import give_back, settle
from aeond.daemon.lifecycle.liveness import Liveness
from aeond.daemon.lifecycle.locking import single_instance
from aeond.daemon.lifecycle.waiting import waiting_tasks
from aeond.daemon.notify import Notifier
from aeond.daemon.socket_activation import NONE_INHERITED, Inherited
from aeond.domain.llm import EngineSnapshot, EngineState
from aeond.errors import AeondError

GIVE_BACK_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.5
CALM_SECONDS: Final = 5.0  # between two looks at an idle daemon
# A start takes as long as journal and unfinished runs require; one that exceeds this limit hangs.
LONGEST_START_SECONDS: Final = 900.0
EXTENSION_SECONDS: Final = 30.0
EXTEND_SECONDS: Final = 10.0
CLOSING_SECONDS: Final = 15.0  # after the last step of a stop

# Signals without a meaning here, whose default is to end the process without a word.
MEANINGLESS: Final = (
    *(signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO),
    *(signal.SIGPWR, signal.SIGSTKFLT),
    *range(signal.SIGRTMIN, signal.SIGRTMAX + 1),
)

log = logging.getLogger("aeond.daemon")


class RunCounts(Protocol):
    """The number of runs by state."""

    @property
    def running_count(self) -> int: ...

    @property
    def waiting_count(self) -> int: ...

    @property
    def attention_count(self) -> int: ...


async def serve(
    live: LiveConfig, paths: Paths, notifier: Notifier, inherited: Inherited = NONE_INHERITED
) -> None:
    """Runs a daemon until a stop is requested. Raises errors that prevent it from starting or continuing.

    The daemon creates the sockets that it did not inherit.
    """
    signals = Signals(live)
    paths.make()
    with single_instance(paths.lock), single_instance(paths.socket_lock, paths.socket):
        async with anyio.create_task_group() as tasks:
            await tasks.start(signals.listen)
            starting = anyio.CancelScope()
            tasks.start_soon(ask_for_time, notifier, LONGEST_START_SECONDS, starting)
            notifier.say("starting")
            async with composed(live, paths, inherited) as daemon:
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
    """Requests made by signals: a configuration reload, an orderly stop, and a stop that does not wait."""

    def __init__(self, live: LiveConfig) -> None:
        self._live = live
        self.stop = anyio.Event()
        self.hurry = anyio.Event()
        self._serving = False
        self._reload_wanted = False

    def serving(self) -> None:
        """Handles configuration reloads from now on, including one requested during the start, when it could
        not be carried out and its completion would have reported READY.
        """
        self._serving = True
        if self._reload_wanted:
            self._reload()

    async def listen(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(
            *(signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1),
            *cast("tuple[signal.Signals, ...]", MEANINGLESS),
        ) as signals:
            task_status.started()
            async for number in signals:
                if number in MEANINGLESS:
                    log.warning("ignored signal %d: SIGTERM stops the daemon", number)
                    continue
                log.info("received %s", signal.Signals(number).name)
                if number == signal.SIGUSR1:
                    for line in waiting_tasks(asyncio.all_tasks()):
                        log.info("task %s", line)
                elif number == signal.SIGHUP and self._serving:
                    self._reload()
                elif number == signal.SIGHUP:
                    self._reload_wanted = True
                elif self.stop.is_set():
                    self.hurry.set()
                else:
                    self.stop.set()

    def _reload(self) -> None:
        with suppress(AeondError):  # the error is in the log, and the old configuration stays in force
            self._live.reload()


async def _live(daemon: Daemon, live: LiveConfig, notifier: Notifier, signals: Signals) -> None:
    """Reports READY and serves until a stop is requested and everything is parked."""
    liveness = Liveness(journal=daemon.journal, scheduler=daemon.scheduler, clock=daemon.clock)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_report_status, daemon, notifier)
        tasks.start_soon(_watch_engine, daemon)
        tasks.start_soon(daemon.retention.keep)
        tasks.start_soon(_give_back, daemon)
        if live.config.model.reads_ahead:
            tasks.start_soon(daemon.warming.keep_warm)
        if fetches_at_start(live.config):
            tasks.start_soon(daemon.embedding.fetch_if_missing)
        if notifier.watchdog_seconds > 0:
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
                "stopped without waiting for %d runs: steps that were interrupted are shown when the"
                " runs resume",
                cut,
            )
        group.cancel_scope.cancel()


async def _cancel_when_hurried(signals: Signals, scope: anyio.CancelScope) -> None:
    await signals.hurry.wait()
    log.warning("second stop signal: not waiting for steps to end")
    scope.cancel()


async def ask_for_time(notifier: Notifier, limit_seconds: float, scope: anyio.CancelScope) -> None:
    """Extends the service manager's timeout of a long start or stop while the event loop is running."""
    with scope, anyio.move_on_after(limit_seconds):
        while notifier.listens:
            notifier.extend(EXTENSION_SECONDS)
            await anyio.sleep(EXTEND_SECONDS)


async def _report_status(daemon: Daemon, notifier: Notifier) -> None:
    """Keeps the service manager's status line up to date."""
    while notifier.listens:
        engine = daemon.engine.snapshot()
        fetching = daemon.embedding.progress
        notifier.say(status_line(engine, daemon.scheduler, fetching), engine=engine.state.value)
        await _pause(daemon)
        if not (daemon.scheduler.running_count or engine.activity or fetching >= 0):
            with anyio.move_on_after(CALM_SECONDS):
                await daemon.engine.changed(engine)


async def _pause(daemon: Daemon) -> None:
    await daemon.clock.sleep_until(daemon.clock.monotonic() + LOOK_SECONDS)


# The meaning of states whose name is unclear.
IN_WORDS: Final = {
    EngineState.COLD: "cold, the next request loads a model",
    EngineState.ASLEEP: "asleep, the next request wakes it",
}


def status_line(engine: EngineSnapshot, runs: RunCounts, fetched: float = -1.0) -> str:
    """Engine and runs on one line; `fetched` is the download progress of the embedding model, negative if it is
    not being downloaded.
    """
    model = engine.model or "no model"
    text = f"{model}: {IN_WORDS.get(engine.state, engine.state)}"
    if engine.activity:
        text += f", {engine.activity}" + (f" {engine.progress:.0%}" if engine.progress else "")
    elif engine.error:
        text = f"{model}: {engine.state} ({engine.error})"
    if fetched >= 0:
        text += f"; optional embedding model: downloading {fetched:.0%}"
    return (
        f"{text}; runs: {runs.running_count} running, {runs.waiting_count} waiting,"
        f" {runs.attention_count} need a person"
    )


async def _give_back(daemon: Daemon) -> None:
    """Returns unused memory to the system after work."""
    while True:
        await daemon.clock.sleep_until(daemon.clock.monotonic() + GIVE_BACK_SECONDS)
        if not daemon.scheduler.running_count:
            give_back()


async def _watch_engine(daemon: Daemon) -> None:
    """Shows the engine's progress to waiting clients and logs each change of its state."""
    logged = EngineState.COLD
    while True:
        daemon.showing.look()
        engine = daemon.engine.snapshot()
        if engine.state is not logged:
            # Health only says whether models can answer: in all other states, requests wait.
            await daemon.api.announce_models(serving=engine.state is not EngineState.DEAD)
            logged = engine.state
            said = {"kind": "engine_changed", "engine": logged.value, "model": engine.model}
            log.log(logging.WARNING if logged is EngineState.DEAD else logging.INFO, "engine", extra=said)
        await _pause(daemon)
        if logged is not EngineState.STARTING:
            await daemon.engine.changed(engine)
