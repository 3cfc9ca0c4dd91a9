"""Messages over a socket: bounded, and watched for calls that were cancelled."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from aeond.capabilities.mcp.wire import (
    MAX_MESSAGE_BYTES,
    OBEY_SECONDS,
    AbandonedRequests,
    Wire,
    socket_wire,
    without_key,
)
from tests.support.doubles import ManualClock

CANCELLED = JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 7})
PROGRESS = JSONRPCNotification(
    jsonrpc="2.0", method="notifications/progress", params={"progressToken": 7, "progress": 1}
)
RESULT = JSONRPCResponse(jsonrpc="2.0", id=7, result={})


async def last_words() -> str:
    return "last words"


@asynccontextmanager
async def wired(clock: ManualClock) -> AsyncIterator[tuple[Wire, asyncio.StreamReader, asyncio.StreamWriter]]:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_unix_connection(sock=theirs)
    try:
        async with socket_wire(ours, last_words, clock) as wire:
            yield wire, reader, writer
    finally:
        writer.transport.abort()


async def test_messages_are_lines_and_other_lines_are_ignored() -> None:
    """Text that is no message, which servers print by mistake, does no harm."""
    async with wired(ManualClock()) as (wire, reader, writer):
        incoming, outgoing = wire.streams
        writer.write(b'starting...\n{"a": 1}\n[]\n' + RESULT.model_dump_json().encode() + b"\n")
        received = await incoming.receive()
        assert isinstance(received, SessionMessage)
        assert received.message == RESULT
        await outgoing.send(SessionMessage(CANCELLED))
        assert json.loads(await reader.readline())["method"] == "notifications/cancelled"


async def test_a_message_that_is_too_long_ends_the_connection() -> None:
    """A server cannot fill the daemon's memory."""
    async with wired(ManualClock()) as (wire, _, writer):
        writer.write(b"x" * (MAX_MESSAGE_BYTES + 1))
        await wire.lost.wait()
        assert await wire.why() == "it sent a message of more than 4 MiB"


async def test_the_end_of_a_server_is_reported_by_its_last_words() -> None:
    """A server that closes its output is lost, for the reason that it printed last."""
    async with wired(ManualClock()) as (wire, _, writer):
        writer.close()
        await wire.lost.wait()
        assert await wire.why() == "last words"


@pytest.mark.parametrize("late", [PROGRESS, RESULT])
async def test_work_on_a_cancelled_call_ends_the_connection(
    late: JSONRPCNotification | JSONRPCResponse,
) -> None:
    """Progress or a result of a call that was cancelled long ago shows that the server did not stop."""
    clock = ManualClock()
    async with wired(clock) as (wire, reader, writer):
        await wire.streams[1].send(SessionMessage(CANCELLED))
        await reader.readline()
        clock.advance(OBEY_SECONDS + 1)
        writer.write(late.model_dump_json().encode() + b"\n")
        await wire.lost.wait()
        assert await wire.why() == "it continued a cancelled call for more than 5 seconds"


def test_a_server_has_time_to_stop() -> None:
    """A result that was on its way, and results of other calls, are no disobedience."""
    clock = ManualClock()
    abandoned = AbandonedRequests(clock)
    assert not abandoned.shows_disobedience(RESULT)
    abandoned.sent(CANCELLED)
    assert not abandoned.shows_disobedience(RESULT)
    clock.advance(OBEY_SECONDS + 1)
    assert abandoned.shows_disobedience(RESULT)
    assert not abandoned.shows_disobedience(RESULT.model_copy(update={"id": 8}))


async def test_leaving_ends_everything() -> None:
    """No task of a connection is left."""
    with anyio.fail_after(60):
        async with wired(ManualClock()):
            pass


def test_a_key_is_replaced_wherever_it_is() -> None:
    """Texts and names of fields at any depth lose the key; other values stay, and so does everything for a trivial key."""
    value = {"a": ["x bearer-7321 y", 1, None, True], "bearer-7321": {"b": "bearer-7321"}}
    assert without_key(value, "bearer-7321") == {
        "a": ["x [key] y", 1, None, True],
        "[key]": {"b": "[key]"},
    }
    assert without_key({"text": "te"}, "te") == {"text": "te"}
