"""Keeps an engine alive: loads on demand, restarts after a death, gives memory back.

One task owns the engine's life. All other code sets the desired model (`load`, `unload`, the first request)
and reads the snapshot. A life is: get the model's files, start the program, serve until it ends. An
unrequested end is a death, whatever the exit code; so is a stall: requests in flight and not a byte
from the engine within the stall limit (its health page says OK even when its core hangs).
"""

import contextlib
import logging
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Generic, Self, TypeVar

import anyio

from aeond.capabilities.llm.adapters.measurements import Measurements
from aeond.capabilities.llm.engine.interface import EngineProgram, ModelFiles
from aeond.capabilities.llm.engine.metrics import seen_by
from aeond.capabilities.llm.engine.process import sweep
from aeond.capabilities.llm.engine.restart_policy import RestartPolicy
from aeond.capabilities.llm.engine.supervision_rules import Supervision
from aeond.capabilities.llm.engine.systemd_unit import RunningEngine, Start, as_child
from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import UnixSocket
from aeond.capabilities.llm.models.catalogue import Catalogue, CatalogueEntry
from aeond.concurrency import BackgroundTasks, Changes, first_of
from aeond.domain.llm import EngineMetrics, EngineSnapshot, EngineState, ModelInfo
from aeond.errors import LLMError, LLMGoneError, OverloadedError, RefusedError
from aeond.ports import Clock
from aeond.private_folders import make_private

MAX_SOCKET_PATH = 107  # bytes, a limit of Linux

logger = logging.getLogger(__name__)

R = TypeVar("R")


class EngineSupervisor(BackgroundTasks, Generic[R]):
    """The Engine port over a program of any kind; `async with` sweeps, supervises and ends it.

    `folder` is for the socket and the pid file and is made private to this user: RefusedError (reason
    FOLDER_NOT_OURS) when it is another's. Only one daemon may use it.
    A session gives what the program makes of a life that is ready.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        store: ModelFiles,
        folder: Path,
        clock: Clock,
        settings: Supervision,
        program: EngineProgram[R],
        start: Start = as_child,
    ) -> None:
        self._catalogue = catalogue
        self._store = store
        self._folder = folder
        self._clock = clock
        self._settings = settings
        self._program = program
        self._start = start
        self._snapshot = EngineSnapshot(EngineState.COLD)
        self._changes = Changes()
        self._wanted: CatalogueEntry | None = None
        self._last_model = catalogue.default
        self._life = anyio.CancelScope()
        self._lives = 0
        self._alive = False
        self._resident: R | None = None
        self._client: OpenAIClient | None = None  # of the current life
        self._trial = anyio.CancelScope()
        self._sleeper: tuple[R, OpenAIClient] | None = None  # resident again once the engine is awake
        self._failure: LLMError | None = None
        self._failure_until = 0.0
        self._restart_policy = RestartPolicy(clock, settings)
        self._requests = 0
        self.measurements = Measurements(clock)
        self._watch = Watchdog(clock)
        self._unwatched = OpenAIClient(UnixSocket(self._socket), Watchdog(clock))

    async def __aenter__(self) -> Self:
        make_private(self._folder)
        if len(os.fsencode(self._socket)) > MAX_SOCKET_PATH:
            raise LLMError(
                f"The path of the engine's socket is too long ({self._socket}): choose a shorter runtime folder.",
                reason="PATH_TOO_LONG",
            )
        sweep(self._folder)
        await super().__aenter__()
        self._tasks.start_soon(self._live)
        return self

    @property
    def model(self) -> str:
        """The name of the model that answers, or would answer the next request."""
        return self._last_model

    @property
    def context_length(self) -> int:
        """Tokens per request, prompt and answer together."""
        trained = self._catalogue.get(self._last_model).context_length
        return min(self._settings.context_length, trained) if trained else self._settings.context_length

    @property
    def tool_calls(self) -> bool:
        """Whether that model is said to call tools natively."""
        return bool(self._catalogue.get(self._last_model).tool_parser)

    # ------------------------------------------------------------------ the Engine port

    def snapshot(self) -> EngineSnapshot:
        return self._snapshot

    async def changed(self, seen: EngineSnapshot) -> EngineSnapshot:
        while self._snapshot.resembles(seen):
            await self._changes.next.wait()
        return self._snapshot

    async def ready(self) -> None:
        await self._ready()

    async def load(self, model: str) -> None:
        entry = self._catalogue.get(model)
        self._failure = None
        self._restart_policy.forget()
        if self._wanted is entry and self._snapshot.state in (EngineState.STARTING, EngineState.READY):
            return
        if self._wanted is entry and self._sleeper is not None:
            await self.wake()
        else:
            self._want(entry)

    async def unload(self) -> None:
        self._failure = None
        self._wanted = None
        self._life.cancel()
        self._changes.notify()
        life = self._lives
        while self._alive and self._lives == life:
            await self._changes.next.wait()
        if self._wanted is None:
            self._show(EngineState.COLD)

    async def sleep(self) -> None:
        if self._snapshot.state is EngineState.ASLEEP:
            return
        resident, client = self._resident, self._client
        if resident is not None and client is not None:
            self._resident = None  # new requests wait from here on
            try:
                # It answers once its weights are moved, later than any other answer may come.
                with anyio.move_on_after(self._settings.load_seconds):
                    if await self._program.sleep(self._unwatched) and self._client is client:
                        self._sleeper = resident, client
                        self._show(EngineState.ASLEEP)
                        return
            except (LLMError, OverloadedError) as error:
                logger.warning("the engine does not sleep and is unloaded: %s", error.message)
        await self.unload()

    async def wake(self) -> None:
        if self._sleeper is not None:
            self._show(EngineState.STARTING, "waking")
            self._tasks.start_soon(self._rouse, *self._sleeper)
            self._sleeper = None
        elif self._wanted is None:
            self._failure = None
            self._want(self._catalogue.get(self._last_model))

    async def _rouse(self, resident: R, client: OpenAIClient) -> None:
        """Wakes the engine; one that does not wake is restarted."""
        try:
            await self._program.wake(client)
        except (LLMError, OverloadedError) as error:
            logger.warning("the engine does not wake and is started again: %s", error.message)
            if self._client is client and self._wanted is not None:
                self._want(self._wanted)
            return
        if self._client is client:
            self._resident = resident
            self._show(EngineState.READY)

    async def list_models(self) -> Sequence[ModelInfo]:
        loaded = self._snapshot.model if self._snapshot.state is EngineState.READY else ""
        return self._catalogue.listed(lambda entry: self._store.find(entry) is not None, loaded)

    async def metrics(self) -> EngineMetrics | None:
        measured = self.measurements.metrics()
        if self._resident is None:
            return measured
        # An engine that answers here may still be silent to its requests.
        return await seen_by(self._unwatched, measured)

    # ------------------------------------------------------------------ for the adapter

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[R]:
        """The engine, once it is ready; starts it if need be. Waits without a bound of its own.

        Raises OverloadedError when too many wait already, LLMError when the engine cannot be started.
        """
        if self._requests >= self._settings.max_requests:
            raise OverloadedError(
                f"{self._requests} requests wait for the model already: try again later.",
                reason="ENGINE_BUSY",
            )
        self._requests += 1
        try:
            yield await self._ready()
        finally:
            self._requests -= 1

    def mark_dead(self, resident: R) -> None:
        """Ends the life that this one is of: it was seen that it cannot go on."""
        if resident is self._resident:
            self._resident = None
            self._trial.cancel()

    async def _ready(self) -> R:
        while self._resident is None:
            if self._sleeper is not None:
                await self.wake()
            if self._failure is not None:
                if self._clock.monotonic() < self._failure_until:
                    raise LLMError(self._failure.message, reason=self._failure.reason)
                self._failure = None
            if self._wanted is None:
                self._want(self._catalogue.get(self._last_model))
            await self._changes.next.wait()
        return self._resident

    def _want(self, entry: CatalogueEntry) -> None:
        self._wanted = entry
        self._last_model = entry.name
        self._life.cancel()
        self._show(EngineState.STARTING)

    # ------------------------------------------------------------------ the one task that owns the life

    async def _live(self) -> None:
        while True:
            entry = self._wanted
            if entry is None:
                if self._failure is None and self._snapshot.state is not EngineState.COLD:
                    self._show(EngineState.COLD)
                await self._changes.next.wait()
                continue
            self._lives += 1
            self._alive = True
            with anyio.CancelScope() as self._life:
                try:
                    await self._serve_again_and_again(entry)
                except LLMError as error:
                    self._give_up(entry, error)
                except (OSError, RefusedError) as error:
                    self._give_up(
                        entry, LLMError(f"The engine cannot be started: {error}.", reason="ENGINE_DEAD")
                    )
            self._alive = False
            self._changes.notify()

    def _give_up(self, entry: CatalogueEntry, failure: LLMError) -> None:
        """Requests fail with this error until `rest_seconds` have passed or a model is loaded."""
        logger.error("the model %s is not served: %s", entry.name, failure.message)
        if self._wanted is not entry:
            return  # the desired model has changed in the meantime
        self._failure = failure
        self._failure_until = self._clock.monotonic() + self._settings.rest_seconds
        self._wanted = None
        self._show(EngineState.DEAD, error=failure.message)

    async def _serve_again_and_again(self, entry: CatalogueEntry) -> None:
        """Ends by an error (the model cannot be had or used, the engine died too often) or a death in its sleep."""
        while True:
            path = await self._store.fetch(entry, self._show_starting)
            try:
                await self._serve(entry, path)
            except LLMGoneError as death:
                if self._snapshot.state is EngineState.ASLEEP:
                    self._wanted = None
                    return
                await self._mourn(death)
            except LLMError:
                if not await self._store.remove_if_damaged(entry):
                    raise

    async def _mourn(self, death: LLMGoneError) -> None:
        """Waits before the next life; raises when there were too many deaths lately."""
        logger.warning("%s", death.message)
        self._snapshot = replace(self._snapshot, restarts=self._snapshot.restarts + 1)
        moment = self._restart_policy.next_start(death)
        self._show(EngineState.DEAD, error=death.message)
        await self._clock.sleep_until(moment)

    async def _serve(self, entry: CatalogueEntry, path: Path) -> None:
        """One life of the program; ends by LLMGoneError or LLMError."""
        self._socket.unlink(missing_ok=True)
        command = self._program.command(entry, path, self._socket, self.context_length)
        async with self._start(command, self._folder, self._program.environment, self._tasks) as process:
            with anyio.move_on_after(self._settings.load_seconds) as loading:
                with self._shown_loading(process.pid, path):
                    await process.wait_ready(partial(self._go_on_loading, loading))
            if loading.cancelled_caught:
                raise LLMGoneError(
                    f"The engine was not ready after {self._settings.load_seconds:g} seconds.", retryable=True
                )
            try:
                self._client = client = OpenAIClient(UnixSocket(self._socket), self._watch)
                self._resident = self._program.resident(entry, client, self._show_activity)
                logger.info("the model %s is ready", entry.name)
                self._show(EngineState.READY)
                raise await self._death_of(process)
            finally:
                self._resident = self._sleeper = self._client = None

    @contextlib.contextmanager
    def _shown_loading(self, pid: int, path: Path) -> Iterator[None]:
        shown = anyio.CancelScope()
        self._tasks.start_soon(self._show_loading, pid, path, shown)
        try:
            yield
        finally:
            shown.cancel()

    async def _show_loading(self, pid: int, path: Path, shown: anyio.CancelScope) -> None:
        def show(activity: str, done: float) -> None:
            # A task woken in the iteration that cancels it keeps running until its next await.
            if not shown.cancel_called:
                self._show_starting(activity, done)

        with shown:
            await self._program.show_loading(pid, path, show)

    def _go_on_loading(self, loading: anyio.CancelScope, activity: str, done: float) -> None:
        """Progress that the program reports is a sign of life and restarts the loading timeout."""
        loading.deadline = anyio.current_time() + self._settings.load_seconds
        self._show_starting(activity, done)

    def _show_starting(self, activity: str, done: float) -> None:
        self._show(EngineState.STARTING, activity, done)

    def _show_activity(self, activity: str, done: float) -> None:
        if self._snapshot.state is EngineState.READY:
            self._show(EngineState.READY, activity, done)

    async def _death_of(self, process: RunningEngine) -> LLMGoneError:
        """Waits for the end of the process, for its silence, or for a verdict; who calls ends it."""
        how = await first_of(process.ended, self._verdict)
        return LLMGoneError(f"The engine died ({how}). {process.last_words()}".strip(), retryable=True)

    async def _verdict(self) -> str:
        """Why a process that has not ended is dead all the same, once it is."""
        with anyio.CancelScope() as self._trial:
            while True:
                await self._watch.silence(self._settings.stall_seconds)
                with anyio.move_on_after(self._settings.stall_seconds):
                    if await self._is_alive():
                        continue
                return f"it was silent for {self._settings.stall_seconds:g} s"
        return "its core failed"

    async def _is_alive(self) -> bool:
        """Whether the program proves that it does something; a refusal is no proof."""
        try:
            return self._client is not None and await self._program.proves_alive(self._client)
        except (LLMError, OverloadedError):
            return False

    def _show(self, state: EngineState, activity: str = "", progress: float = 0.0, error: str = "") -> None:
        model = "" if state is EngineState.COLD else self._last_model
        self._snapshot = replace(
            self._snapshot, state=state, model=model, activity=activity, progress=progress, error=error
        )
        self._changes.notify()

    @property
    def _socket(self) -> Path:
        return self._folder / "engine.sock"
