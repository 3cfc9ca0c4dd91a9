"""From start to stop: what happens in which order, and what signals do.

Start: lock, journal, memory, tools, engine (it begins to load and nobody waits for it), unfinished runs,
socket, READY. Stop, by SIGTERM or SIGINT: admit nothing, tell watchers where to go on from, park runs and
wait for steps with effects, close the socket, write everything back, end with 0. A second signal does not
wait for steps. SIGHUP is answered with a line in the log: a new configuration takes a restart.
"""

import logging
import signal
from typing import Final

import anyio

from aeond.daemon.compose import Daemon, composed
from aeond.daemon.config import Config
from aeond.daemon.footprint import settle
from aeond.daemon.locking import single_instance
from aeond.daemon.notify import Notifier
from aeond.daemon.paths import Paths
from aeond.domain.llm import EngineState
from aeond.errors import StoreError

STATUS_SECONDS: Final = 0.5
PROBE_SECONDS: Final = 5.0

log = logging.getLogger("aeond.daemon")


async def serve(config: Config, paths: Paths, notifier: Notifier, descriptor: int | None = None) -> None:
    """Runs a daemon until it is told to stop. Raises what keeps it from starting or going on.

    `descriptor` is a listening socket that was handed over; without it the daemon makes its own.
    """
    stop = Stop()
    paths.make()
    with single_instance(paths.lock):
        async with anyio.create_task_group() as signals:
            await signals.start(stop.listen)
            async with composed(config, paths, descriptor) as daemon:
                resumed = await daemon.scheduler.resume()
                async with daemon.api.opened():
                    daemon.admission.open()
                    await daemon.api.announce(serving=True)
                    log.info("ready", extra={"socket": str(daemon.socket), "resumed_runs": resumed})
                    await _live(daemon, config, notifier, stop)
            signals.cancel_scope.cancel()
    log.info("stopped")


class Stop:
    """What signals ask for: an orderly stop, and then one that does not wait."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.hurried = anyio.Event()

    async def listen(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            task_status.started()
            async for number in signals:
                log.info("received %s", signal.Signals(number).name)
                if number == signal.SIGHUP:
                    log.warning("the configuration is read at start only: restart to change it")
                elif self.asked.is_set():
                    self.hurried.set()
                else:
                    self.asked.set()


async def _live(daemon: Daemon, config: Config, notifier: Notifier, stop: Stop) -> None:
    """READY, until a stop is asked for and everything is parked."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tell_status, daemon, notifier)
        tasks.start_soon(_show_engine, daemon)
        tasks.start_soon(_feed_watchdog, daemon, notifier)
        notifier.ready()
        settle()
        await stop.asked.wait()
        notifier.stopping()
        await _drain(daemon, config.daemon.stop_seconds, stop)
        tasks.cancel_scope.cancel()


async def _drain(daemon: Daemon, limit_seconds: float, stop: Stop) -> None:
    daemon.admission.drain()
    await daemon.api.drain()
    daemon.feed.close()
    async with anyio.create_task_group() as group:
        group.start_soon(_cancel_when_hurried, stop, group.cancel_scope)
        cut = await daemon.scheduler.drain(limit_seconds)
        if cut:
            log.warning(
                "stopped without waiting for %d runs: steps that were cut are shown when they resume", cut
            )
        group.cancel_scope.cancel()


async def _cancel_when_hurried(stop: Stop, scope: anyio.CancelScope) -> None:
    await stop.hurried.wait()
    log.warning("told to hurry: not waiting for steps to end")
    scope.cancel()


async def _tell_status(daemon: Daemon, notifier: Notifier) -> None:
    """Keeps the service manager's one line about the daemon current."""
    while notifier.listens:
        engine = daemon.engine.snapshot()
        model = engine.model or "no model"
        told = f"{model}: {engine.state}"
        if engine.state is EngineState.STARTING:
            told = f"{model}: {engine.activity or 'starting'} {engine.progress:.0%}"
        elif engine.error:
            told = f"{model}: {engine.state} ({engine.error})"
        told += f"; runs: {daemon.scheduler.running_count} at work"
        told += f", {daemon.scheduler.waiting_count} waiting"
        told += f", {daemon.scheduler.attention_count} held up"
        notifier.say(told, engine=engine.state.value)
        await daemon.clock.sleep_until(daemon.clock.monotonic() + STATUS_SECONDS)


async def _show_engine(daemon: Daemon) -> None:
    """Lets those who wait for an answer see what their model is doing."""
    while True:
        daemon.showing.look()
        await daemon.clock.sleep_until(daemon.clock.monotonic() + STATUS_SECONDS)


async def _feed_watchdog(daemon: Daemon, notifier: Notifier) -> None:
    """Gives a sign of life while the event loop turns and the journal answers."""
    while notifier.watchdog_seconds > 0:
        try:
            with anyio.fail_after(PROBE_SECONDS):
                await daemon.journal.probe()
        except (TimeoutError, StoreError) as error:
            if isinstance(error, StoreError) and error.retryable:
                notifier.alive()  # a full disk: the writer is well, and a restart would not help
            else:
                log.error("no sign of life: the journal does not answer: %s", error)  # noqa: TRY400 - expected, and no bug
        else:
            notifier.alive()
        await daemon.clock.sleep_until(daemon.clock.monotonic() + notifier.watchdog_seconds / 3)
