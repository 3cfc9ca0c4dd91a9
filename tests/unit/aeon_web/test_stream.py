"""The stream of events."""

import asyncio
import json
from typing import Any

import anyio

from aeon_web.stream import follow, message
from aeond_client.errors import NotFoundError
from tests.support.browser import listening
from tests.support.page_states import StatesClient


def test_a_message_is_one_line_of_data() -> None:
    """Line ends in texts are escaped, so that no text can begin another message."""
    assert (
        message("event", {"text": "a\n\ndata: b\r"}, 7)
        == b'id: 7\nevent: event\ndata: {"text": "a\\n\\ndata: b\\r"}\n\n'
    )
    assert message("link", {}) == b"event: link\ndata: {}\n\n"


async def messages(
    client: Any, socket: str, run_id: str, after_seq: int, count: int
) -> list[tuple[str, Any]]:
    """The first messages of a stream: their names and data."""
    found: list[tuple[str, Any]] = []
    enough = asyncio.Event()

    async def send(piece: bytes) -> None:
        fields = dict(line.split(": ", 1) for line in piece.decode().splitlines() if ": " in line[1:])
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
        if len(found) >= count:
            enough.set()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, lambda: client, socket, run_id, after_seq, send)
            await enough.wait()
            tasks.cancel_scope.cancel()
    return found


async def test_a_stream_resumes_after_a_seq() -> None:
    """The state of the connection comes first, then the events after the given one."""
    with listening() as socket:
        found = await messages(StatesClient(), socket, "planning", 1, 3)
    assert [(name, data.get("seq", data.get("up"))) for name, data in found] == [
        ("link", True),
        ("event", 2),
        ("event", 3),
    ]


async def test_a_missing_daemon_is_reported_and_waited_for() -> None:
    """Without a daemon the stream says so, and delivers the events once there is one."""
    client = StatesClient(up=False)
    found = await messages(client, "/nonexistent/aeond.sock", "planning", 0, 1)
    assert [(name, data["up"]) for name, data in found] == [("link", False)]
    client.up = True
    assert len(await messages(client, "/nonexistent/aeond.sock", "planning", 0, 4)) == 4


async def test_an_error_of_the_daemon_is_a_message() -> None:
    """A run that does not exist is reported, and the stream goes on."""
    client: Any = StatesClient()

    def refuse(*_: Any, **__: Any) -> None:
        raise NotFoundError("There is no run x.", reason="RUN_NOT_FOUND")

    client.watch = refuse
    with listening() as socket:
        found = await messages(client, socket, "x", 0, 2)
    assert found[1] == ("problem", {"reason": "RUN_NOT_FOUND", "message": "There is no run x."})
