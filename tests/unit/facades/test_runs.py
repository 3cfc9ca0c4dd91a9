"""Runs as every façade treats them."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.api.v1 import runs_pb2
from aeond.facades.runs import cancel
from aeond_client import AsyncClient
from tests.support.scripted_daemon import ScriptedDaemon, ScriptedRuns


class SilentRuns(ScriptedRuns):
    """Never replies to CancelRun."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = anyio.Event()

    async def CancelRun(self, request: runs_pb2.CancelRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        self.asked.set()
        await anyio.sleep_forever()


async def test_a_daemon_that_does_not_reply_does_not_keep_a_request_that_is_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cancellation of a run is given up at its deadline, and what the caller does then goes on."""
    monkeypatch.setattr("aeond.facades.runs._CANCEL_SECONDS", 0.2)
    daemon, runs = ScriptedDaemon(tmp_path / "d.sock"), SilentRuns()  # type: ignore[abstract]  # the rest answers UNIMPLEMENTED
    daemon.runs = runs
    with anyio.fail_after(30):
        async with daemon, AsyncClient(str(daemon.path)) as client:
            await cancel(client, "01990000-0000-7000-8000-000000000001", "the client went away")
    assert runs.asked.is_set()
