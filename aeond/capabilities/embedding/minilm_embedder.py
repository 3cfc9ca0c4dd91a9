"""The Embedder port over all-MiniLM-L6-v2: loaded when it is first asked, in a thread, and unloaded when idle."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import anyio
from anyio import from_thread, to_thread

from aeond.concurrency import BackgroundTasks
from aeond.errors import InvalidInputError, LLMError, OverloadedError
from aeond.frozen import frozen
from aeond.ports import Clock
from aeond.ports.embedding import MAX_TEXTS, Vector

if TYPE_CHECKING:
    from aeond.capabilities.embedding.minilm import MiniLm

IDLE_SECONDS: Final = 300.0
MAX_WAITING: Final = 64

logger = logging.getLogger(__name__)


@frozen
class WeightFiles:
    """The model's two files."""

    weights: Path
    vocabulary: Path


Find = Callable[[], WeightFiles | None]  # where the files are, None while one is missing


class MiniLmEmbedder(BackgroundTasks):
    """Computes vectors one call at a time; `async with` unloads the model after `idle_seconds` without a call.

    Files that cannot be loaded count as missing until one of them changes.
    """

    name = "all-MiniLM-L6-v2"

    def __init__(self, find: Find, clock: Clock, idle_seconds: float = IDLE_SECONDS) -> None:
        self._find = find
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._model: MiniLm | None = None
        self._refused: tuple[tuple[int, int], ...] = ()
        self._turn = anyio.Lock()
        self._waiting = 0
        self._thread = anyio.CapacityLimiter(1)
        self._used = anyio.Event()
        self._last_use = 0.0

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._tasks.start_soon(self._unload_when_idle)
        return self

    async def __aexit__(self, *_: object) -> None:
        await super().__aexit__()
        self._unload()

    @property
    def available(self) -> bool:
        return self._model is not None or self._files() is not None

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if len(texts) > MAX_TEXTS:
            raise InvalidInputError(
                f"{len(texts)} texts to embed at once; the limit is {MAX_TEXTS}", reason="TOO_MANY_TEXTS"
            )
        if not texts:
            return ()
        if self._waiting >= MAX_WAITING:
            raise OverloadedError("too many texts wait to be embedded", reason="EMBEDDER_BUSY")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._embed(texts)
        finally:
            self._waiting -= 1

    async def _embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if self._model is None and not await self._load():
            return ()
        model = self._model
        assert model is not None
        try:
            # Not abandoned when cancelled: the thread stops at its next check, and the model is free again then.
            return await to_thread.run_sync(
                partial(model.embed, texts, from_thread.check_cancelled), limiter=self._thread
            )
        except (OSError, LLMError) as error:
            self._refuse(error)
            return ()
        finally:
            self._last_use = self._clock.monotonic()
            self._used.set()

    async def _load(self) -> bool:
        files = self._files()
        if files is None:
            return False
        try:
            self._model = await to_thread.run_sync(_load, files, limiter=self._thread)
        except (OSError, LLMError, ImportError) as error:
            self._refuse(error)
            return False
        logger.info("loaded the embedding model %s", self.name)
        return True

    def _files(self) -> WeightFiles | None:
        files = self._find()
        if files is None or (self._refused and _versions(files) == self._refused):
            return None
        return files

    def _refuse(self, error: Exception) -> None:
        logger.warning("the embedding model cannot be used, texts are compared by words instead: %s", error)
        self._unload()
        files = self._find()
        self._refused = _versions(files) if files is not None else ()

    def _unload(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None

    async def _unload_when_idle(self) -> None:
        while True:
            await self._used.wait()
            self._used = anyio.Event()
            until = self._last_use + self._idle_seconds
            while self._model is not None:
                await self._clock.sleep_until(until)
                async with self._turn:
                    until = self._last_use + self._idle_seconds
                    if self._clock.monotonic() >= until:
                        self._unload()


def _load(files: WeightFiles) -> "MiniLm":
    from threadpoolctl import threadpool_limits

    from aeond.capabilities.embedding.minilm import MiniLm

    # One text is too little work for several threads, and the waiting ones spin: beside other programs a text took
    # 1.3 s instead of 20 ms.
    threadpool_limits(limits=1, user_api="blas")
    return MiniLm(files.weights, files.vocabulary)


def _versions(files: WeightFiles) -> tuple[tuple[int, int], ...]:
    """Size and time of the last write of each file; nothing of a file that has gone."""
    versions: list[tuple[int, int]] = []
    for path in (files.weights, files.vocabulary):
        try:
            facts = path.stat()
        except OSError:
            continue
        versions.append((facts.st_size, facts.st_mtime_ns))
    return tuple(versions)
