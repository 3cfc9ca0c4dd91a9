"""Whether the daemon takes on work."""

import pytest

from aeond.errors import UnavailableError
from aeond.service.runs.admission import Admission, AdmissionState


def refused(admission: Admission) -> UnavailableError:
    with pytest.raises(UnavailableError) as raised:
        admission.check()
    return raised.value


def test_a_daemon_goes_through_its_life_once() -> None:
    """Work is refused while starting, taken on while open, and refused for good while draining."""
    admission = Admission()
    assert refused(admission).reason == "STARTING"
    admission.open()
    admission.check()
    admission.drain()
    assert refused(admission).reason == "DRAINING"
    admission.open()
    assert admission.state is AdmissionState.DRAINING


def test_a_refusal_says_when_to_try_again() -> None:
    """A rejection contains a retry delay."""
    admission = Admission()
    starting = refused(admission)
    admission.drain()
    assert 0 < starting.retry_after_seconds < refused(admission).retry_after_seconds
