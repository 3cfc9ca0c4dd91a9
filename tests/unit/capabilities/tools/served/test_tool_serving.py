"""Tools of clients: whose they are, what happens to their calls, and what remains when a client leaves."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest

from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.served.client_stream import MAX_CALLS
from aeond.capabilities.tools.served.tool_serving import MAX_STREAMS, MAX_TOOLS, RegisteredServing
from aeond.domain.tools import (
    CLIENT_LEFT,
    TOOL_TIMEOUT,
    Effect,
    RecordedEffect,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from aeond.errors import AlreadyExistsError, InvalidInputError, OverloadedError
from aeond.ports.serving import CallCancelled, CallStarted, OfferAccepted, ServedTools
from tests.support.authorisers import AllowAll
from tests.support.doubles import ManualClock
from tests.support.tools import FreeTool

ANN, BOB = 1000, 1001
GRACE_SECONDS = 0.05  # of real time, in which a call waits for its client


def spec(name: str = "clip", **more: Any) -> ToolSpec:
    return ToolSpec(name, "Reads the clipboard.", {"type": "object"}, {}, Effect.READ, **more)


class House:
    """A registry with tools of clients and the invoker that calls them."""

    def __init__(self, grace_seconds: float) -> None:
        self.registry = Registry()
        self.clock = ManualClock()
        self.serving = RegisteredServing(self.registry, self.clock, grace_seconds)
        self.invoker = GuardedInvoker(self.registry, self.clock, AllowAll(), max_parallel=1)

    def serves(self, *specs: ToolSpec, uid: int = ANN) -> ServedTools:
        stream = self.serving.open(uid)
        stream.offer("test", specs)
        return stream

    async def call(self, tool: str = "clip", call_id: str = "run/s1", uid: int = ANN) -> ToolResult:
        context = ToolContext("run", "s1", call_id, "", uid=uid)
        return await self.invoker.invoke(ToolCall(tool, {}, call_id), context)

    def names(self, uid: int = ANN) -> list[str]:
        return list(self.registry.of(uid).list_names())


@pytest.fixture
async def house() -> AsyncIterator[House]:
    made = House(60.0)
    async with made.serving:
        yield made


@pytest.fixture
async def hasty() -> AsyncIterator[House]:
    """The same with a short grace time."""
    made = House(GRACE_SECONDS)
    async with made.serving:
        yield made


async def during(
    work: Callable[[], Awaitable[ToolResult]], then: Callable[[], Awaitable[None]]
) -> ToolResult:
    """The result of the work, while something else happens."""
    results = []

    async def keep() -> None:
        results.append(await work())

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep)
            await then()
    return results[0]


async def started(stream: ServedTools) -> CallStarted:
    """The next call that the client is sent."""
    while not isinstance(message := await stream.next(), CallStarted):
        assert message is not None
    return message


async def test_a_call_is_sent_and_its_result_comes_back(house: House) -> None:
    """The client receives the call with its run, step and time limit; its data are the result, from an untrusted source."""
    stream = house.serves(spec(timeout_seconds=7.0))
    assert await stream.next() == OfferAccepted(("clip",))

    async def answer() -> None:
        call = await started(stream)
        assert call == CallStarted(ToolCall("clip", {}, "run/s1"), "run", "s1", 7.0)
        stream.end_call("run/s1", ToolResult(True, "text"))

    result = await during(house.call, answer)
    assert (result.success, result.data) == (True, "text")
    assert house.registry.of(ANN).find("clip").spec.source == "client:test"


async def test_a_failure_keeps_the_reason_of_the_client(house: House) -> None:
    """A call that the client reports as failed fails with its error and reason, and has the effects that the client reports."""
    made = (RecordedEffect("clip.emptied", "primary"),)
    stream = house.serves(spec())

    async def refuse() -> None:
        await started(stream)
        stream.end_call("run/s1", ToolResult(False, error="empty", reason="CLIPBOARD_EMPTY", effects=made))

    result = await during(house.call, refuse)
    assert (result.success, result.error, result.reason) == (False, "empty", "CLIPBOARD_EMPTY")
    assert result.effects == made


async def test_tools_belong_to_the_user_who_serves_them(house: House) -> None:
    """Another user neither sees nor calls them, and may use the same name."""
    house.serves(spec())
    assert (house.names(), house.names(BOB), house.registry.list_names()) == (["clip"], [], [])
    assert (await house.call(uid=BOB)).reason == "TOOL_NOT_FOUND"
    house.serves(spec(), uid=BOB)
    assert house.names(BOB) == ["clip"]


@pytest.mark.parametrize("taken", ["of a client", "of the daemon", "in the offer"])
async def test_a_name_is_taken_once(house: House, taken: str) -> None:
    """An offer with a name that exists is refused whole, with the place of the name."""
    if taken == "of a client":
        house.serves(spec())
    elif taken == "of the daemon":
        house.registry.register(FreeTool("clip"))
    stream = house.serving.open(ANN)
    with pytest.raises(AlreadyExistsError) as raised:
        stream.offer("test", [spec("clip" if taken == "in the offer" else "other"), spec()])
    assert (raised.value.reason, raised.value.field) == ("TOOL_EXISTS", "offer.tools[1].name")
    assert "other" not in house.names()


async def test_an_invalid_tool_is_refused_with_its_place(house: House) -> None:
    """The form of an offered tool is checked as that of any other."""
    stream = house.serving.open(ANN)
    with pytest.raises(InvalidInputError) as raised:
        stream.offer("test", [spec(), spec("Not a name")])
    assert (raised.value.reason, raised.value.field) == ("NAME_INVALID", "offer.tools[1].name")
    assert house.names() == []


async def test_a_later_offer_replaces_the_earlier_one(house: House) -> None:
    """The tools of a stream are those of its last offer."""
    stream = house.serves(spec("one"), spec("two"))
    stream.offer("test", [spec("two"), spec("three")])
    assert house.names() == ["three", "two"]


async def test_a_client_that_ends_takes_its_tools_along(house: House) -> None:
    """Its tools are gone at once, and a call that it had begun has an unknown effect."""
    stream = house.serves(spec())

    async def leave() -> None:
        await started(stream)
        stream.offer("test", [])
        stream.close()

    result = await during(house.call, leave)
    assert (result.reason, house.names()) == (CLIENT_LEFT, [])


async def test_a_lost_client_delivers_the_result_when_it_is_back(house: House) -> None:
    """A stream that was lost during a call leaves the call waiting; the client's next stream ends it, and the call is not
    sent a second time."""
    stream = house.serves(spec())

    async def come_back() -> None:
        await started(stream)
        stream.close()
        assert await stream.next() is None
        again = house.serves(spec())
        assert await again.next() == OfferAccepted(("clip",))
        again.end_call("run/s1", ToolResult(True, "late"))
        again.offer("test", [])
        assert await again.next() == OfferAccepted(())

    assert (await during(house.call, come_back)).data == "late"


async def test_a_call_that_was_not_sent_is_sent_to_the_client_that_is_back(house: House) -> None:
    """A call during an absence waits for the client."""
    house.serves(spec()).close()

    async def come_back() -> None:
        await anyio.lowlevel.checkpoint()
        stream = house.serves(spec())
        await started(stream)
        stream.end_call("run/s1", ToolResult(True, 1))

    assert (await during(house.call, come_back)).data == 1


async def test_a_client_that_stays_away_leaves_an_unknown_effect(hasty: House) -> None:
    """After the grace time a call that was sent has an unknown effect."""
    stream = hasty.serves(spec())

    async def leave() -> None:
        await started(stream)
        stream.close()

    assert (await during(hasty.call, leave)).reason == CLIENT_LEFT


async def test_a_call_that_no_client_took_had_no_effect(hasty: House) -> None:
    """After the grace time a call that was never sent fails, and may be tried again."""
    hasty.serves(spec()).close()
    result = await hasty.call()
    assert (result.reason, result.metadata["retryable"]) == ("CLIENT_AWAY", True)


async def test_tools_of_a_lost_client_stay_for_the_grace_time(house: House) -> None:
    """They are listed until the time is over, unless the client has offered them again by then."""
    house.serves(spec("one"), spec("two")).close()
    house.serves(spec("two"))
    await anyio.wait_all_tasks_blocked()
    assert house.names() == ["one", "two"]
    house.clock.advance(61.0)
    await anyio.wait_all_tasks_blocked()
    assert house.names() == ["two"]


async def test_a_call_that_is_no_longer_needed_is_cancelled(house: House) -> None:
    """The client receives the cancellation of a call whose time is up; one that was not sent yet is taken back."""
    stream = house.serves(spec(timeout_seconds=0.02))
    assert (await house.call()).reason == TOOL_TIMEOUT
    assert await stream.next() == OfferAccepted(("clip",))

    async def take() -> None:
        assert (await started(stream)).call.call_id == "second"
        assert await stream.next() == CallCancelled("second")

    assert (await during(lambda: house.call(call_id="second"), take)).reason == TOOL_TIMEOUT


async def test_unexpected_results_are_ignored(house: House) -> None:
    """A result without a call, for one not yet sent, or a second one changes nothing."""
    stream = house.serves(spec())
    stream.end_call("run/s1", ToolResult(True, "early"))

    async def answer_twice() -> None:
        await started(stream)
        stream.end_call("other", ToolResult(True, "other"))
        stream.end_call("run/s1", ToolResult(True, "first"))
        stream.end_call("run/s1", ToolResult(True, "second"))

    assert (await during(house.call, answer_twice)).data == "first"


async def test_slow_clients_do_not_hold_up_other_tools(house: House) -> None:
    """Calls of clients take no slot of the daemon's own tools, and are bounded for each user."""
    house.serves(spec())
    house.registry.register(FreeTool("quick", input_schema={"type": "object"}, work=_quick))
    async with anyio.create_task_group() as tasks:
        for number in range(MAX_CALLS):
            tasks.start_soon(house.call, "clip", f"c{number}")
        await anyio.wait_all_tasks_blocked()
        assert (await house.call("quick", "q")).success
        assert (await house.call("clip", "more")).reason == "TOOLS_BUSY"
        tasks.cancel_scope.cancel()


async def _quick(_arguments: object, _context: object) -> object:
    return {"text": "done"}


async def test_a_call_id_is_in_use_once(house: House) -> None:
    """Two calls in progress never share an id, by which the client tells them apart."""
    house.serves(spec())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.call)
        await anyio.wait_all_tasks_blocked()
        assert (await house.call()).reason == "CALL_ID_IN_USE"
        tasks.cancel_scope.cancel()


async def test_streams_and_tools_of_a_user_are_bounded(house: House) -> None:
    """There are limits for the streams and the tools of one user."""
    stream = house.serves(*(spec(f"t{number}") for number in range(MAX_TOOLS)))
    with pytest.raises(OverloadedError) as raised:
        house.serving.open(ANN).offer("test", [spec()])
    assert raised.value.reason == "TOO_MANY_TOOLS"
    stream.offer("test", [replace(spec(), name=f"u{number}") for number in range(MAX_TOOLS)])
    for _ in range(MAX_STREAMS - 2):
        house.serving.open(ANN)
    with pytest.raises(OverloadedError) as raised:
        house.serving.open(ANN)
    assert raised.value.reason == "TOO_MANY_STREAMS"
    stream.close()
    house.serving.open(ANN)
