"""The guards of the invoker beyond its contract: leave, slots, time, and whose cancellation it is."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import tool
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.domain.tools import CALL_CUT, Effect, ToolCall, ToolContext, ToolResult, Workspace
from aeond.domain.values import JsonObject
from aeond.errors import ToolError
from aeond.ports import Tool
from aeond.ports.policy import Decided
from aeond.user_rights import UserRights
from tests.support.authorisers import AllowAll
from tests.support.doubles import ManualClock
from tests.support.tools import CONTEXT, FreeTool, RefuseAll, call, hang, invoker_of


class Words(BaseModel):
    text: str


def registry_of(*tools: Tool) -> Registry:
    registry = Registry()
    for each in tools:
        registry.register(each)
    return registry


async def test_refused_call_does_not_run() -> None:
    """A call that the authoriser refuses fails with the authoriser's reason and words."""
    ran: list[object] = []

    async def note(arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        ran.append(arguments)
        return arguments

    authoriser = RefuseAll()
    invoker = GuardedInvoker(registry_of(FreeTool(work=note)), ManualClock(), authoriser)
    result = await invoker.invoke(call(), CONTEXT)
    assert (result.success, result.reason, result.error) == (False, "POLICY_DENIED", "the policy says no")
    assert ran == []
    assert authoriser.asked == [call()]


async def test_authoriser_sees_only_well_formed_calls() -> None:
    """Calls with bad arguments or of unknown tools fail before the authoriser is asked."""
    authoriser = RefuseAll()
    invoker = GuardedInvoker(registry_of(FreeTool()), ManualClock(), authoriser)
    await invoker.invoke(ToolCall("give_back", {"bad": 1}), CONTEXT)
    await invoker.invoke(ToolCall("nothing"), CONTEXT)
    assert authoriser.asked == []


@dataclass
class HoldingTool(FreeTool):
    """Says of its calls that they are held, that they are not, or that they are lost."""

    held: bool = True
    lost: bool = False

    def holds(self, arguments: JsonObject, context: ToolContext) -> bool:
        if self.lost:
            raise ToolError("the call is lost", reason=CALL_CUT)
        return self.held


@pytest.mark.parametrize("tool", [FreeTool(), HoldingTool(held=False)], ids=["cannot hold", "does not hold"])
async def test_an_answer_is_no_permission(tool: Tool) -> None:
    """A call with a person's answer is decided about like any other, unless the tool holds the call that asked."""
    authoriser = RefuseAll()
    invoker = GuardedInvoker(registry_of(tool), ManualClock(), authoriser)
    result = await invoker.invoke(call(), replace(CONTEXT, answer="red"))
    assert (result.reason, authoriser.asked) == ("POLICY_DENIED", [call()])


async def test_a_held_call_is_not_decided_about_again() -> None:
    """A call that was authorised when it began continues without a second decision."""
    authoriser = RefuseAll()
    invoker = GuardedInvoker(registry_of(HoldingTool()), ManualClock(), authoriser)
    result = await invoker.invoke(call(), replace(CONTEXT, answer="red"))
    assert (result.data, authoriser.asked) == ({"text": "hello"}, [])


async def test_a_lost_call_is_neither_decided_about_nor_made() -> None:
    """An answer to a call that its tool has lost leaves an unknown outcome, and no person is asked for approval."""
    authoriser = RefuseAll()
    invoker = GuardedInvoker(registry_of(HoldingTool(work=hang, lost=True)), ManualClock(), authoriser)
    result = await invoker.invoke(call(), replace(CONTEXT, answer="red"))
    assert (result.reason, authoriser.asked) == (CALL_CUT, [])


async def test_broken_authoriser_fails_closed() -> None:
    """When the authoriser itself breaks, the call fails and the tool does not run."""

    class Broken:
        async def authorise(
            self, call: ToolCall, context: ToolContext, decided: Decided
        ) -> ToolResult | None:
            raise LookupError("no policy")

    invoker = GuardedInvoker(registry_of(FreeTool()), ManualClock(), Broken())
    result = await invoker.invoke(call(), CONTEXT)
    assert (result.success, result.data) == (False, None)
    assert "no policy" in result.error


async def test_duration_is_the_clocks() -> None:
    """The reported duration is the clock's, also for calls that fail."""
    clock = ManualClock()

    async def work(arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        clock.advance(2.5)
        return arguments if arguments["text"] == "good" else None

    invoker = GuardedInvoker(registry_of(FreeTool(work=work)), clock, RefuseNothing())
    for text in ("good", "bad"):
        result = await invoker.invoke(call(text=text), CONTEXT)
        assert result.metadata["duration_seconds"] == 2.5


class RefuseNothing:
    async def authorise(self, call: ToolCall, context: ToolContext, decided: Decided) -> ToolResult | None:
        return None


class Gate:
    """A tool body that counts who is inside and waits to be opened."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.full = anyio.Event()
        self.open = anyio.Event()

    async def enter(self, arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == 3:
            self.full.set()
        await self.open.wait()
        self.inside -= 1
        return arguments


async def test_calls_in_parallel_are_bounded() -> None:
    """Never more calls run than there are slots, and all of the waiting ones get their turn."""
    gate = Gate()
    invoker = invoker_of(FreeTool(work=gate.enter), max_parallel=3)
    results: list[bool] = []

    async def run() -> None:
        results.append((await invoker.invoke(call(), CONTEXT)).success)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(run)
            await gate.full.wait()
            gate.open.set()
    assert results == [True] * 10
    assert gate.most == 3


async def test_waiting_calls_are_bounded_in_number() -> None:
    """A call that finds the queue full fails at once as TOOLS_BUSY and says that it may be tried again."""
    gate = Gate()
    invoker = invoker_of(FreeTool(work=gate.enter), max_parallel=3, max_waiting=0)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(invoker.invoke, call(), CONTEXT)
            await gate.full.wait()
            result = await invoker.invoke(call(), CONTEXT)
            gate.open.set()
    assert (result.reason, result.metadata["retryable"]) == ("TOOLS_BUSY", True)
    assert (await invoker.invoke(call(), CONTEXT)).success


async def test_waiting_calls_are_bounded_in_time() -> None:
    """A call that gets no slot in time fails as TOOLS_BUSY."""
    gate = Gate()
    invoker = invoker_of(FreeTool(work=gate.enter), max_parallel=3, max_wait_seconds=0.02)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(invoker.invoke, call(), CONTEXT)
            await gate.full.wait()
            result = await invoker.invoke(call(), CONTEXT)
            gate.open.set()
    assert result.reason == "TOOLS_BUSY"


async def test_one_user_leaves_slots_for_others() -> None:
    """A user whose calls hold or wait for as many slots as one user may have delays the calls of no other user."""
    gate = Gate()
    invoker = invoker_of(
        FreeTool(work=gate.enter), FreeTool("good"), max_parallel_per_user=3, max_waiting_per_user=1
    )
    flood, other = replace(CONTEXT, uid=1), replace(CONTEXT, uid=2)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(invoker.invoke, call(), flood)
            await gate.full.wait()
            await anyio.wait_all_tasks_blocked()
            assert (await invoker.invoke(call(), flood)).reason == "TOOLS_BUSY"
            assert (await invoker.invoke(call("good", text="hello"), other)).success
            assert gate.inside == 3
            gate.open.set()


async def test_slots_come_back_after_failures() -> None:
    """Calls that time out or are cancelled give their slot back."""
    invoker = invoker_of(FreeTool(work=hang, timeout_seconds=0.01), FreeTool("good"), max_parallel=1)
    for _ in range(3):
        assert (await invoker.invoke(call(), CONTEXT)).reason == "TOOL_TIMEOUT"
        with anyio.move_on_after(0.001):
            await invoker.invoke(call(), CONTEXT)
    assert (await invoker.invoke(call("good", text="hello"), CONTEXT)).success


async def test_stray_cancellation_is_a_failure_of_the_tool() -> None:
    """A tool that awaits what others cancelled fails as TOOL_RAISED and does not end its caller."""

    async def await_the_cancelled(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    result = await invoker_of(FreeTool(work=await_the_cancelled)).invoke(call(), CONTEXT)
    assert (result.success, result.reason) == (False, "TOOL_RAISED")
    assert "CancelledError" in result.error


async def test_native_cancellation_passes_through() -> None:
    """Cancelling the task itself, as gRPC does when a client goes away, is not taken for a failed tool."""
    started = anyio.Event()
    results: list[object] = []
    tasks: list[asyncio.Task[Any]] = []

    async def wait(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        started.set()
        await anyio.sleep_forever()

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        results.append(await invoker_of(FreeTool(work=wait)).invoke(call(), CONTEXT))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await started.wait()
            tasks[0].cancel()
    assert results == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
async def test_end_of_the_program_passes_through(error: type[BaseException]) -> None:
    """An exception that ends the program or the coroutine is not turned into a result."""

    async def stop(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        raise error

    with pytest.raises(error):
        await invoker_of(FreeTool(work=stop)).invoke(call(), CONTEXT)


async def test_synchronous_execute_is_a_failure_of_the_tool() -> None:
    """A tool whose execute is no coroutine function fails with a message that says so."""

    def at_once(arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        return arguments

    result = await invoker_of(FreeTool(work=at_once)).invoke(call(), CONTEXT)
    assert (result.success, result.reason) == (False, "TOOL_RAISED")
    assert "await" in result.error


@tool(effect=Effect.PURE)
def shout(arguments: Words, _context: ToolContext) -> Words:
    """Says it louder."""
    return Words(text=arguments.text.upper())


async def test_a_computing_call_asks_for_leave_too() -> None:
    """A pure call is authorised as every call is, and does not run if it is refused."""
    authoriser = RefuseAll()
    result = GuardedInvoker(registry_of(shout), ManualClock(), authoriser).compute(
        call("shout", text="a"), CONTEXT
    )
    assert result is not None
    assert (result.success, result.reason) == (False, "POLICY_DENIED")
    assert authoriser.asked == [call("shout", text="a")]


async def test_a_computing_call_whose_leave_takes_time_is_left_to_be_waited_for() -> None:
    """Where the authoriser has to wait, nothing was computed, and the call can be made in the usual way."""

    class Slow:
        async def authorise(
            self, call: ToolCall, context: ToolContext, decided: Decided
        ) -> ToolResult | None:
            await anyio.lowlevel.checkpoint()
            return None

    invoker = GuardedInvoker(registry_of(shout), ManualClock(), Slow())
    assert invoker.compute(call("shout", text="a"), CONTEXT) is None
    assert (await invoker.invoke(call("shout", text="a"), CONTEXT)).data == {"text": "A"}


async def test_an_unconfined_tool_is_not_called_with_the_rights_of_a_user() -> None:
    """A tool that reaches files with the daemon's rights is neither called nor reconciled in a workspace of another user,
    and is called in one of the daemon's own.
    """
    ran: list[object] = []

    async def note(arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        ran.append(arguments)
        return arguments

    tools = registry_of(FreeTool(work=note))
    invoker = GuardedInvoker(tools, ManualClock(), AllowAll(), frozenset({"give_back"}))
    theirs = replace(CONTEXT, workspace=Workspace("/srv", "", UserRights(7, 7)))
    assert (await invoker.invoke(call(), theirs)).reason == "TOOL_NOT_CONFINED"
    assert await invoker.reconcile(call(), theirs) is None
    assert await invoker.candidates("give_back", "text", theirs, 5) == ()
    assert ran == []
    assert (await invoker.invoke(call(), replace(CONTEXT, workspace=Workspace("/srv")))).success
