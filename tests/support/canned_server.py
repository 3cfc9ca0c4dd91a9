"""An HTTP server on a Unix socket that answers each request with the next of the given raw responses."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import anyio

STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class CannedServer:
    """The requests as (path, body); None as a response keeps the client waiting."""

    def __init__(self, responses: Sequence[bytes | None]) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.left = anyio.Event()  # a client that was kept in silence went away
        self._responses = list(responses)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:  # a client that does not speak HTTP
            writer.close()
            return
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        body = await reader.readexactly(int(length[1]) if length else 0)
        self.asked.append((head.split()[1].decode(), json.loads(body) if body else None))
        response = self._responses.pop(0)
        if response is None:
            await reader.read()
            self.left.set()
        else:
            writer.write(response)
            with contextlib.suppress(OSError):
                await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def canned_server(socket: Path, responses: Sequence[bytes | None]) -> AsyncIterator[CannedServer]:
    server = CannedServer(responses)
    async with await asyncio.start_unix_server(server.serve, socket):
        yield server


def answer(body: bytes | dict[str, Any], status: str = "200 OK", *headers: str) -> bytes:
    """A whole response."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(content)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def events(*datas: dict[str, Any] | str, end: bool = True) -> bytes:
    """A response of server-sent events; with `end` the last says that all is said."""
    lines = [data if isinstance(data, str) else "data: " + json.dumps(data) for data in datas]
    if end:
        lines.append("data: [DONE]")
    return STREAM_HEAD + "".join(f"{line}\n\n" for line in lines).encode()


def piece(text: str = "", finish_reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish_reason}]}


def usage(prompt: int, completion: int, cached: int | None = None) -> dict[str, Any]:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion, **details}}
