"""What tests of several services begin with."""

import pytest

from aeond.service.admission import Admission
from tests.support.service_world import open_admission


@pytest.fixture
def admission() -> Admission:
    return open_admission()
