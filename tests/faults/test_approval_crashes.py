"""A crash at every point around an approval, and the following start."""

from pathlib import Path

import anyio
import pytest

from aeond.domain.plans.approvals import ApprovalAnswer
from aeond.domain.policy import Verdict
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import ApprovalDecided, ApprovalRequested, StepEnded, StepStarted
from aeond.domain.runs.run import RunSnapshot, RunState
from aeond.domain.tools import Effect, ToolContext
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import AeondError, StoreError
from tests.support.asking_policy import AskingPolicy
from tests.support.doubles import ScriptedTool
from tests.support.journals import all_events, journal_in
from tests.support.mortal_journal import Moment, MortalJournal
from tests.support.service_world import CALLER, ONE_STEP, World, asking

# For each point: the state in which the next daemon has the run before anybody decides, by the class of the tool: one
# that may be made again, and one that may happen only once. W: it waits for the approval. U: an intent has no outcome,
# and the journal cannot tell whether a call with effects was allowed and made. D: it was decided, and is done.
POINTS: dict[Moment | str, tuple[str, str]] = {
    Moment("before", StepStarted): ("W", "W"),
    Moment("after", StepStarted): ("W", "U"),
    Moment("before", ApprovalRequested): ("W", "U"),
    Moment("after", ApprovalRequested): ("W", "W"),
    "while it waits": ("W", "W"),
    Moment("before", ApprovalDecided): ("W", "W"),
    Moment("after", ApprovalDecided): ("D", "U"),  # the intent of the step is in that append
    "before the effect": ("D", "U"),
    "after the effect": ("D", "U"),
    Moment("before", StepEnded): ("D", "U"),
    Moment("after", StepEnded): ("D", "D"),
}
CLASSES = {"idempotent": (Effect.WRITE_CONTAINED, True), "at most once": (Effect.EXEC_HOST, False)}


class Effects:
    """A tool whose effects outlive the daemon: each with whether the journal had the approval by then."""

    def __init__(self, name: str, journal: MortalJournal, point: Moment | str) -> None:
        effect, idempotent = CLASSES[name]
        self.journal, self.point = journal, point
        self.approved: list[bool] = []
        self.tool = ScriptedTool("work", self.act, effect, idempotent)

    async def act(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        await self.die_at("before the effect")
        events = await all_events(self.journal, context.run_id)
        self.approved.append(any(isinstance(event.kind, ApprovalDecided) for event in events))
        self.tool.done_before = {"done": True}
        await self.die_at("after the effect")
        return {"done": True}

    async def die_at(self, point: str) -> None:
        if self.point == point and not self.journal.died.is_set():
            self.journal.die()
            await anyio.sleep_forever()


async def allow(world: World, run: RunSnapshot) -> None:
    approval = run.approvals[0]
    await world.runs.decide_approval(
        run.run_id, ApprovalAnswer(approval.approval_id, approval.digest, True), CALLER
    )


async def until_death(world: World, effects: Effects) -> None:
    """Creates a run and allows its call, until the process dies."""
    created = await world.runs.create(asking(), ONE_STEP, BudgetRequest())
    run = await world.reached(created.run_id, RunState.AWAITING_INPUT)
    if effects.point == "while it waits":
        effects.journal.die()
    await allow(world, run)
    await effects.journal.died.wait()
    raise StoreError("the process is gone")


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("point", POINTS, ids=str)
async def test_no_effect_without_a_journaled_approval(tmp_path: Path, point: Moment | str, name: str) -> None:
    """Wherever the daemon dies, the effect happens at most once and never before the journal has the approval; the
    next daemon waits for it as before, carries on with what was decided, or says that it cannot know."""
    expected = POINTS[point][list(CLASSES).index(name)]
    policy = AskingPolicy({"work": Verdict.ASK})
    async with journal_in(tmp_path) as journal:
        mortal = MortalJournal(journal, point if isinstance(point, Moment) else None)
        effects = Effects(name, mortal, point)
        tools = {"work": effects.tool}
        world = World(tmp_path, journal=mortal, tools=tools, policy=policy)
        with anyio.fail_after(60), pytest.raises((ExceptionGroup, AeondError)) as raised:
            async with world.working(), anyio.create_task_group() as client:
                client.start_soon(until_death, world, effects)
                await mortal.died.wait()
                client.cancel_scope.cancel()
                raise StoreError("the process is gone")
        assert mortal.died.is_set(), raised.value
        effects.journal = mortal = MortalJournal(journal)
        effects.point = ""
        next_world = World(tmp_path, journal=mortal, tools=tools, policy=policy, ids=world.ids)
        ends = (RunState.AWAITING_INPUT, RunState.SUSPENDED, RunState.SUCCEEDED)
        async with next_world.working():
            (line,) = await journal.list_runs()
            with anyio.fail_after(60):
                run = await next_world.reached(line.run_id, *ends)
                found = {RunState.AWAITING_INPUT: "W", RunState.SUSPENDED: "U", RunState.SUCCEEDED: "D"}[
                    run.state
                ]
                events = [type(event.kind).__name__ for event in await all_events(journal, line.run_id)]
                assert found == expected, events
                if found == "W":
                    assert effects.approved == []
                    await allow(next_world, run)
                    run = await next_world.ended(run.run_id)
                    assert run.state is RunState.SUCCEEDED
    assert all(effects.approved)
    assert len(effects.approved) == (
        point in ("after the effect", Moment("before", StepEnded)) if found == "U" else 1
    )
