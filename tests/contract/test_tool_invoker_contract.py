"""Guarantees of every ToolInvoker: always a result, and a correct one."""

import gc
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NoReturn

import anyio
import anyio.to_thread
import pytest
from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import Effect, ToolCall, ToolContext
from aeond.errors import InvalidInputError, OverloadedError, StoreError, ToolError
from aeond.ports import Tool, ToolInvoker
from tests.support.tools import CONTEXT, FreeTool, call, hang, invoker_of, raising, returning

INVOKERS = {"GuardedInvoker": invoker_of}


@pytest.fixture(params=INVOKERS)
def make(request: pytest.FixtureRequest) -> Any:
    """Makes an invoker of some tools."""
    return INVOKERS[request.param]


async def outcome(make: Any, tool: Tool, **arguments: Any) -> tuple[bool, str]:
    """Whether a call of the tool went well, and its reason."""
    invoker: ToolInvoker = make(tool)
    with anyio.fail_after(60):
        result = await invoker.invoke(call(**arguments), CONTEXT)
    assert "duration_seconds" in result.metadata
    assert bool(result.error) is not result.success
    return result.success, result.reason


async def test_good_call_gives_the_output(make: Any) -> None:
    """A valid call of a well-behaved tool gives its output, its time and its size."""
    result = await make(FreeTool()).invoke(call(text="hello"), CONTEXT)
    assert (result.success, result.data, result.error) == (True, {"text": "hello"}, "")
    assert result.metadata["output_bytes"] == len('{"text":"hello"}')
    assert result.metadata["duration_seconds"] >= 0


async def test_tool_sees_the_call(make: Any) -> None:
    """A tool gets the arguments of the call and the context that it was made in."""
    seen: list[tuple[Mapping[str, Any], ToolContext]] = []

    async def look(arguments: Mapping[str, Any], context: ToolContext) -> Any:
        seen.append((arguments, context))
        return arguments

    await outcome(make, FreeTool(work=look), text="hello")
    assert seen == [({"text": "hello"}, CONTEXT)]


async def test_unknown_tool_is_a_failed_result(make: Any) -> None:
    """Calling a tool that does not exist fails with the names of those that do."""
    result = await make(FreeTool()).invoke(ToolCall("nothing"), CONTEXT)
    assert (result.success, result.reason) == (False, "TOOL_NOT_FOUND")
    assert "give_back" in result.error


@pytest.mark.parametrize(
    ("arguments", "explained"),
    [
        ({}, ["text"]),
        ({"text": 3}, ["/text", "string"]),
        ({"text": "x" * 101}, ["/text", "100"]),
        ({"text": "x", "more": 1}, ["more"]),
        ({"text": 3, "more": 1}, ["/text", "more"]),
        ({"text": "\ud800"}, ["/text", "surrogate"]),
        ({"text": math.nan}, ["/text", "nan"]),
        ({"text": b"bytes"}, ["/text", "bytes"]),
        ({"text": "x" * 2_000_000}, ["larger"]),
        ({1: "x"}, ["key"]),
    ],
)
async def test_bad_arguments_never_reach_the_tool(
    make: Any, arguments: dict[str, Any], explained: Sequence[str]
) -> None:
    """Arguments that violate the schema fail with every problem reported, and the tool does not run."""
    ran: list[object] = []

    async def note(arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        ran.append(arguments)
        return arguments

    result = await make(FreeTool(work=note)).invoke(ToolCall("give_back", arguments), CONTEXT)
    assert (result.success, result.reason) == (False, "ARGUMENTS_INVALID")
    assert [word for word in explained if word not in result.error] == []
    assert ran == []


async def a_coroutine() -> NoReturn:
    raise AssertionError("it is never awaited")


def ring() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


BAD_OUTPUTS: dict[str, Any] = {
    "nothing": None,
    "a text": "hello",
    "a number": 3,
    "another shape": {"txt": "hello"},
    "a field too many": {"text": "hello", "more": 1},
    "a wrong type": {"text": 3},
    "NaN": {"text": math.nan},
    "infinity": math.inf,
    "half a surrogate pair": {"text": "\ud83d"},
    "half a surrogate pair in a key": {"\udc00": 1},
    "bytes": {"text": b"hello"},
    "an exception": ValueError("returned"),
    "a set": {"hello"},
    "a class": FreeTool,
    "a frozen mapping": MappingProxyType({"text": "hello"}),
    "numbers as keys": {1: "hello"},
    "itself": ring(),
    "a generator": (part for part in "hello"),
}


@pytest.mark.parametrize("output", BAD_OUTPUTS.values(), ids=BAD_OUTPUTS)
async def test_bad_output_is_refused(make: Any, output: object) -> None:
    """Output that is no JSON or not of the promised shape fails as OUTPUT_INVALID."""
    assert await outcome(make, FreeTool(work=returning(output))) == (False, "OUTPUT_INVALID")


async def test_returned_coroutine_is_refused_and_closed(make: Any) -> None:
    """A tool that returns a coroutine in place of a value fails, and nothing is left un-awaited."""
    assert await outcome(make, FreeTool(work=returning(a_coroutine()))) == (False, "OUTPUT_INVALID")
    gc.collect()


@pytest.mark.parametrize(
    "output",
    [{"text": "x" * 100_000_000}, [0] * 50_000_000, {"text": ["x" * 10_000] * 10_000}],
    ids=["one text", "many numbers", "many texts"],
)
async def test_huge_output_is_refused(make: Any, output: object) -> None:
    """Output of a hundred megabytes fails as OUTPUT_TOO_LARGE."""
    assert await outcome(make, FreeTool(work=returning(output))) == (False, "OUTPUT_TOO_LARGE")


async def test_output_limit_is_the_tools_own(make: Any) -> None:
    """Output of exactly the size that the spec allows passes and one byte more fails."""
    size = len('{"text":"hello"}')
    assert await outcome(make, FreeTool(max_output_bytes=size)) == (True, "")
    assert await outcome(make, FreeTool(max_output_bytes=size - 1)) == (False, "OUTPUT_TOO_LARGE")


class BrokenError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class HalfMadeError(ToolError):
    def __init__(self) -> None:
        pass


RAISED: dict[str, tuple[BaseException, str]] = {
    "ValueError": (ValueError("seven is wrong"), "ValueError: seven is wrong"),
    "KeyError": (KeyError("k"), "KeyError: 'k'"),
    "SystemExit": (SystemExit(3), "SystemExit: 3"),
    "MemoryError": (MemoryError(), "MemoryError"),
    "RecursionError": (RecursionError("deep"), "RecursionError: deep"),
    "StopIteration": (StopIteration(), "StopIteration"),
    "StopAsyncIteration": (StopAsyncIteration(), "StopAsyncIteration"),
    "TimeoutError": (TimeoutError("own"), "TimeoutError: own"),
    "ExceptionGroup": (ExceptionGroup("two", [ValueError(), KeyError()]), "ExceptionGroup: two"),
    "BaseExceptionGroup": (BaseExceptionGroup("one", [SystemExit()]), "BaseExceptionGroup: one"),
    "an error without words": (BrokenError(), "BrokenError"),
    "surrogates": (ValueError("\ud800"), "ValueError: \\ud800"),
}


@pytest.mark.parametrize(("error", "explained"), RAISED.values(), ids=RAISED)
async def test_an_exception_of_a_tool_is_a_failed_result(
    make: Any, error: BaseException, explained: str
) -> None:
    """Whatever a tool raises ends in a failed result with its class and message."""
    result = await make(FreeTool(work=raising(error))).invoke(call(), CONTEXT)
    assert (result.success, result.reason) == (False, "TOOL_RAISED")
    assert explained in result.error
    assert result.error.encode()


@pytest.mark.parametrize(
    ("error", "reason", "retryable"),
    [
        (ToolError("the shop is closed"), "TOOL_FAILED", False),
        (ToolError("the shop is closed", reason="SHOP_CLOSED"), "SHOP_CLOSED", False),
        (ToolError("the shop is closed", reason="SHOP_CLOSED", retryable=True), "SHOP_CLOSED", True),
        (StoreError("the shop is closed"), "STORE_FAILED", False),
        (InvalidInputError("the shop is closed", reason="EMPTY_KEY"), "EMPTY_KEY", False),
        (OverloadedError("the shop is closed"), "OVERLOADED", True),
        (ToolError("the shop is closed", reason="not a reason"), "TOOL_RAISED", False),
    ],
)
async def test_tools_own_reason_is_kept(make: Any, error: Exception, reason: str, retryable: bool) -> None:
    """An error of ours keeps its message, its reason and whether trying again can help."""
    result = await make(FreeTool(work=raising(error))).invoke(call(), CONTEXT)
    assert (result.success, result.reason) == (False, reason)
    assert result.error.endswith("the shop is closed")
    assert result.metadata.get("retryable", False) is retryable


async def test_half_made_tool_error_is_data(make: Any) -> None:
    """A ToolError whose author forgot to call the constructor above it still ends in a failed result."""
    assert await outcome(make, FreeTool(work=raising(HalfMadeError()))) == (False, "TOOL_FAILED")


async def test_long_messages_are_cut(make: Any) -> None:
    """An error message of megabytes is truncated."""
    result = await make(FreeTool(work=raising(ValueError("x" * 5_000_000)))).invoke(call(), CONTEXT)
    assert len(result.error) <= 2_000


async def test_hanging_tool_is_stopped(make: Any) -> None:
    """A tool that never ends fails as TOOL_TIMEOUT once its time is up."""
    assert await outcome(make, FreeTool(work=hang, timeout_seconds=0.02)) == (False, "TOOL_TIMEOUT")


async def test_hanging_thread_is_left_behind(make: Any) -> None:
    """A tool that hangs in a thread fails as TOOL_TIMEOUT while the thread goes on."""
    release = threading.Event()

    async def block(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        await anyio.to_thread.run_sync(release.wait, abandon_on_cancel=True)

    try:
        assert await outcome(make, FreeTool(work=block, timeout_seconds=0.02)) == (False, "TOOL_TIMEOUT")
    finally:
        release.set()


async def test_cancellation_passes_through(make: Any) -> None:
    """Cancelling the caller cancels the tool and comes out as cancellation, not as a result."""
    started, stopped = anyio.Event(), anyio.Event()

    async def wait(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    results: list[object] = []

    async def run() -> None:
        results.append(await make(FreeTool(work=wait)).invoke(call(), CONTEXT))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await started.wait()
            group.cancel_scope.cancel()
    assert stopped.is_set()
    assert results == []


async def test_error_of_one_call_leaves_the_next_alone(make: Any) -> None:
    """After calls that failed in every way the same invoker still answers well."""
    turns = iter([raising(ValueError()), raising(SystemExit()), returning(math.nan), hang])

    async def vary(arguments: Mapping[str, Any], context: ToolContext) -> Any:
        work = next(turns, None)
        return await work(arguments, context) if work else {"text": "well"}

    invoker = make(FreeTool(work=vary, timeout_seconds=0.02))
    results = [await invoker.invoke(call(), CONTEXT) for _ in range(5)]
    assert [result.success for result in results] == [False, False, False, False, True]


async def test_reconcile_tells_what_was_done(make: Any) -> None:
    """A tool that knows the result of an earlier call gives it back, checked like any output."""
    result = await make(FreeTool(recall=returning({"text": "done"}))).reconcile(call(), CONTEXT)
    assert result is not None
    assert (result.success, result.data) == (True, {"text": "done"})


@pytest.mark.parametrize(
    "recall",
    [returning(None), returning({"txt": 1}), raising(ValueError()), raising(SystemExit()), hang],
    ids=["does not know", "wrong shape", "raises", "exits", "hangs"],
)
async def test_reconcile_that_cannot_tell_is_none(make: Any, recall: Any) -> None:
    """A tool that cannot say what happened, for whatever reason, gives no result and no error."""
    invoker = make(FreeTool(recall=recall, timeout_seconds=0.02))
    assert await invoker.reconcile(call(), CONTEXT) is None
    assert await invoker.reconcile(ToolCall("nothing"), CONTEXT) is None
    assert await invoker.reconcile(ToolCall("give_back", {"bad": 1}), CONTEXT) is None


async def test_a_tool_that_the_run_may_not_use_is_not_called(make: Any) -> None:
    """A context that allows some tools lets no other be called, whatever has been planned."""
    calls: list[str] = []

    async def work(arguments: Mapping[str, Any], context: ToolContext) -> Any:
        calls.append(context.run_id)
        return arguments

    invoker = make(FreeTool(work=work))
    refused = await invoker.invoke(call(text="hello"), replace(CONTEXT, allowed_tools=("other",)))
    allowed = await invoker.invoke(call(text="hello"), replace(CONTEXT, allowed_tools=("give_back",)))
    assert (refused.success, refused.reason) == (False, "TOOL_NOT_ALLOWED")
    assert (allowed.success, len(calls)) == (True, 1)


# ------------------------------------------------------------ calls that only compute


class Doubling(BaseModel):
    n: int


@tool(effect=Effect.PURE, example={"n": 1})
def double(arguments: Doubling, _context: ToolContext) -> Doubling:
    """Doubles a number."""
    if arguments.n == 13:
        raise ToolError("thirteen is not doubled", reason="UNLUCKY")
    return Doubling(n=2 * arguments.n)


@tool(effect=Effect.READ)
def look(arguments: Doubling, _context: ToolContext) -> Doubling:
    """Looks at the world, at once."""
    return arguments


@tool(effect=Effect.PURE)
async def ponder(arguments: Doubling, _context: ToolContext) -> Doubling:
    """May wait."""
    return arguments


@tool(effect=Effect.PURE, blocking=True)
def grind(arguments: Doubling, _context: ToolContext) -> Doubling:
    """Computes in a thread."""
    return arguments


@pytest.mark.parametrize("arguments", [{"n": 21}, {"n": 13}, {"n": "x"}, {"m": 1}, {"n": 2**70}])
async def test_a_call_that_computes_ends_as_it_would_when_waited_for(
    make: Any, arguments: dict[str, Any]
) -> None:
    """A synchronous call of a pure tool gives the same output, error and reason as an awaited one."""
    invoker = make(double)
    computed = invoker.compute(ToolCall("double", arguments), CONTEXT)
    waited_for = await invoker.invoke(ToolCall("double", arguments), CONTEXT)
    assert computed is not None
    assert (computed.success, computed.data) == (waited_for.success, waited_for.data)
    assert (computed.reason, computed.error) == (waited_for.reason, waited_for.error)


@pytest.mark.parametrize("name", ["look", "ponder", "grind", "give_back", "nothing"])
def test_a_call_that_does_more_than_compute_is_not_begun(make: Any, name: str) -> None:
    """Tools that read, may wait, or use a thread are not called synchronously."""
    invoker = make(look, ponder, grind, FreeTool(work=raising(AssertionError("called"))))
    assert invoker.compute(ToolCall(name, {"n": 1}), CONTEXT) is None
