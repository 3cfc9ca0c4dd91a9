"""What every test stands on: one event loop, and how long hypothesis looks."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Fixtures that are made once for all tests live there.
pytest_plugins = ["tests.support.engine"]

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


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """grpc.aio runs on asyncio alone, so everything is tested there."""
    return "asyncio"
