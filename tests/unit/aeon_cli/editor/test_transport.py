"""The connection to an editor: lines that are no messages, and the reasons of errors."""

import asyncio
import json
from typing import Any, cast

import pytest

from aeon_cli.editor.transport import MAX_MESSAGE_BYTES, EditorTransport


class Written:
    """A writer that keeps what it gets."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self.lines.append(json.loads(data))

    async def drain(self) -> None:
        pass


def connected(*lines: bytes) -> tuple[EditorTransport, Written]:
    """A transport whose editor has sent these bytes and has closed the connection."""
    reader, written = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES), Written()
    reader.feed_data(b"".join(lines))
    reader.feed_eof()
    return EditorTransport(reader, cast("asyncio.StreamWriter", written)), written


@pytest.mark.parametrize(
    ("line", "code", "reason"),
    [
        (b"{no JSON", -32700, "INVALID_JSON"),
        (b"\xff\xfe", -32700, "INVALID_JSON"),
        (b"[" * 200_000, -32700, "INVALID_JSON"),
        (b"[1, 2]", -32600, "INVALID_REQUEST"),
        (b"3", -32600, "INVALID_REQUEST"),
        (b"{}", -32600, "INVALID_REQUEST"),
        (b'{"id": 1, "method": 3}', -32600, "INVALID_REQUEST"),
        (b'{"id": [1], "result": 3}', -32600, "INVALID_REQUEST"),
        (b'{"id": 1, "method": "x", "params": [1]}', -32600, "INVALID_REQUEST"),
        (b'"' + b"x" * (2 * MAX_MESSAGE_BYTES) + b'"', -32600, "MESSAGE_TOO_LARGE"),
    ],
    ids=range(10),
)
async def test_a_line_that_is_no_message_is_answered_and_skipped(line: bytes, code: int, reason: str) -> None:
    """The editor gets an error with a reason, and the next line is read."""
    transport, written = connected(line, b"\n\n", b'{"id": 1, "method": "initialize"}')
    assert await transport.receive() == {"id": 1, "method": "initialize"}
    assert await transport.receive() is None
    (answer,) = written.lines
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]) == (
        None,
        code,
        {"reason": reason},
    )


@pytest.mark.parametrize(
    ("error", "message", "data"),
    [
        (
            {
                "code": -32602,
                "message": "Invalid params",
                "data": {
                    "errors": [{"loc": ["prompt", 0], "msg": "Unknown type", "ctx": {"error": ValueError()}}]
                },
            },
            "prompt.0: Unknown type",
            {"reason": "INVALID_PARAMS", "field": "prompt.0"},
        ),
        (
            {"code": -32601, "message": "Method not found", "data": {"method": "session/fork"}},
            "Method not found: session/fork",
            {"reason": "UNKNOWN_METHOD"},
        ),
        ({"code": -32603, "message": "Internal error"}, "Internal error", {"reason": "INTERNAL"}),
        (
            {"code": -32002, "message": "None", "data": {"reason": "SESSION_NOT_FOUND"}},
            "None",
            {"reason": "SESSION_NOT_FOUND"},
        ),
    ],
    ids=["params", "method", "internal", "ours"],
)
async def test_every_error_has_a_reason(error: dict[str, Any], message: str, data: dict[str, Any]) -> None:
    """Errors of the library get a reason and name the field or method at fault; those of the agent are unchanged."""
    transport, written = connected()
    await transport.send({"jsonrpc": "2.0", "id": 1, "error": error})
    (answer,) = written.lines
    assert answer["error"] == {"code": error["code"], "message": message, "data": data}
