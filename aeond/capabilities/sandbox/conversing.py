"""The daemon's end of the connection to a runner: sends a request, reads a bounded reply."""

import asyncio
import contextlib
from typing import Final, Protocol

import anyio
from pydantic import TypeAdapter, ValidationError

from aeond.capabilities.sandbox.messages import Outcome, Reply, ReplyHead, Request
from aeond.domain.questions import InputRequest
from aeond.domain.subtasks import SubtaskRequest
from aeond.errors import ToolError
from aeond.ports import ToolAnswer

READ_BYTES: Final = 1 << 16
END_SECONDS: Final = 5.0
# A value's line may be longer than the value: JSON escapes letters beyond ASCII with six characters.
ESCAPED: Final = 6
HEAD_BYTES: Final = 1 << 20


class Sandbox(Protocol):
    """Does errands with tool files where they can do no harm."""

    async def perform(self, request: Request, max_value_bytes: int) -> ToolAnswer:
        """What came of it: the value, or what a tool asks for in its place, which is foreign too.

        Raises ToolError: with the tool's own reason when it raised, SANDBOX_ENDED when its process ended
        without an answer, SANDBOX_UNAVAILABLE when there is no sandbox to be had, OUTPUT_TOO_LARGE. When it
        returns, raises or is cancelled, nothing of the errand is left running.
        """
        ...


async def converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request, max_value_bytes: int
) -> Reply:
    """Sends the request and returns the reply, once everybody who holds the other end is gone.

    Raises ToolError (SANDBOX_ENDED, OUTPUT_TOO_LARGE) where there is none.
    """
    try:
        writer.write(request.encoded())
        await writer.drain()
        line, begun = await _line(reader, HEAD_BYTES + ESCAPED * max_value_bytes)
        head = ReplyHead.read(line)
        parcel = begun + await _exactly(reader, head.parcel_bytes - len(begun))
    except (OSError, EOFError) as error:
        raise ended(str(error)) from error
    except ValueError as error:
        raise ended(f"its answer cannot be read: {error}") from error
    # The runner has ended with its answer; what it started holds the connection until it is ended too.
    with contextlib.suppress(OSError), anyio.move_on_after(END_SECONDS):
        while await reader.read(READ_BYTES):
            pass
    return head.reply(parcel)


def answer_of(reply: Reply) -> ToolAnswer:
    """What a reply says that the tool returned; ToolError with what it says instead."""
    if reply.reason:
        raise ToolError(reply.error, reason=reply.reason, retryable=reply.retryable)
    try:
        if reply.outcome is Outcome.INPUT:
            return TypeAdapter(InputRequest).validate_python(reply.value)
        if reply.outcome is Outcome.SUBTASK:
            return TypeAdapter(SubtaskRequest).validate_python(reply.value)
    except ValidationError as error:
        raise ToolError(f"the tool's request cannot be read: {error}", reason="REQUEST_INVALID") from error
    return reply.value


def ended(how: str) -> ToolError:
    return ToolError(f"the tool's process ended without an answer: {how}", reason="SANDBOX_ENDED")


async def _line(reader: asyncio.StreamReader, limit: int) -> tuple[bytes, bytes]:
    """The first line, and what came with it."""
    read = bytearray()
    while True:
        piece = await reader.read(READ_BYTES)
        if not piece:
            raise EOFError("it closed the connection")
        read += piece
        if b"\n" in piece:
            line, _, rest = bytes(read).partition(b"\n")
            return line, rest
        if len(read) > limit:
            raise ToolError("the tool returned more than it may: ask for less", reason="OUTPUT_TOO_LARGE")


async def _exactly(reader: asyncio.StreamReader, count: int) -> bytes:
    if count < 0:
        raise ValueError("it is longer than it says")
    try:
        return await reader.readexactly(count)
    except asyncio.IncompleteReadError as error:
        raise EOFError("it closed the connection in the middle of its answer") from error
