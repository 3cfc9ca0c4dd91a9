"""The real daemon, for tests that need nothing but it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.embedders import real_files
from tests.support.engine import MODELS
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


@pytest.fixture(scope="session")
def small_model() -> Iterator[DaemonProcess]:
    """A daemon with a small real model and the real embedding model, which does not run yet. Its state is kept for all modules: what
    the model has read in one, which takes it half a minute, the next one finds on the disk."""
    anyio.run(real_files().fetch)
    model: dict[str, Any] = {
        "engine": "llama_cpp",
        "name": "smollm2-135m-instruct",
        "models_dir": str(MODELS),
        "script": "",
        "context_tokens": 4096,
        "yields_memory": False,  # the load of the machine is not checked here
    }
    with daemon_folder() as folder:
        yield DaemonProcess(folder, {"model": model})


@pytest.fixture(scope="module")
def loading(small_model: DaemonProcess) -> Iterator[DaemonProcess]:
    """This daemon, READY while its model still loads, or is even downloaded."""
    with small_model as daemon:
        yield daemon
