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


@pytest.fixture(scope="module")
def stage_of_module() -> Iterator[Stage]:
    """A daemon for those tests of a module that neither stop it nor count what it has."""
    with daemon_folder() as folder, staged(folder) as stage:
        yield stage


@pytest.fixture
def shared(stage_of_module: Stage, tmp_path: Path) -> Stage:
    """This daemon, with a workspace of the test."""
    return stage_of_module.at(tmp_path / "workspace")


@pytest.fixture
def stage(folder: Path) -> Iterator[Stage]:
    """A daemon that is READY, with a scripted model that has nothing to say."""
    with staged(folder) as stage:
        yield stage
