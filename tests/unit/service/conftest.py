"""Fixtures for tests of several services."""

import pytest

from aeond.service.runs.admission import Admission
from tests.support.service_world import open_admission


@pytest.fixture
def admission() -> Admission:
    return open_admission()
