"""The real daemon, for tests that need nothing but it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.daemon_process import daemon_folder
from tests.support.stages import Stage, staged


@pytest.fixture
def folder() -> Iterator[Path]:
    with daemon_folder() as folder:
        yield folder


@contextmanager
def _staged_for(module: ModuleType, folder: Path) -> Iterator[Stage]:
    """A daemon that is READY, with the SETTINGS and the SCRIPT of the module, if it has them."""
    with staged(folder, getattr(module, "SETTINGS", None), getattr(module, "SCRIPT", None)) as stage:
        yield stage


@pytest.fixture(scope="module")
def stage_of_module(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A daemon for those tests of a module that neither stop it nor count what it has."""
    with daemon_folder() as folder, _staged_for(request.module, folder) as stage:
        yield stage


@pytest.fixture
def shared(stage_of_module: Stage, tmp_path: Path) -> Stage:
    """This daemon, with a workspace of the test."""
    return stage_of_module.at(tmp_path / "workspace")


@pytest.fixture
def own_stage(folder: Path, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Such a daemon for one test."""
    with _staged_for(request.module, folder) as stage:
        yield stage


@pytest.fixture
def stage(own_stage: Stage) -> Stage:
    """The daemon of the test, unless its module has another one."""
    return own_stage
