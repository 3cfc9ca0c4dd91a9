"""The worker thread: an asyncio event loop for gRPC and D-Bus, separate from Qt's loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

_STOP_SECONDS = 5.0
# An instance starts a few tasks per request; more than this is a defect.
_MOST_TASKS = 500

Work = Callable[[], Coroutine[Any, Any, None]]


class Worker:
    """A thread with a task group. An exception that a task does not handle ends all tasks and is passed to `failed`.

    All tasks are owned by the group and are cancelled by `stop`.
    """

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._thread = threading.Thread(target=self._main, name="worker", daemon=True)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._group: asyncio.TaskGroup | None = None
        self._stopping: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Returns once tasks can be started."""
        self._thread.start()
        self._ready.wait(_STOP_SECONDS)

    def start_soon(self, work: Work) -> None:
        """Starts a task; callable from any thread. Does nothing after `stop`."""
        self.call_soon(lambda: self._begin(work))

    def call_soon(self, do: Callable[[], None]) -> None:
        """Calls a function in the worker thread; callable from any thread. Does nothing after `stop`."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(do)

    def stop(self) -> None:
        """Cancels all tasks and waits for the thread, at most 5 s."""
        if self._stopping is not None:
            self.call_soon(self._stopping.set)
        self._thread.join(_STOP_SECONDS)

    def _begin(self, work: Work) -> None:
        if self._group is None or self._stopping is None or self._stopping.is_set():
            return
        if len(self._tasks) >= _MOST_TASKS:
            raise RuntimeError("too many tasks are active in the worker")
        task = self._group.create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _main(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseExceptionGroup as error:
            self._failed(error)

    async def _run(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._ready.set()
            await self._stopping.wait()
            for task in tuple(self._tasks):
                task.cancel()
