"""The journaling loop with an in-memory journal and scripted tools."""

from collections.abc import Sequence

import anyio
import pytest

from aeond.domain.plans.plan import StepState
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.run import Owner, Resolution, RunState, SuspendReason
from aeond.domain.tools import Effect, RecordedEffect, ToolCall, ToolContext, ToolOutput
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import OverloadedError, StoreError, WrongStateError
from aeond.kernel.orchestrator import INBOX_SIZE
from tests.support.doubles import FixedPlanner, ManualClock, PlainAnswerer, ScriptedTool
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.run_host import CHAIN, DEADLINE_SECONDS, FailingJournal, Gate, Host, plan, step


async def test_a_request_becomes_an_answer() -> None:
    """A request is planned, its steps run, and the answer rests on their outputs."""
    host = Host(plan=CHAIN)
    await host.create()
    run = await host.work()
    assert run.state is RunState.SUCCEEDED
    assert run.answer is not None
    assert run.answer.step_ids == ("s1", "s2", "s3")
    assert host.feed.text() == run.answer.text


async def test_published_events_are_the_journaled_ones() -> None:
    """Watchers are shown exactly the events that the journal holds, in order."""
    host = Host(plan=CHAIN)
    await host.create()
    await host.work()
    assert host.feed.events == (await host.events())[1:]


async def test_a_chain_costs_one_append_a_step() -> None:
    """The end of a step and the intent of the next one are in one append."""
    appends: list[list[str]] = []

    class CountingJournal(InMemoryJournal):
        async def append(self, events: Sequence[e.Event]) -> None:
            appends.append([type(event.kind).__name__ for event in events])
            await super().append(events)

    host = Host(journal=CountingJournal())
    await host.create(CHAIN)
    await host.work()
    assert appends == [
        ["RunCreated"],
        ["RunStarted", "PassStarted", "StepStarted"],
        ["StepEnded", "StepStarted"],
        ["StepEnded", "StepStarted"],
        ["StepEnded", "PassEnded", "AnswerStarted"],
        ["AnswerComposed", "RunEnded"],
    ]


async def test_the_answer_has_the_effects_that_the_tools_reported() -> None:
    """Changes that a tool reports are recorded with its step and with the answer."""
    effect = RecordedEffect("file.created", "a.txt", "12 bytes")

    async def create(_: JsonObject, __: ToolContext) -> ToolOutput[JsonValue]:
        return ToolOutput({"path": "a.txt"}, (effect,))

    host = Host(tools={"echo": ScriptedTool("echo", create, Effect.WRITE_CONTAINED)})
    await host.create(plan(step("s1")))
    run = await host.work()
    assert run.answer is not None
    assert run.answer.effects == (effect,)
    kinds = [event.kind for event in await host.events()]
    (step_ended,) = [kind for kind in kinds if isinstance(kind, e.StepEnded)]
    (composed,) = [kind for kind in kinds if isinstance(kind, e.AnswerComposed)]
    assert (step_ended.output, step_ended.effects) == ({"path": "a.txt"}, (effect,))
    assert composed.answer == run.answer


async def test_an_intent_is_durable_before_the_tool_runs() -> None:
    """When a tool begins, the journal already holds its StepStarted with the arguments."""
    host = Host()
    seen: list[e.EventKind] = []

    async def look(_: JsonObject, __: ToolContext) -> JsonValue:
        seen.append((await host.events())[-1].kind)
        return {}

    host.tools["echo"] = ScriptedTool("echo", look)
    await host.create(plan(step("s1")))
    await host.work()
    assert isinstance(seen[0], e.StepStarted)
    assert seen[0].step.tool_call == ToolCall("echo", {"value": "s1"})


async def test_independent_steps_overlap() -> None:
    """Two ready steps are both under way before either ends."""
    first, second = Gate(), Gate()
    host = Host(
        tools={"a": ScriptedTool("a", first.pass_through), "b": ScriptedTool("b", second.pass_through)}
    )
    await host.create(plan(step("s1", tool="a"), step("s2", tool="b")))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await first.entered.wait()
            await second.entered.wait()
            first.open.set()
            second.open.set()
    assert loop.snapshot.state is RunState.SUCCEEDED


async def test_a_cancelled_run_cuts_its_step_and_ends() -> None:
    """Cancelling interrupts a harmless step at once and the run ends CANCELLED."""
    gate = Gate()
    host = Host(tools={"echo": ScriptedTool("echo", gate.pass_through)})
    await host.create(CHAIN)
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await gate.entered.wait()
            loop.deliver(e.CancelRequested(Owner(1000, 1)))
    assert loop.snapshot.state is RunState.CANCELLED
    assert {s.state for s in loop.snapshot.steps.values()} == {StepState.SKIPPED}


async def test_a_cancelled_run_lets_an_effect_end() -> None:
    """A step with effects is not interrupted by cancelling: its outcome is recorded and then the run ends."""
    gate = Gate()
    host = Host(tools={"echo": ScriptedTool("echo", gate.pass_through, Effect.NET)})
    await host.create(plan(step("s1"), step("s2", "s1")))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await gate.entered.wait()
            loop.deliver(e.CancelRequested(Owner()))
            gate.open.set()
    assert loop.snapshot.state is RunState.CANCELLED
    assert [s.state for s in loop.snapshot.steps.values()] == [StepState.SUCCEEDED, StepState.SKIPPED]


async def test_cancelling_twice_is_refused() -> None:
    """A second cancellation of a run is rejected because its state does not admit it."""
    host = Host()
    await host.create(CHAIN)
    run = await host.work(e.CancelRequested(Owner()))
    assert run.state is RunState.CANCELLED
    with pytest.raises(WrongStateError):
        (await host.loop()).deliver(e.CancelRequested(Owner()))


async def test_planning_can_be_cut() -> None:
    """A run that is cancelled while it is planned ends without a plan."""
    planner = FixedPlanner(CHAIN, gate=anyio.Event())
    host = Host(planner=planner)
    await host.create()
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await planner.started.wait()
            loop.deliver(e.CancelRequested(Owner()))
    assert loop.snapshot.state is RunState.CANCELLED
    assert loop.snapshot.plan is None
    assert loop.snapshot.ledger.used == planner.price


async def test_time_runs_out_in_the_middle_of_a_step() -> None:
    """When the wall time is over, a harmless step is cut and the run expires with an answer."""
    gate = Gate()
    host = Host(tools={"echo": ScriptedTool("echo", gate.pass_through)})
    await host.create(CHAIN, Budget(wall_seconds=60.0))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await gate.entered.wait()
            host.clock.advance(61.0)
    run = loop.snapshot
    assert (run.state, run.exhausted) == (RunState.EXPIRED, "wall_seconds")
    assert run.answer is not None
    assert run.answer.budget_exhausted


async def test_no_time_is_no_time() -> None:
    """A run that may take no time at all executes no step, even one that would be over at once, and expires."""
    host = Host()
    await host.create(plan(step("s1")), Budget(wall_seconds=0.0))
    run = await host.work()
    assert (run.state, run.exhausted) == (RunState.EXPIRED, "wall_seconds")
    assert run.steps["s1"].state is StepState.SKIPPED


async def test_time_runs_out_while_the_answer_is_written() -> None:
    """An answer that takes too long is replaced by the one that needs no model."""
    answerer = PlainAnswerer(gate=anyio.Event())
    host = Host(plan=plan(step("s1")), answerer=answerer)
    await host.create(budget=Budget(wall_seconds=60.0))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await answerer.started.wait()
            host.clock.advance(61.0)
    assert loop.snapshot.state is RunState.EXPIRED
    assert loop.snapshot.answer is not None


async def test_a_jump_of_the_wall_clock_moves_no_deadline() -> None:
    """The time that a run may take is counted by the monotonic clock alone."""

    class JumpingClock(ManualClock):
        def time(self) -> float:
            return self.now + 86_400.0

    host = Host(plan=CHAIN, clock=JumpingClock())
    await host.create(budget=Budget(wall_seconds=60.0))
    assert (await host.work()).state is RunState.SUCCEEDED


async def test_working_time_adds_up_over_restarts() -> None:
    """A resumed run has only the time left that it did not use before."""
    gate = Gate()
    host = Host(tools={"echo": ScriptedTool("echo", gate.pass_through)})
    await host.create(CHAIN, Budget(wall_seconds=60.0))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await gate.entered.wait()
            host.clock.advance(40.0)
            loop.park()
    assert loop.snapshot.elapsed_seconds == 40.0
    again = Gate()
    host.tools["echo"] = ScriptedTool("echo", again.pass_through)
    second = await host.loop()
    second.deliver(e.RunResumed())
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(second.execute)
            await again.entered.wait()
            host.clock.advance(21.0)
    assert second.snapshot.exhausted == "wall_seconds"


async def test_parking_leaves_a_run_that_resumes() -> None:
    """A parked run journals RunParked, and goes on where it was without a crash counted."""
    gate = Gate()
    host = Host(tools={"echo": ScriptedTool("echo"), "slow": ScriptedTool("slow", gate.pass_through)})
    await host.create(plan(step("s1"), step("s2", "s1", tool="slow")))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await gate.entered.wait()
            loop.park()
    assert loop.snapshot.parked
    gate.open.set()
    run = await host.work(e.RunResumed())
    assert (run.state, run.crashes) == (RunState.SUCCEEDED, 0)
    assert len(host.tools["echo"].calls) == 1


async def test_parking_waits_for_effects() -> None:
    """A step with effects that is under way ends, and is recorded, before the run is parked."""
    gate = Gate()
    host = Host(tools={"echo": ScriptedTool("echo", gate.pass_through, Effect.EXEC_HOST)})
    await host.create(plan(step("s1"), step("s2", "s1")))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await gate.entered.wait()
            loop.park()
            gate.open.set()
    kinds = [type(event.kind).__name__ for event in await host.events()]
    assert kinds[-2:] == ["StepEnded", "RunParked"]


@pytest.mark.parametrize("appends", range(1, 7))
async def test_a_journal_that_fails_at_any_append_loses_nothing(appends: int) -> None:
    """A loop whose journal breaks stops with StoreError, and a new one reaches the same end."""
    journal = FailingJournal(appends, "JOURNAL_FAILED")
    host = Host(plan=CHAIN, journal=journal)
    await host.create()
    with pytest.raises(StoreError):
        await host.work()
    journal.left = 1_000
    run = await host.work(e.RunResumed())
    assert run.state is RunState.SUCCEEDED
    assert [s.output for s in run.steps.values()] == [{"value": s} for s in ("s1", "s2", "s3")]


async def test_a_full_disk_suspends_the_run_until_there_is_room() -> None:
    """When the disk is full the run's last event says so, and it goes on once there is room."""
    journal = FailingJournal(3, "DISK_FULL")
    host = Host(plan=CHAIN, journal=journal)
    await host.create()
    run = await host.work()
    assert (run.state, run.suspend_reason) == (RunState.SUSPENDED, SuspendReason.DISK_FULL)
    journal.left = 1_000
    assert (await host.work(e.RunResumed())).state is RunState.SUCCEEDED


async def test_an_unknown_effect_waits_for_a_person() -> None:
    """A crash inside a step with effects suspends the run, and a person's word lets it go on."""
    gate = Gate()
    host = Host(tools={"echo": ScriptedTool("echo", gate.pass_through, Effect.NET)})
    await host.create(plan(step("s1")))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await gate.entered.wait()
            group.cancel_scope.cancel()  # as a crash would leave it: an intent without an outcome
    run = await host.work(e.RunResumed())
    assert (run.state, run.suspend_reason) == (RunState.SUSPENDED, SuspendReason.UNKNOWN_STEP)
    assert len(host.tools["echo"].calls) == 1
    run = await host.work(e.StepResolved(Resolution.DONE, Owner(), "s1"))
    assert run.state is RunState.SUCCEEDED
    assert len(host.tools["echo"].calls) == 1


async def test_an_idempotent_step_is_reconciled_after_a_crash() -> None:
    """A cut idempotent call is not made again when its tool knows that it was done."""
    gate = Gate()
    tool = ScriptedTool("echo", gate.pass_through, Effect.WRITE_CONTAINED, idempotent=True)
    host = Host(tools={"echo": tool})
    await host.create(plan(step("s1")))
    loop = await host.loop()
    with anyio.fail_after(DEADLINE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(loop.execute)
            await gate.entered.wait()
            group.cancel_scope.cancel()
    tool.done_before = {"found": True}
    run = await host.work(e.RunResumed())
    assert run.steps["s1"].output == {"found": True}
    assert len(tool.calls) == 1


async def test_a_run_does_not_queue_without_bound() -> None:
    """More requests than a run's inbox holds are refused as overload."""
    host = Host()
    await host.create(CHAIN)
    loop = await host.loop()
    for _ in range(INBOX_SIZE):
        loop.deliver(e.CancelRequested(Owner()))
    with pytest.raises(OverloadedError):
        loop.deliver(e.CancelRequested(Owner()))
    with anyio.fail_after(DEADLINE_SECONDS):
        assert (await loop.execute()).state is RunState.CANCELLED


async def test_nothing_can_be_handed_to_a_loop_that_has_ended() -> None:
    """A loop that returned refuses what comes later instead of losing it."""
    host = Host(plan=CHAIN)
    await host.create()
    loop = await host.loop()
    await loop.execute()
    with pytest.raises(WrongStateError):
        loop.deliver(e.CancelRequested(Owner()))
