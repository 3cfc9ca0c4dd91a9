"""The connection to an editor: a JSON object a line, on standard input and output."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, cast

from acp import Agent, run_agent, stdio_streams

# A prompt with embedded files; the daemon takes less.
MAX_MESSAGE_BYTES = 16 << 20
_REASONS = {-32601: "UNKNOWN_METHOD", -32602: "INVALID_PARAMS", -32603: "INTERNAL"}

Message = dict[str, Any]


class EditorTransport:
    """Messages for the connection of the protocol's library. A line that is no message is answered with an error of
    JSON-RPC and skipped, and every error that is sent has a `reason`, also the library's own.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> Message | None:
        """The next message; None: the editor has closed the connection."""
        while True:
            line = await self._line()
            if line == b"":
                return None
            try:
                message = json.loads(line) if line is not None else None
            except (ValueError, RecursionError):
                await self._refuse(-32700, "the line is not JSON", "INVALID_JSON")
                continue
            if line is None:
                await self._refuse(
                    -32600, f"a line has more than {MAX_MESSAGE_BYTES} bytes", "MESSAGE_TOO_LARGE"
                )
            elif not _is_message(message):
                await self._refuse(-32600, "the line is not a message of JSON-RPC", "INVALID_REQUEST")
            else:
                return cast("Message", message)

    async def send(self, message: Message) -> None:
        if (error := message.get("error")) is not None:
            message = {**message, "error": _explained(error)}
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def close(self) -> None:
        """Everything has been written; standard output stays open."""

    async def _line(self) -> bytes | None:
        """The next line that is not empty; empty at the end; None for one that is too long, which is skipped."""
        whole = True
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                line = error.partial
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                whole = False
                continue
            if not whole:
                return None
            if not line or line.strip():
                return line

    async def _refuse(self, code: int, message: str, reason: str) -> None:
        error = {"code": code, "message": message, "data": {"reason": reason}}
        await self.send({"jsonrpc": "2.0", "id": None, "error": error})


async def serve(agent: object) -> None:
    """Serves the editor on standard input and output until it closes them. The agent has the methods of the capabilities
    that it announces; the library refuses the others.
    """
    await run_agent(cast("Agent", agent), EditorTransport(*await stdio_streams(limit=MAX_MESSAGE_BYTES)))


def _is_message(message: object) -> bool:
    """Whether it has the form that the library relies on."""
    return (
        isinstance(message, dict)
        and ("method" in message or "id" in message)
        and isinstance(message.get("method"), str | None)
        and isinstance(message.get("id"), str | int | None)
        and isinstance(message.get("params"), dict | None)
    )


def _explained(error: Mapping[str, Any]) -> Message:
    """The error with a reason. The library's own say what is wrong in their data, in a form that JSON may not have."""
    data = error.get("data")
    known: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    if "reason" in known or error["code"] not in _REASONS:
        return dict(error)
    found: Message = {"reason": _REASONS[error["code"]]}
    message = str(error["message"])
    if problems := known.get("errors"):
        found["field"] = ".".join(str(part) for part in problems[0]["loc"])
        message = f"{found['field']}: {problems[0]['msg']}"
    elif detail := known.get("method") or known.get("details"):
        message = f"{message}: {detail}"
    return {"code": error["code"], "message": message, "data": found}
