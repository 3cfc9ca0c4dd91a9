"""Work items of the scheduler."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from aeond.domain.plans.approvals import ApprovalAnswer
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import ApprovalRequested, Event, PassStarted, RunCreated, RunStarted
from aeond.domain.runs.run import RunState
from aeond.domain.tools import Effect
from aeond.ports import Journal
from aeond.service.runs.run_queue import RunLimits
from tests.support.asking_policy import AskingPolicy
from tests.support.doubles import ScriptedTool
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.run_host import Gate
from tests.support.service_world import CALLER, ONE_STEP, World, asking

NO_BOUNDS = BudgetRequest()


async def test_a_run_with_a_place_begins_as_it_is_created(tmp_path: Path) -> None:
    """A run that is worked on at once is RUNNING when it is durable; one that has to wait is PENDING until its
    turn comes; neither is taken for one that a crash cut."""
    gate = Gate()
    world = World(
        tmp_path, tools={"work": ScriptedTool("work", gate.pass_through)}, limits=RunLimits(running=1)
    )
    async with world.working():
        first = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        second = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
        assert (first.state, second.state) == (RunState.RUNNING, RunState.PENDING)
        gate.open.set()
        for run_id in (first.run_id, second.run_id):
            ended = await world.ended(run_id)
            assert (ended.state, ended.crashes) == (RunState.SUCCEEDED, 0)
            kinds = [type(event.kind) for event in await world.journal.read(run_id)]
            assert kinds[:3] == [RunCreated, RunStarted, PassStarted]


class LateAnswers:
    """A journal whose answer to an append with an approval comes late: others read the events before."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.durable, self.answered = anyio.Event(), anyio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    async def append(self, events: Sequence[Event]) -> None:
        await self._journal.append(events)
        if any(isinstance(event.kind, ApprovalRequested) for event in events):
            self.durable.set()
            with anyio.move_on_after(60):  # the append is shielded
                await self.answered.wait()


async def test_a_decision_on_what_is_only_just_durable_counts(tmp_path: Path) -> None:
    """A person may decide as soon as the journal has the approval, before the run's loop knows that it has."""
    late: Any = LateAnswers(InMemoryJournal())
    tools = {"work": ScriptedTool("work", effect=Effect.WRITE_CONTAINED)}
    world = World(tmp_path, journal=late, tools=tools, policy=AskingPolicy())
    async with world.working(), anyio.create_task_group() as client:
        with anyio.fail_after(60):
            created = await world.runs.create(asking(), ONE_STEP, NO_BOUNDS)
            await late.durable.wait()
            (approval,) = (await world.runs.get(created.run_id, CALLER)).approvals
            answer = ApprovalAnswer(approval.approval_id, approval.digest, True)
            client.start_soon(world.runs.decide_approval, created.run_id, answer, CALLER)
            await anyio.wait_all_tasks_blocked()
            late.answered.set()
            assert (await world.ended(created.run_id)).state is RunState.SUCCEEDED
