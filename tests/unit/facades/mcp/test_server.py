"""The MCP server over a scripted daemon."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client as McpClient

from aeond.api.v1 import events_pb2, runs_pb2
from aeond.facades.mcp.server import CANCELLED, mcp_server
from tests.support import wire_events
from tests.support.scripted_daemon import ScriptedDaemon, ScriptedRuns


class SlowRuns(ScriptedRuns):
    """Replies to CreateRun when a test says so; the run is there before, and does not end by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.script = lambda _request: [wire_events.created(), events_pb2.RunStarted()]
        self.begun, self.reply = anyio.Event(), anyio.Event()

    async def CreateRun(self, request: runs_pb2.CreateRunRequest, context: Any) -> Any:  # noqa: N802 - the contract's name
        created = await super().CreateRun(request, context)
        self.begun.set()
        await self.reply.wait()
        return created


@pytest.mark.parametrize("waits", [True, False])
async def test_a_call_that_is_cancelled_while_its_run_is_created_cancels_it(
    tmp_path: Path, waits: bool
) -> None:
    """The run is cancelled as soon as the daemon has replied with its id, which no other client has."""
    daemon, runs = ScriptedDaemon(tmp_path / "d.sock"), SlowRuns()  # type: ignore[abstract]  # the rest answers UNIMPLEMENTED
    daemon.runs = runs
    with anyio.fail_after(60):
        async with daemon, McpClient(mcp_server(str(daemon.path)), mode="legacy") as client:
            async with anyio.create_task_group() as calls:
                calls.start_soon(client.call_tool, "ask", {"request": "Sort my notes", "wait": waits})
                await runs.begun.wait()
                calls.cancel_scope.cancel()
            await anyio.wait_all_tasks_blocked()
            runs.reply.set()
            (run,) = runs.runs.values()
            while not run.ended:
                await run.changed.wait()
    (asked,) = [item.cancel_requested for item in run.items if item.HasField("cancel_requested")]
    assert asked.reason == CANCELLED


@pytest.mark.parametrize("cancelled", [True, False])
async def test_a_daemon_that_does_not_reply_ends_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cancelled: bool
) -> None:
    """A call of `ask` whose run the daemon does not confirm ends with TIMED_OUT, also if the client cancels it: it cannot keep the
    server from ending."""
    monkeypatch.setattr("aeond.facades.mcp.server.CREATE_SECONDS", 0.2)
    daemon, runs = ScriptedDaemon(tmp_path / "d.sock"), SlowRuns()  # type: ignore[abstract]  # the rest answers UNIMPLEMENTED
    daemon.runs = runs
    results: list[Any] = []
    with anyio.fail_after(30):
        async with daemon:
            async with McpClient(mcp_server(str(daemon.path)), mode="legacy") as client:

                async def ask() -> None:
                    results.append(await client.call_tool("ask", {"request": "Sort my notes"}))

                async with anyio.create_task_group() as calls:
                    calls.start_soon(ask)
                    await runs.begun.wait()
                    if cancelled:
                        calls.cancel_scope.cancel()
            runs.reply.set()
    assert len(results) == (0 if cancelled else 1)
    for result in results:
        assert result.is_error
        assert result.structured_content["reason"] == "TIMED_OUT"
        assert "within 0.2 s" in result.content[0].text
