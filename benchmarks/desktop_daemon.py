"""Runs that the desktop window follows, sent by a scripted daemon in a process of its own.

usage: python -m benchmarks.desktop_daemon SOCKET {flood|steady|replay|restart|answer}
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from aeond.api.v1 import events_pb2
from tests.support import wire_events
from tests.support.popup_daemon import OneSession
from tests.support.scripted_daemon import ScriptedDaemon, ScriptedRun

FLOOD_PER_SECOND, FLOOD_SECONDS = 1_000, 5
STEADY_PER_SECOND, STEADY_SECONDS = 200, 10
REPLAYED = 5_000
# Characters of a piece of a streamed answer, about those of a token, and of the whole.
PIECE, ANSWER_LENGTH = 5, 25_000
# Longer than the window waits between two looks at the socket.
AWAY_SECONDS = 2.0
RESTARTS = 10
STEPS = 30  # more than the window has place for
_FIRST_WATCH_SECONDS = 120.0
_STEPS = [wire_events.tool_step(f"s{number}", "echo", text="hello " * 20) for number in range(1, STEPS + 1)]
_OUTPUT = "hello again\n" * 20
_LINE = "- **item** with `code` and a few words more\n"
_ANSWER = (_LINE * (ANSWER_LENGTH // len(_LINE) + 1))[:ANSWER_LENGTH]

Times = dict[int, float]  # by the number of an event, when it was sent


@contextmanager
def served(socket: Path, kind: str) -> Iterator[Times]:
    """A daemon whose run sends events. The times are complete after the context, by the monotonic clock of the machine."""
    command = [sys.executable, "-m", "benchmarks.desktop_daemon", str(socket), kind]
    times: Times = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == "ready\n"
        try:
            yield times
        finally:
            said, _ = daemon.communicate(timeout=30)
        times.update((int(seq), at) for seq, at in json.loads(said).items())


async def _serve(socket: Path, kind: str) -> None:
    """Creates one run at the first request and sends its events as `kind` says."""
    daemon = ScriptedDaemon(socket)
    daemon.catalogues.append(OneSession())  # type: ignore[abstract]  # the rest answers UNIMPLEMENTED
    beginning = [wire_events.created(), events_pb2.RunStarted(), wire_events.adopted(*_STEPS)]
    if kind == "replay":
        beginning += [_turn(number) for number in range(REPLAYED)] + _end()
    daemon.runs.script = lambda _request: beginning
    daemon.runs.batch = 20
    times: Times = {}
    async with daemon, anyio.create_task_group() as group:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if kind in _SENDERS:
            group.start_soon(_SENDERS[kind], daemon, times)
        await anyio.to_thread.run_sync(sys.stdin.read)
        group.cancel_scope.cancel()
    sys.stdout.write(json.dumps(times))


async def _flood(daemon: ScriptedDaemon, times: Times) -> None:
    await _send(await _watched(daemon), times, FLOOD_PER_SECOND, FLOOD_SECONDS, together=20)


async def _steady(daemon: ScriptedDaemon, times: Times) -> None:
    await _send(await _watched(daemon), times, STEADY_PER_SECOND, STEADY_SECONDS, together=1)


async def _answer(daemon: ScriptedDaemon, _times: Times) -> None:
    """Streams a long answer at the rate of the flood."""
    run = await _watched(daemon)
    begun = time.monotonic()
    for number, start in enumerate(range(0, ANSWER_LENGTH, PIECE)):
        if number % 20 == 0:
            await anyio.sleep(max(begun + number / FLOOD_PER_SECOND - time.monotonic(), 0))
        run.append(events_pb2.TextDelta(text=_ANSWER[start : start + PIECE], offset=start))
    for kind in _end(_ANSWER):
        run.append(kind)


async def _restart(daemon: ScriptedDaemon, times: Times) -> None:
    """Ends as at a crash of the daemon; back again, it sends at once what happened meanwhile. Several times."""
    for number in range(RESTARTS):
        run = await _watched(daemon)
        await daemon.stop()
        await anyio.sleep(AWAY_SECONDS + number / RESTARTS / 2)  # at different times between two attempts
        run.append(_turn(number))
        times[len(run.numbered)] = time.monotonic()
        await daemon.start()
    for kind in _end():
        run.append(kind)


async def _watched(daemon: ScriptedDaemon) -> ScriptedRun:
    """The run, once the window follows it."""
    await daemon.runs.open_watches.reaches(1, _FIRST_WATCH_SECONDS)
    (run,) = daemon.runs.runs.values()
    return run


async def _send(run: ScriptedRun, times: Times, rate: int, seconds: int, *, together: int) -> None:
    begun = time.monotonic()
    for number in range(rate * seconds):
        if number % together == 0:
            await anyio.sleep(max(begun + number / rate - time.monotonic(), 0))
        run.append(_turn(number))
        times[len(run.numbered)] = time.monotonic()
    for kind in _end():
        run.append(kind)


_SENDERS: dict[str, Callable[[ScriptedDaemon, Times], Coroutine[Any, Any, None]]] = {
    "flood": _flood,
    "steady": _steady,
    "restart": _restart,
    "answer": _answer,
}


def _turn(number: int) -> Any:
    """The steps start and end, one after the other, again and again."""
    step = _STEPS[number // 2 % len(_STEPS)]
    return wire_events.step_ended(step.step_id, _OUTPUT) if number % 2 else wire_events.step_started(step)


def _end(answer: str = "Done.") -> list[Any]:
    return [wire_events.composed(answer), wire_events.ended()]


if __name__ == "__main__":
    anyio.run(_serve, Path(sys.argv[1]), sys.argv[2])
