"""The daemon's end of the connection to a runner: sends a request, and reads live text and a reply of limited size."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final, Protocol

import anyio
from pydantic import TypeAdapter, ValidationError

from aeond.capabilities.sandbox.messages import Outcome, Reply, Request, live_text, read_head
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import RecordedEffect, ToolOutput, ignore_effect
from aeond.errors import ToolError
from aeond.frozen import frozen
from aeond.ports import ToolAnswer

READ_BYTES: Final = 1 << 16
END_SECONDS: Final = 5.0
# A value's line may be longer than the value: JSON escapes characters beyond ASCII with six.
ESCAPED: Final = 6
HEAD_BYTES: Final = 1 << 20
MAX_LIVE_BYTES: Final = 8 << 20  # of the lines with live text of one errand


def ignore_text(_text: str) -> None:
    """For errands without a reader of their live text."""


@frozen
class Conditions:
    """What an errand may change, and who sees its text while it works.

    `writable` says of paths below the workspace ("" is the workspace) whether the errand may change what is there; a
    path applies to everything below it up to the next one. The paths lead through no link. `show` receives pieces of
    text in order.
    """

    writable: Mapping[str, bool] = field(default_factory=dict)
    show: Callable[[str], None] = ignore_text

    def may_change(self, path: str) -> bool:
        while True:
            if path in self.writable:
                return self.writable[path]
            if not path:
                return True
            path = path.rpartition("/")[0]


USUAL: Final = Conditions()


class Sandbox(Protocol):
    """Executes errands with tool files in isolation."""

    @property
    def profile(self) -> str:
        """Names the sandbox and its layers; changes whenever a tool could reach more."""
        ...

    async def perform(
        self, request: Request, max_value_bytes: int, conditions: Conditions = USUAL
    ) -> ToolAnswer:
        """The result: the value, or the tool's request for input or a subtask, which is untrusted too.

        Raises ToolError: with the tool's own reason if the tool raised; SANDBOX_ENDED if its process ended
        without a reply; SANDBOX_UNAVAILABLE if there is no sandbox; OUTPUT_TOO_LARGE. After it returns,
        raises or is cancelled, no process of the errand is running.
        """
        ...


async def converse(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: Request,
    max_value_bytes: int,
    show: Callable[[str], None] = ignore_text,
) -> Reply:
    """Sends the request and returns the reply, once all processes that hold the other end have exited. `show`
    receives the live text before it.

    Raises ToolError (SANDBOX_ENDED, OUTPUT_TOO_LARGE) if there is no valid reply.
    """
    try:
        writer.write(request.encoded())
        await writer.drain()
        line, begun = await _reply_line(reader, HEAD_BYTES + ESCAPED * max_value_bytes, show)
        reply, parcel_bytes = read_head(line)
        parcel = begun + await _exactly(reader, parcel_bytes - len(begun))
    except (OSError, EOFError) as error:
        raise ended(str(error)) from error
    except ValueError as error:
        raise ended(f"its answer cannot be read: {error}") from error
    # The runner exits after its reply; its child processes keep the connection open until they are killed
    # too.
    with contextlib.suppress(OSError), anyio.move_on_after(END_SECONDS):
        while await reader.read(READ_BYTES):
            pass
    return replace(reply, parcel=parcel)


def answer_of(reply: Reply, record: Callable[[RecordedEffect], None] = ignore_effect) -> ToolAnswer:
    """The tool's result in a reply; ToolError if the reply reports one, whose effects are recorded first."""
    if reply.reason:
        for effect in reply.effects:
            record(RecordedEffect(*effect))
        raise ToolError(reply.error, reason=reply.reason, retryable=reply.retryable)
    try:
        if reply.outcome is Outcome.INPUT:
            asked = TypeAdapter(InputRequest).validate_python(reply.value)
            return replace(asked, continues=False)  # no process is left that could continue
        if reply.outcome is Outcome.SUBTASK:
            return TypeAdapter(SubtaskRequest).validate_python(reply.value)
    except ValidationError as error:
        raise ToolError(f"the tool's request cannot be read: {error}", reason="REQUEST_INVALID") from error
    if reply.effects:
        return ToolOutput(reply.value, tuple(RecordedEffect(*effect) for effect in reply.effects))
    return reply.value


def ended(how: str) -> ToolError:
    return ToolError(f"the tool's process ended without a reply: {how}", reason="SANDBOX_ENDED")


async def _reply_line(
    reader: asyncio.StreamReader, limit: int, show: Callable[[str], None]
) -> tuple[bytes, bytes]:
    """The first line that is not live text, and any bytes received after it."""
    shown, rest = 0, b""
    while True:
        line, rest = await _line(reader, limit, rest)
        if (text := live_text(line)) is None:
            return line, rest
        shown += len(line)
        if shown > MAX_LIVE_BYTES:
            raise _too_large()
        show(text)


async def _line(reader: asyncio.StreamReader, limit: int, begun: bytes) -> tuple[bytes, bytes]:
    """The first line, which may have `begun` already, and any bytes received after it."""
    read, piece = bytearray(), begun
    while True:
        read += piece
        if b"\n" in piece:
            line, _, rest = bytes(read).partition(b"\n")
            return line, rest
        if len(read) > limit:
            raise _too_large()
        piece = await reader.read(READ_BYTES)
        if not piece:
            raise EOFError("it closed the connection")


def _too_large() -> ToolError:
    return ToolError("tool output exceeds its limit; request a smaller range", reason="OUTPUT_TOO_LARGE")


async def _exactly(reader: asyncio.StreamReader, count: int) -> bytes:
    if count < 0:
        raise ValueError("it sent more data than announced")
    try:
        return await reader.readexactly(count)
    except asyncio.IncompleteReadError as error:
        raise EOFError("it closed the connection in the middle of its reply") from error
