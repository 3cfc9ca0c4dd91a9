"""Guarantees of the service layer for the server, of the service and of the doubles in tests of the
server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.served.tool_serving import RegisteredServing
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.events import Event, RunEnded
from aeond.domain.runs.forks import ForkRequest
from aeond.domain.runs.run import Caller, Owner, Resolution, RunRequest, RunState
from aeond.domain.sessions import Session
from aeond.domain.tools import ToolCall
from aeond.errors import AlreadyExistsError, InvalidInputError, NotFoundError, WrongStateError
from aeond.ports.journal import RunFilter
from aeond.ports.serving import TerminalKind
from aeond.server.calls import MemoryCalls, RunCalls, ToolCalls
from aeond.service.memory import MemoryKeys
from aeond.service.tools import Tools
from tests.support.api_calls import InMemoryKeys, InMemoryRuns, InMemoryTools
from tests.support.doubles import ManualClock, PlainInvoker, ScriptedTool
from tests.support.memory import InMemoryMemory
from tests.support.service_world import (
    ADMIN,
    CALLER,
    USER,
    NumberedIds,
    ScriptedRegistry,
    World,
    open_admission,
)

ALL: frozenset[RunState] = frozenset()
OTHER = Caller(Owner(uid=2, pid=1))


@dataclass
class RunSide:
    """An implementation, and how one of its runs is brought to its end."""

    calls: RunCalls
    finish: Callable[[str], Awaitable[object]]

    async def create(self, text: str = "hello", **fields: str) -> str:
        request = RunRequest(text, owner=USER, **fields)  # type: ignore[arg-type] # texts only
        return (await self.calls.create(request, None, BudgetRequest())).run_id

    async def seen(self, run_id: str, after_seq: int = 0) -> list[Event]:
        """The numbered events that a watcher gets until the end."""
        batches = [batch async for batch in self.calls.watch(run_id, after_seq, CALLER)]
        assert all(0 < len(batch) <= 256 for batch in batches)
        return [item for batch in batches for item in batch if isinstance(item, Event)]


@pytest.fixture(params=["service", "double"])
async def runs(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RunSide]:
    async with AsyncExitStack() as stack:
        stack.enter_context(anyio.fail_after(60))
        if request.param == "service":
            world = await stack.enter_async_context(World(tmp_path).working())
            await world.sessions.create(Session("s", uid=USER.uid), "")
            yield RunSide(world.runs, world.ended)
        else:
            double = InMemoryRuns()

            async def finish(run_id: str) -> None:
                double.happen(run_id, RunEnded(RunState.CANCELLED))

            yield RunSide(double, finish)


async def test_a_request_id_stands_for_one_run_of_one_user(runs: RunSide) -> None:
    """The same id from the same user gives the same run; from another user, or with no id, a new one."""
    first = await runs.create(request_id="r")
    assert await runs.create(request_id="r") == first
    theirs = RunRequest("hello", request_id="r", owner=replace(USER, uid=2))
    assert (await runs.calls.create(theirs, None, BudgetRequest())).run_id != first
    assert await runs.create() != await runs.create()


async def test_a_request_id_does_not_stand_for_two_requests(runs: RunSide) -> None:
    """An id that was used for something else is refused."""
    await runs.create(request_id="r")
    with pytest.raises(AlreadyExistsError) as raised:
        await runs.create("goodbye", request_id="r")
    assert raised.value.reason == "REQUEST_ID_REUSED"


async def test_a_run_that_is_not_there_is_not_found(runs: RunSide) -> None:
    """Looking, cancelling and watching say so alike."""
    for call in (runs.calls.get("none", CALLER), runs.calls.cancel("none", CALLER, ""), runs.seen("none")):
        with pytest.raises(NotFoundError) as raised:
            await call
        assert raised.value.reason == "RUN_NOT_FOUND"


async def test_a_run_of_another_user_is_not_found(runs: RunSide) -> None:
    """Another user who reads, watches, cancels, answers, decides, forks, replays, undoes or deletes a run, which once succeeded,
    gets the error for a run that does not exist, word for word, while an administrator sees the unchanged run.
    """

    async def of(batches: AsyncIterator[object]) -> list[object]:
        return [batch async for batch in batches]

    run_id = await runs.create()
    calls = runs.calls
    for call in (
        lambda name: calls.get(name, OTHER),
        lambda name: of(calls.watch(name, 0, OTHER)),
        lambda name: of(calls.watch_tree(name, 0, {}, OTHER)),
        lambda name: of(calls.watch(name, 10_000, OTHER)),
        lambda name: calls.cancel(name, OTHER, "mine"),
        lambda name: calls.answer(name, "", 1, OTHER),
        lambda name: calls.decide(name, "", Resolution.ABORT, OTHER),
        lambda name: calls.fork(ForkRequest(name, OTHER)),
        lambda name: calls.fork(ForkRequest(name, OTHER, after_seq=10_000)),
        lambda name: of(calls.replay(name, 0, OTHER)),
        lambda name: calls.undo(name, OTHER),
        lambda name: calls.delete(name, OTHER),
    ):
        errors = []
        for name in (run_id, "missing"):
            with pytest.raises(NotFoundError) as raised:
                await call(name)
            errors.append((raised.value.reason, raised.value.field, raised.value.message.replace(name, "")))
        assert errors[0] == errors[1]
        assert errors[0][0] == "RUN_NOT_FOUND"
    assert not (await calls.get(run_id, ADMIN)).cancel_requested
    assert (await calls.cancel(run_id, ADMIN, "")).cancel_requested


async def test_a_list_shows_the_runs_of_its_caller(runs: RunSide) -> None:
    """Whatever the filters and the position, others' runs are missing; an administrator gets all."""
    mine = [await runs.create(session_id="s") for _ in range(2)]
    theirs = (await runs.calls.create(RunRequest("x", owner=OTHER.owner), None, BudgetRequest())).run_id

    async def listed(caller: Caller, before: str = "", session_id: str = "") -> list[str]:
        wanted = RunFilter(states=ALL, session_id=session_id, before=before, limit=9)
        found = await runs.calls.list_runs(caller, wanted)
        return [run.run_id for run in found]

    assert await listed(CALLER) == mine[::-1]
    assert await listed(OTHER) == [theirs]
    assert await listed(OTHER, before=theirs) == []
    assert await listed(OTHER, session_id="s") == []
    assert await listed(CALLER, before=theirs) == mine[::-1]
    assert await listed(ADMIN) == [theirs, *mine[::-1]]


async def test_runs_are_listed_newest_first_page_by_page(runs: RunSide) -> None:
    """A page goes on behind the run that the last one ended with; filters hold."""
    created = [await runs.create(session_id="s") for _ in range(3)]
    await runs.create()
    page = await runs.calls.list_runs(CALLER, RunFilter(states=ALL, session_id="s", limit=2))
    assert [run.run_id for run in page] == [created[2], created[1]]
    rest = await runs.calls.list_runs(
        CALLER, RunFilter(states=ALL, session_id="s", before=page[-1].run_id, limit=2)
    )
    assert [run.run_id for run in rest] == [created[0]]
    await runs.finish(created[0])
    ended = frozenset(state for state in RunState if state.ended)
    shown = await runs.calls.list_runs(CALLER, RunFilter(states=ended, session_id="s", limit=9))
    assert created[0] in [run.run_id for run in shown]


async def test_a_watcher_gets_every_event_once_and_then_the_end(runs: RunSide) -> None:
    """From the start or from any cursor, numbers come without gaps, and the last event ends the stream."""
    run_id = await runs.create()
    await runs.finish(run_id)
    events = await runs.seen(run_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[-1].kind, RunEnded)
    assert await runs.seen(run_id, after_seq=1) == events[1:]
    assert await runs.seen(run_id, after_seq=len(events)) == []


async def test_an_ended_run_is_deleted(runs: RunSide) -> None:
    """A run that has not ended is not deleted; an ended one is not found afterwards, also by an administrator."""
    run_id = await runs.create()
    if not (await runs.calls.get(run_id, CALLER)).state.ended:
        with pytest.raises(WrongStateError) as refused:
            await runs.calls.delete(run_id, CALLER)
        assert refused.value.reason == "RUN_NOT_ENDED"
    await runs.finish(run_id)
    await runs.calls.delete(run_id, CALLER)
    for caller in (CALLER, ADMIN):
        with pytest.raises(NotFoundError):
            await runs.calls.get(run_id, caller)


async def test_a_cursor_ahead_of_the_run_is_refused(runs: RunSide) -> None:
    """A watcher cannot wait for what has not happened yet by number."""
    run_id = await runs.create()
    with pytest.raises(InvalidInputError) as raised:
        await runs.seen(run_id, after_seq=10_000)
    assert (raised.value.reason, raised.value.field) == ("SEQ_AHEAD", "after_seq")


async def test_an_ended_run_stays_as_it_is(runs: RunSide) -> None:
    """Cancelling an ended run changes nothing, and there is nothing to decide about it."""
    run_id = await runs.create()
    await runs.finish(run_id)
    before = await runs.calls.get(run_id, CALLER)
    assert before.state.ended
    assert await runs.calls.cancel(run_id, CALLER, "late") == before
    with pytest.raises(WrongStateError) as raised:
        await runs.calls.decide(run_id, "", Resolution.RETRY, CALLER)
    assert raised.value.reason == "NOTHING_TO_DECIDE"


@pytest.fixture(params=["service", "double"])
def memory(request: pytest.FixtureRequest) -> MemoryCalls:
    if request.param == "double":
        return InMemoryKeys()
    return MemoryKeys(InMemoryMemory(), open_admission())


async def test_memory_tells_nothing_from_null(memory: MemoryCalls) -> None:
    """A missing key is not found; a key whose value is null is there."""
    with pytest.raises(NotFoundError) as raised:
        await memory.read(USER.uid, "k")
    assert raised.value.reason == "KEY_NOT_FOUND"
    await memory.write(USER.uid, "k", None)
    assert await memory.read(USER.uid, "k") is None
    assert [await memory.delete(USER.uid, "k"), await memory.delete(USER.uid, "k")] == [True, False]


async def test_a_key_of_another_user_does_not_exist(memory: MemoryCalls) -> None:
    """Another user neither reads, finds nor deletes a key, and writes one of the same name beside it: memory used to be
    one for all users.
    """
    await memory.write(USER.uid, "k", "mine")
    with pytest.raises(NotFoundError):
        await memory.read(2, "k")
    assert list(await memory.search(2, "", after="", limit=9)) == []
    assert not await memory.delete(2, "k")
    await memory.write(2, "k", "theirs")
    assert [await memory.read(uid, "k") for uid in (USER.uid, 2)] == ["mine", "theirs"]


async def test_memory_is_searched_page_by_page(memory: MemoryCalls) -> None:
    """Keys of a prefix come sorted, after the given one, upper and lower case apart."""
    for number, key in enumerate(["a2", "a1", "A0", "a3", "b"]):
        await memory.write(USER.uid, key, number)
    assert list(await memory.search(USER.uid, "a", after="", limit=2)) == [("a1", 1), ("a2", 0)]
    assert list(await memory.search(USER.uid, "a", after="a2", limit=9)) == [("a3", 3)]


@pytest.fixture(params=["service", "double"])
def tools(request: pytest.FixtureRequest, tmp_path: Path) -> ToolCalls:
    names = ("c", "a", "b")
    if request.param == "double":
        return InMemoryTools(names)
    scripted = {name: ScriptedTool(name) for name in names}
    return Tools(
        registry=ScriptedRegistry(*scripted.values()),
        invoker=PlainInvoker(scripted),
        workspaces=World(tmp_path).workspaces,
        admission=open_admission(),
        ids=NumberedIds(),
        serving=RegisteredServing(Registry(), ManualClock()),
    )


async def test_a_run_has_one_terminal(tools: ToolCalls) -> None:
    """A terminal is lent to one run of its user; a second for the same run is refused until the first is taken back."""
    lent = tools.attach("run", TerminalKind(), CALLER)
    with pytest.raises(AlreadyExistsError):
        tools.attach("run", TerminalKind(), CALLER)
    lent.hang_up()
    tools.attach("run", TerminalKind(), CALLER)


async def test_tools_are_sorted_and_found_by_name(tools: ToolCalls) -> None:
    """A page goes on behind a name; a name that is not there is not found, looked at or called."""
    assert [spec.name for spec in await tools.list_tools(CALLER, after="", limit=2)] == ["a", "b"]
    assert [spec.name for spec in await tools.list_tools(CALLER, after="b", limit=2)] == ["c"]
    assert (await tools.get("c", CALLER)).name == "c"
    for call in (tools.get("none", CALLER), tools.invoke(ToolCall("none"), "", CALLER)):
        with pytest.raises(NotFoundError) as raised:
            await call
        assert raised.value.reason == "TOOL_NOT_FOUND"


async def test_a_tool_is_called_in_its_callers_name(tools: ToolCalls) -> None:
    """A call of a tool that is there gives its result."""
    assert (await tools.invoke(ToolCall("a", {"n": 1}), "", CALLER)).success


async def test_a_fork_shares_the_past_and_is_a_run_of_its_own(runs: RunSide) -> None:
    """A fork names the run that it came from and has an id, an owner and a request id of its own."""
    run_id = await runs.create(request_id="first")
    forked = await runs.calls.fork(ForkRequest(run_id, ADMIN, request_id="fork"))
    assert forked.run_id != run_id
    assert forked.ancestry.forked_run_id == run_id
    assert (forked.request.text, forked.request.owner.uid) == ("hello", ADMIN.owner.uid)
    again = await runs.calls.fork(ForkRequest(run_id, ADMIN, request_id="fork"))
    assert again.run_id == forked.run_id


async def test_a_request_id_does_not_stand_for_two_forks(runs: RunSide) -> None:
    """An id that stands for a run, or for a fork of another run or at another event, is refused."""
    run_id, other = await runs.create(request_id="first"), await runs.create()
    await runs.finish(run_id)
    await runs.calls.fork(ForkRequest(run_id, CALLER, request_id="fork"))
    for asked in (
        ForkRequest(other, CALLER, request_id="fork"),
        ForkRequest(run_id, CALLER, after_seq=2, request_id="fork"),
        ForkRequest(run_id, CALLER, request_id="first"),
    ):
        with pytest.raises(AlreadyExistsError) as raised:
            await runs.calls.fork(asked)
        assert raised.value.reason == "REQUEST_ID_REUSED"


async def test_a_run_is_not_forked_where_it_has_not_been(runs: RunSide) -> None:
    """A fork from an event that the run has not reached, or of a run that is not there, is refused."""
    run_id = await runs.create()
    with pytest.raises(InvalidInputError) as raised:
        await runs.calls.fork(ForkRequest(run_id, CALLER, after_seq=999))
    assert (raised.value.reason, raised.value.field) == ("SEQ_AHEAD", "after_seq")
    with pytest.raises(NotFoundError):
        await runs.calls.fork(ForkRequest("no-run", CALLER))


async def test_an_ended_run_is_undone(runs: RunSide) -> None:
    """Undo reports which changes of an ended run were reverted or refused, and refuses a run that has not ended."""
    run_id = await runs.create()
    with pytest.raises(WrongStateError) as raised:
        await runs.calls.undo(run_id, CALLER)
    assert raised.value.reason == "RUN_NOT_ENDED"
    await runs.finish(run_id)
    report = await runs.calls.undo(run_id, CALLER)
    assert [(one.target, one.outcome) for one in report.undone] == [("a.txt", "restored")]
    assert [(one.target, one.reason) for one in report.refused] == [("b.txt", "CHANGED_SINCE")]
    with pytest.raises(NotFoundError):
        await runs.calls.undo("no-run", CALLER)


async def test_a_replay_gives_the_events_of_the_run(runs: RunSide) -> None:
    """A replay gives what a watcher gets, whole or up to an event, and refuses one that is not there."""
    run_id = await runs.create()
    await runs.finish(run_id)
    watched = await runs.seen(run_id)
    assert [event async for batch in runs.calls.replay(run_id, 0, CALLER) for event in batch] == watched
    assert [event async for batch in runs.calls.replay(run_id, 2, CALLER) for event in batch] == watched[:2]
    with pytest.raises(InvalidInputError) as raised:
        [batch async for batch in runs.calls.replay(run_id, 999, CALLER)]
    assert (raised.value.reason, raised.value.field) == ("SEQ_AHEAD", "until_seq")
    with pytest.raises(NotFoundError):
        [batch async for batch in runs.calls.replay("no-run", 0, CALLER)]
