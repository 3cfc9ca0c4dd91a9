"""Blocking work in threads that can be let go of."""

import subprocess
import sys
import threading

import anyio
import pytest

from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.errors import OverloadedError


async def test_work_runs_in_another_thread() -> None:
    """The work runs beside the event loop and its result comes back."""
    home = threading.get_ident()
    assert await WorkerThreads().run(lambda _stopped: threading.get_ident()) != home


@pytest.mark.parametrize("error", [ValueError("wrong"), SystemExit(3), StopAsyncIteration()])
async def test_an_exception_of_the_work_is_raised(error: BaseException) -> None:
    """An exception of the work is raised where its result is awaited."""

    def work(_stopped: Stopped) -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        await WorkerThreads().run(work)
    assert raised.value is error


async def test_cancelled_caller_does_not_wait() -> None:
    """A caller that is cancelled leaves at once, and the work learns that its result is no longer needed."""
    threads = WorkerThreads()
    begun, reported = threading.Event(), threading.Event()
    release = threading.Event()

    def work(stopped: Stopped) -> None:
        begun.set()
        release.wait(10)
        if stopped():
            reported.set()

    async def until_begun(scope: anyio.CancelScope) -> None:
        await anyio.to_thread.run_sync(begun.wait, 30)
        scope.cancel()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(until_begun, group.cancel_scope)
            await threads.run(work)
    assert not reported.is_set()
    release.set()
    assert await anyio.to_thread.run_sync(reported.wait, 30)


async def test_hanging_threads_do_not_pile_up() -> None:
    """Threads that hang keep their slots, so that further work is refused until one of them ends."""
    threads = WorkerThreads(limit=2, max_wait_seconds=0.02)
    release = threading.Event()
    for _ in range(2):
        with anyio.move_on_after(0.01):
            await threads.run(lambda _stopped: release.wait(10))
    with pytest.raises(OverloadedError) as refusal:
        await threads.run(lambda _stopped: None)
    assert refusal.value.reason == "THREADS_BUSY"
    release.set()
    patient = WorkerThreads(limit=2, max_wait_seconds=5)
    patient._slots = threads._slots
    assert await patient.run(lambda _stopped: "again") == "again"


HANGING_PROGRAM = """
import threading, anyio
from aeond.capabilities.tools.worker_threads import WorkerThreads

async def main():
    with anyio.move_on_after(0.01):
        await WorkerThreads().run(lambda _stopped: threading.Event().wait())

anyio.run(main)
print("ended")
"""


def test_hanging_thread_does_not_keep_the_program() -> None:
    """A program ends although one of its tools still hangs in a thread."""
    ended = subprocess.run(
        [sys.executable, "-c", HANGING_PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("ended\n", "", 0)


LATE_PROGRAM = """
import threading, anyio
from aeond.capabilities.tools.worker_threads import WorkerThreads

release = threading.Event()

async def main():
    with anyio.move_on_after(0.01):
        await WorkerThreads().run(lambda _stopped: release.wait())

anyio.run(main)
(late,) = [thread for thread in threading.enumerate() if thread.name == "tool"]
release.set()
late.join(30)
print(late.is_alive())
"""


def test_thread_that_ends_after_the_loop_is_quiet() -> None:
    """Work that ends when the event loop is gone ends without a word."""
    ended = subprocess.run(
        [sys.executable, "-c", LATE_PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("False\n", "", 0)
