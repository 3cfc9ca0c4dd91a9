"""How the engine is put together."""

import socket
from pathlib import Path

import pytest

from aeond.daemon.compose.engine import _started
from aeond.daemon.config import paths as places
from aeond.daemon.config.model_sections import EngineRun
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.schema import Config
from tests.support.outsiders import as_outsider, open_folder


def test_a_unit_runs_the_engine_where_it_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system service's unit is for who may connect to it; a user's own daemon starts a child beside it."""
    paths = paths_of(Config(), Path("/etc/aeond/aeond.toml"))
    with open_folder() as folder, socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.setattr(places, "SERVICE_SOCKETS", folder)
        assert _started(EngineRun.AUTO, paths) == {}
        listener.bind(str(paths.engine_unit))
        assert "start" in _started(EngineRun.AUTO, paths)
        with as_outsider(paths.engine_unit):
            assert _started(EngineRun.AUTO, paths) == {}
            assert "start" in _started(EngineRun.UNIT, paths)
