"""A turn of an editor whose run waits for a person."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from acp.schema import DeniedOutcome, RequestPermissionResponse

from aeon_cli.editor.turn import Turn
from aeon_cli.editor.updates import RunUpdates
from aeond_client.events import (
    AnswerComposed,
    ApprovalRequested,
    Event,
    EventKind,
    RunEnded,
    RunResumed,
    RunSuspended,
)
from aeond_client.records.judgements import ApprovalRequest
from aeond_client.records.runs import Answer, Run, RunState
from aeond_client.records.tools import ToolCall

MESSAGE = "the disk is full: free some space"


class Suspended:
    """A client and an editor for one suspended run, which goes on to its end when a test says so."""

    def __init__(self, reason: str) -> None:
        self.run = Run("r1", RunState.SUSPENDED, "a request", suspend_reason=reason)
        self.shown = ""
        self.resumed = anyio.Event()

    async def watch(self, run_id: str, **_options: Any) -> AsyncIterator[Event]:
        yield _event(1, RunSuspended(self.run.suspend_reason, MESSAGE))
        await self.resumed.wait()
        ends: tuple[EventKind, ...] = (
            RunResumed(),
            AnswerComposed(Answer("Done.")),
            RunEnded(RunState.SUCCEEDED),
        )
        for seq, kind in enumerate(ends, start=2):
            yield _event(seq, kind)

    async def get_run(self, run_id: str) -> Run:
        return self.run

    async def session_update(self, *, session_id: str, update: Any) -> None:
        self.shown += update.content.text


class Asking:
    """A client and an editor for one run with an approval, which a cancellation ends."""

    APPROVAL = ApprovalRequest("a1", ("s1",), (ToolCall("write_file", {}),), "digest", "It writes a file.")

    def __init__(self) -> None:
        self.asked, self.answer = anyio.Event(), anyio.Event()
        self.cancelling, self.ended = anyio.Event(), anyio.Event()
        self.decided = 0

    async def watch(self, run_id: str, **_options: Any) -> AsyncIterator[Event]:
        yield _event(1, ApprovalRequested(self.APPROVAL))
        await self.ended.wait()
        yield _event(2, RunEnded(RunState.CANCELLED))

    async def get_run(self, run_id: str) -> Run:
        return Run(run_id, RunState.RUNNING, "a request", approvals=(self.APPROVAL,))

    async def cancel_run(self, run_id: str, reason: str) -> None:
        self.cancelling.set()
        await self.ended.wait()

    async def decide_approval(self, *_decision: Any) -> None:
        self.decided += 1

    async def request_permission(self, **_request: Any) -> RequestPermissionResponse:
        self.asked.set()
        await self.answer.wait()
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))


def _event(seq: int, kind: EventKind) -> Event:
    return Event("r1", seq, 0.0, 0.0, kind)


@asynccontextmanager
async def followed(world: object, folder: Path) -> AsyncIterator[tuple[Turn, list[str]]]:
    """A turn that is followed, and why it has ended, once it has."""
    client = editor = cast("Any", world)
    updates = RunUpdates("r1", folder, {})
    turn = Turn(client, editor, "s1", "r1", updates, folder=folder, patience_seconds=60.0)
    returned: list[str] = []

    async def follow() -> None:
        returned.append(await turn.follow())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(follow)
            yield turn, returned


@pytest.mark.parametrize(("reason", "waits"), [("disk_full", False), ("workspace_changed", True)])
async def test_only_a_run_that_waits_for_a_person_ends_the_turn(
    tmp_path: Path, reason: str, waits: bool
) -> None:
    """The editor shows why a run is suspended; if it continues by itself, the turn goes on to its answer."""
    world = Suspended(reason)
    async with followed(world, tmp_path) as (turn, returned):
        await anyio.wait_all_tasks_blocked()
        assert MESSAGE in world.shown
        assert bool(returned) is waits
        world.resumed.set()
    assert returned == ["end_turn"]
    assert turn.ended is not waits


async def test_what_the_editor_answers_after_a_cancellation_decides_nothing(tmp_path: Path) -> None:
    """An editor dismisses its permission request when the turn is cancelled, and that is not sent as a denial."""
    world = Asking()
    async with followed(world, tmp_path) as (turn, returned), anyio.create_task_group() as group:
        await world.asked.wait()
        group.start_soon(turn.cancel)
        await world.cancelling.wait()
        world.answer.set()
        await anyio.wait_all_tasks_blocked()
        world.ended.set()
    assert (returned, world.decided) == (["cancelled"], 0)
