"""Approvals on the wire."""

import grpc
import pytest

from aeond.api.v1 import parts_pb2, runs_pb2
from aeond.domain.plans.approvals import ApprovalRequest, CallPreview
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.events import (
    ApprovalDecided,
    ApprovalRequested,
    PassStarted,
    PlanAdopted,
    RunStarted,
    StepStarted,
)
from aeond.domain.runs.run import Owner, PlanSource
from aeond.domain.tools import Recovery, ToolCall
from aeond_client.calls.reading import event, read
from aeond_client.events import ApprovalDecided as ClientDecided
from aeond_client.records.judgements import ApprovalRequest as ShownApproval
from tests.support.api_world import ApiWorld, Stubs, client, refused, world

__all__ = ["client", "world"]

STEP = PlanStep("s1", "write it", ToolCall("write_file", {"path": "a.txt", "content": "hello"}))
APPROVAL = ApprovalRequest(
    "s1.1",
    ("s1",),
    (ToolCall("write_file", {"path": "a.txt", "content": "hello"}),),
    ("d1",),
    "d" * 64,
    "no rule matches",
    (CallPreview(diff="+hello\n", target="/home/a.txt"),),
    ("k1",),
    ("/home",),
    requested_time=1.0,
    expire_seconds=60.0,
)


async def waiting(world: ApiWorld, client: Stubs) -> str:
    """A run that waits for approval."""
    hello = runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="hello", unattended=True))
    run_id = (await client.runs.CreateRun(hello)).run.run_id
    for kind in (
        RunStarted(),
        PlanAdopted(Plan("write", (STEP,)), PlanSource.CLIENT),
        PassStarted(1),
        StepStarted(STEP, 1, StepMode.TOOL, Recovery.RECONCILE, Amounts(ttl=1)),
        ApprovalRequested("s1", APPROVAL),
    ):
        world.behind.runs.happen(run_id, kind)
    return str(run_id)


def decision(run_id: str, **fields: object) -> runs_pb2.DecideRunRequest:
    approval = {"approval_id": "s1.1", "digest": APPROVAL.digest, "approved": True, **fields}
    return runs_pb2.DecideRunRequest(run_id=run_id, approval=runs_pb2.ApprovalDecision(**approval))  # type: ignore[arg-type]  # a test gives the right ones


async def test_everything_that_is_decided_about_is_shown(world: ApiWorld, client: Stubs) -> None:
    """GetRun has the calls with their arguments, their previews, the digest, the scopes and the deadline."""
    run = (await client.runs.GetRun(runs_pb2.GetRunRequest(run_id=await waiting(world, client)))).run
    assert (run.state, run.request.unattended) == (parts_pb2.RUN_STATE_AWAITING_INPUT, True)
    (approval,) = run.approvals
    assert approval.calls[0].arguments_json == '{"path":"a.txt","content":"hello"}'
    assert (approval.previews[0].diff, approval.previews[0].target) == ("+hello\n", "/home/a.txt")
    assert (approval.digest, approval.expire_time.seconds) == (APPROVAL.digest, 61)
    record = read(ShownApproval, approval)
    assert record.scopes == ("once", "run", "folder")
    assert record.calls[0].arguments == {"path": "a.txt", "content": "hello"}


async def test_the_first_decision_counts(world: ApiWorld, client: Stubs) -> None:
    """A decision comes back as the run after it; the next one is FAILED_PRECONDITION with a stable reason."""
    run_id = await waiting(world, client)
    run = (await client.runs.DecideRun(decision(run_id, scope=parts_pb2.APPROVAL_SCOPE_FOLDER))).run
    assert not run.approvals
    async with refused(grpc.StatusCode.FAILED_PRECONDITION, "NOTHING_TO_DECIDE"):
        await client.runs.DecideRun(decision(run_id, approved=False))


@pytest.mark.parametrize(
    ("fields", "reason", "field"),
    [
        ({"digest": "0" * 64}, "DIGEST_MISMATCH", "approval.digest"),
        ({"digest": ""}, "EMPTY", "approval.digest"),
        ({"approval_id": ""}, "EMPTY", "approval.approval_id"),
        ({"scope": 99}, "UNKNOWN_VALUE", "approval.scope"),
    ],
)
async def test_a_decision_that_does_not_fit_is_an_invalid_argument(
    world: ApiWorld, client: Stubs, fields: dict[str, object], reason: str, field: str
) -> None:
    """Another digest, none, or an unknown scope: the problem is named and the approval stays open."""
    run_id = await waiting(world, client)
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, reason, field):
        await client.runs.DecideRun(decision(run_id, **fields))
    assert len(world.behind.runs.snapshots[run_id].approvals) == 1


@pytest.mark.parametrize("expired", [True, False])
async def test_who_decided_is_in_the_stream(world: ApiWorld, client: Stubs, expired: bool) -> None:
    """The event names the user; one that timed out has none."""
    run_id = await waiting(world, client)
    owner = Owner() if expired else Owner(1000, 5)
    kind = ApprovalDecided("s1.1", False, owner, APPROVAL.digest, expired=expired)
    world.behind.runs.happen(run_id, kind)
    stream = client.runs.WatchRun(runs_pb2.WatchRunRequest(run_id=run_id, after_seq=6))
    decided = event((await anext(aiter(stream))).events[0])
    assert isinstance(decided.kind, ClientDecided)
    assert (decided.kind.approved, decided.kind.expired, decided.kind.uid) == (
        False,
        expired,
        -1 if expired else 1000,
    )
