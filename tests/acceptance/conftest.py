"""The real daemon, for tests that need nothing but it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon_process import daemon_folder
from tests.support.stages import Stage, staged


@pytest.fixture
def folder() -> Iterator[Path]:
    with daemon_folder() as folder:
        yield folder


@pytest.fixture
def stage(folder: Path) -> Iterator[Stage]:
    """A daemon that is READY, with a scripted model that has nothing to say."""
    with staged(folder) as stage:
        yield stage
