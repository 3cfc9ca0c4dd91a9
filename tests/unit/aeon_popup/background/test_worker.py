"""The worker thread."""

import threading

import anyio
import pytest

from aeon_popup.background.worker import Worker

SECONDS = 20.0


def test_tasks_run_in_one_other_thread_and_end_with_it() -> None:
    """A task runs in another thread than its caller's, and stopping the worker cancels it."""
    ended, names = threading.Event(), []
    started = threading.Event()
    worker = Worker(lambda error: None)
    worker.start()

    async def work() -> None:
        names.append(threading.current_thread().name)
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    worker.start_soon(work)
    assert started.wait(SECONDS)
    worker.stop()
    assert ended.wait(SECONDS)
    assert names == ["worker"]


def test_an_unexpected_error_is_passed_on() -> None:
    """An error that a task does not handle reaches the application instead of getting lost."""
    failed, errors = threading.Event(), []

    def note(error: BaseException) -> None:
        errors.append(error)
        failed.set()

    worker = Worker(note)
    worker.start()

    async def work() -> None:
        raise LookupError("a defect")

    worker.start_soon(work)
    assert failed.wait(SECONDS)
    (group,) = errors
    assert isinstance(group, BaseExceptionGroup)
    assert group.subgroup(LookupError) is not None


def test_a_stopped_worker_ignores_further_work() -> None:
    """Work that arrives after the stop is not started, and raises no error."""
    worker = Worker(lambda error: pytest.fail(str(error)))
    worker.start()
    worker.stop()
    worker.call_soon(lambda: pytest.fail("called after the stop"))
