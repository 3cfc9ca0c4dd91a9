"""Common setup of all tests: one event loop, and the effort of hypothesis."""

import gc
import os
import signal
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, settings

# Fixtures that are made once for all tests, where tests of engines are, and what becomes of skips.
pytest_plugins = [
    "tests.support.engine",
    "tests.support.engine_marks",
    "tests.support.skips",
    "tests.support.vllm",
]

# A shell starts background jobs with SIGINT ignored, and every program that a test starts would inherit that.
# Signals handled here have their default action in them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: a slow machine is no failing property. Derandomised in CI, so that a red run is red
# again on the next machine; `make nightly` is where new examples are looked for.
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=100, print_blob=True)
settings.register_profile(
    "nightly",
    deadline=None,
    max_examples=2_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_collection_finish() -> None:
    """Exempts everything that exists so far, above all thousands of collected tests, from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """grpc.aio runs on asyncio alone, so everything is tested there."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
async def one_event_loop(anyio_backend: str) -> AsyncIterator[None]:
    """Keeps one event loop from the first test to the last.

    grpc.aio has one queue of finished operations for the whole process. Operations left behind by a test are
    delivered to the next running loop, and make it fail if the loop they belong to has been closed.
    """
    assert anyio_backend == "asyncio"
    yield  # noqa: PT022 - what is kept open until here is the loop itself
