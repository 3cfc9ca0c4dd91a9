"""Every client that serves tools against the same daemon: the same cases."""

from collections.abc import Iterator

import pytest

from tests.support.conformance_serving import SERVING, ServingCase, happen
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.stubs import STUBS, Stub


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    """A real daemon with a scripted model."""
    with daemon_folder() as folder, DaemonProcess(folder) as daemon:
        yield daemon


@pytest.mark.parametrize("case", SERVING, ids=str)
@pytest.mark.parametrize("stub", [stub for stub in STUBS if not stub.serves_as], ids=str)
def test_a_client_that_serves_tools_conforms(stub: Stub, case: ServingCase, daemon: DaemonProcess) -> None:
    """Calls, failures, turns, cancellations, lost connections and the end are as the case says."""
    with daemon_folder() as folder:
        happen(case, stub, daemon, folder)
