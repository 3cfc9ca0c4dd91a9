"""A machine with systemd on which aeond was installed: `make system-test` boots one."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed_service import AsUser, Service, member_session


@pytest.fixture(scope="session")
def installed() -> Service:
    """aeond, installed and never started."""
    if "WITH_SYSTEMD" not in os.environ or "AEOND_STAGE" not in os.environ:
        pytest.skip("needs a systemd that may be spoilt: make system-test boots one")
    service = Service()
    service.install(Path(os.environ["AEOND_STAGE"]))
    return service


@pytest.fixture
def service(installed: Service) -> Iterator[Service]:
    """The service, stopped, with no state of the test before."""
    installed.renew()
    yield installed
    installed.renew()


@pytest.fixture
def as_user(service: Service) -> Iterator[AsUser]:
    """Runs a command as the user, with the user's systemd running and the scripted model configured."""
    with member_session() as made:
        yield made
