"""Decisions about approvals."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from aeond.domain.plans.approvals import ApprovalAnswer, ApprovalRequest, ApprovalScope
from aeond.domain.policy import Verdict
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.run import Caller, Owner, RunState
from aeond.domain.tools import Effect
from aeond.errors import InvalidInputError, WrongStateError
from tests.support.asking_policy import AskingPolicy
from tests.support.doubles import ScriptedTool
from tests.support.service_world import CALLER, ONE_STEP, World, asking


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A daemon whose only tool needs approval."""
    tools = {"work": ScriptedTool("work", effect=Effect.EXEC_HOST)}
    made = World(tmp_path, tools=tools, policy=AskingPolicy({"work": Verdict.ASK}))
    async with made.working():
        yield made


async def waiting(world: World) -> tuple[str, ApprovalRequest]:
    """A run that waits for an approval."""
    run_id = (await world.runs.create(asking(), ONE_STEP, BudgetRequest())).run_id
    run = await world.reached(run_id, RunState.AWAITING_INPUT)
    return run_id, run.approvals[0]


async def test_another_digest_is_refused(world: World) -> None:
    """A decision about something else than what is shown is refused with a reason, and the approval stays open."""
    run_id, approval = await waiting(world)
    with pytest.raises(InvalidInputError) as caught:
        await world.runs.decide_approval(run_id, ApprovalAnswer(approval.approval_id, "0" * 64, True), CALLER)
    assert (caught.value.reason, caught.value.field) == ("DIGEST_MISMATCH", "approval.digest")
    assert (await world.runs.get(run_id, CALLER)).approvals == (approval,)


async def test_a_scope_that_is_not_offered_is_refused(world: World) -> None:
    """A call that touches no folder cannot be allowed for one."""
    run_id, approval = await waiting(world)
    answer = ApprovalAnswer(approval.approval_id, approval.digest, True, ApprovalScope.FOLDER)
    with pytest.raises(InvalidInputError) as caught:
        await world.runs.decide_approval(run_id, answer, CALLER)
    assert caught.value.reason == "SCOPE_NOT_OFFERED"


async def test_an_approval_that_is_not_open_is_refused(world: World) -> None:
    """A decision about an approval that never was is refused with a stable reason."""
    run_id, approval = await waiting(world)
    with pytest.raises(WrongStateError) as caught:
        await world.runs.decide_approval(run_id, ApprovalAnswer("s9.1", approval.digest, True), CALLER)
    assert caught.value.reason == "NOTHING_TO_DECIDE"


@pytest.mark.parametrize("first", [True, False])
async def test_of_two_clients_at_once_one_decides(world: World, first: bool) -> None:
    """Of eight decisions at once, equal or different, exactly one counts, and the others are rejected with a reason."""
    run_id, approval = await waiting(world)
    counted: list[bool] = []
    refused: list[str] = []

    async def decide(number: int) -> None:
        approved = first if number % 2 else not first
        answer = ApprovalAnswer(approval.approval_id, approval.digest, approved)
        try:
            await world.runs.decide_approval(run_id, answer, Caller(Owner(1000, number)))
        except WrongStateError as error:
            refused.append(error.reason)
        else:
            counted.append(approved)

    async with anyio.create_task_group() as clients:
        for number in range(8):
            clients.start_soon(decide, number)
    await world.ended(run_id)
    assert (len(counted), refused) == (1, ["NOTHING_TO_DECIDE"] * 7)
    assert len(world.tools["work"].calls) == counted[0]
