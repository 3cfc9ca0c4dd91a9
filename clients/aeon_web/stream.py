"""The stream that the page reads: whether a daemon is listening, and the events of one run.

Messages have the form of server-sent events. The id of an event's message is its seq, from which a page resumes
after its own connection was lost; that of the daemon is resumed by the client library.
"""

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any

from aeon_cli.text.encoding import plain
from aeon_web.exchange import Send
from aeond_client.async_client import AsyncClient
from aeond_client.connection.sockets import candidates, find_socket
from aeond_client.errors import AeondError, NoDaemonError, RefusedError

PROBE_SECONDS = 0.5
# A comment at this interval, so that a connection that was lost silently is noticed.
BEAT_PROBES = 30


def message(name: str, data: Any, seq: int = 0) -> bytes:
    """A message; with a seq, the position from which to resume."""
    number = f"id: {seq}\n" if seq else ""
    return f"{number}event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n".encode()


async def follow(
    open_client: Callable[[], AsyncClient], socket: str, run_id: str, after_seq: int, send: Send
) -> None:
    """Sends the state of the connection and, with a run, its events after `after_seq` and those of the runs below it.

    Ends only by cancellation, or with the OSError or TimeoutError of `send`.
    """
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_note_link(socket, send))
            if run_id:
                group.create_task(_send_events(open_client, run_id, after_seq, send))
    except* (OSError, TimeoutError) as errors:
        raise errors.exceptions[0] from None


async def _note_link(socket: str, send: Send) -> None:
    """Sends whether a daemon is listening, whenever that changes."""
    last: dict[str, Any] = {}
    probes = 0
    while True:
        now = _link(socket)
        if now != last:
            last = now
            await send(message("link", now))
        elif probes % BEAT_PROBES == 0:
            await send(b": \n\n")
        probes += 1
        await asyncio.sleep(PROBE_SECONDS)


def _link(socket: str) -> dict[str, Any]:
    try:
        return {"up": True, "socket": find_socket(socket).path, "message": ""}
    except (NoDaemonError, RefusedError) as error:
        return {"up": False, "socket": candidates(socket)[0].path, "message": error.message}


async def _send_events(
    open_client: Callable[[], AsyncClient], run_id: str, after_seq: int, send: Send
) -> None:
    """Sends each event once; an error of the daemon ends the events, but not the stream."""
    waiting = True
    while waiting:
        waiting = False
        try:
            async with (
                open_client() as client,
                client.watch(run_id, after_seq, children=True, patience_seconds=math.inf) as events,
            ):
                async for event in events:
                    await send(message("event", plain(event), event.seq if event.run_id == run_id else 0))
        except NoDaemonError:  # only before the first event; later the watch waits by itself
            waiting = True
            await asyncio.sleep(PROBE_SECONDS)
        except AeondError as error:
            await send(message("problem", {"reason": error.reason, "message": error.message}))
