"""A daemon from memory and the program that talks to it, for the tests of the clients."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.aeonctl import Run, captured_aeonctl
from tests.support.scripted_daemon import ScriptedDaemon


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[ScriptedDaemon]:
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon:
        yield daemon


@pytest.fixture
def aeonctl(
    daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.setenv("AEOND_SOCKET", str(daemon.path))
    return captured_aeonctl(monkeypatch, capsys)
