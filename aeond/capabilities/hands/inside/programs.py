"""Runs programs one after the other, shows their output while they run, and keeps its beginning and its end."""

import codecs
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from aeond.capabilities.sandbox.exit_hooks import before_exit
from aeond.capabilities.sandbox.live_output import show
from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject

MAX_SHOWN_BYTES: Final = 512 << 10
READ_BYTES: Final = 1 << 15
_now: Final = time.monotonic  # noqa: TID251 - in a process of its own
ENDING_SECONDS: Final = 2.0  # from SIGTERM, at which git for example removes its locks, to SIGKILL
MAX_READS: Final = 64  # in a row, of an output that others may go on writing


class Kept:
    """The first and the last bytes of an output, at most `limit` in all; `omitted` counts those between them."""

    def __init__(self, limit: int) -> None:
        self._room = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.omitted = 0

    def add(self, piece: bytes) -> None:
        taken = self._room - len(self._head)
        self._head += piece[:taken]
        if rest := piece[taken:]:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
        while self._tail_bytes > self._room:
            oldest = self._tail.popleft()
            surplus = min(self._tail_bytes - self._room, len(oldest))
            self.omitted += surplus
            self._tail_bytes -= surplus
            if oldest[surplus:]:
                self._tail.appendleft(oldest[surplus:])

    def text(self) -> str:
        """The output; a line in the middle says how much was left out."""
        head, tail = bytes(self._head), b"".join(self._tail)
        if not self.omitted:
            return (head + tail).decode(errors="replace")
        gap = f"\n[... {self.omitted} bytes left out ...]\n"
        return head.decode(errors="replace") + gap + tail.decode(errors="replace")


class Shown:
    """Shows text while it comes, up to a limit."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._left = MAX_SHOWN_BYTES

    def add(self, piece: bytes) -> None:
        if self._left > 0 and (text := self._decode(piece)):
            show(text)
        self._left -= len(piece)


def run(
    argv: Sequence[str],
    *,
    folder: str,
    environment: Mapping[str, str],
    seconds: float,
    kept_bytes: int,
    merged: bool,
) -> Mapping[str, Any]:
    """Runs a program to its end, or ends it and all processes of its group after `seconds`: by SIGTERM, and after
    ENDING_SECONDS by SIGKILL. A cancelled call does the same.

    `exit_code` is 128 and the signal's number for a program that a signal ended, 127 if it cannot be started. With
    `merged`, error output is part of `output`, in the order in which it was written. `clipped` says that a part of the
    output is missing.
    """
    begun = _now()
    try:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return _result(127, "", str(error), 0.0)
    shown = Shown()
    with process, before_exit(partial(_end, process)):  # closes the pipes
        pipes = [pipe for pipe in (process.stdout, process.stderr) if pipe]
        outputs = {pipe.fileno(): Kept(kept_bytes) for pipe in pipes}
        stopped = _watched(process, outputs, shown, begun + seconds)
    code = process.returncode
    texts = [kept.text() for kept in outputs.values()]
    return _result(
        code if code >= 0 else 128 - code,
        texts[0],
        "" if merged else texts[1],
        _now() - begun,
        stopped=stopped,
        clipped=any(kept.omitted for kept in outputs.values()),
    )


def _watched(
    process: "subprocess.Popen[bytes]", outputs: Mapping[int, Kept], shown: Shown, end: float
) -> bool:
    """Reads the outputs until the program ends, or ends it at `end`: whether it was ended."""
    ended, stopped = os.pidfd_open(process.pid), False
    with selectors.DefaultSelector() as waiting:
        for descriptor in (ended, *outputs):
            os.set_blocking(descriptor, False)
            waiting.register(descriptor, selectors.EVENT_READ)
        over = False
        while not over:
            ready = {key.fd for key, _ in waiting.select(max(end - _now(), 0))}
            over = ended in ready
            if not over and _now() >= end:  # also of a program that never stops writing
                over = stopped
                os.killpg(process.pid, signal.SIGKILL if stopped else signal.SIGTERM)
                stopped, end = True, _now() + ENDING_SECONDS
            for descriptor, kept in outputs.items():
                if over or descriptor in ready:
                    at_end = _read(descriptor, kept, shown)
                    if at_end and descriptor in waiting.get_map():
                        waiting.unregister(descriptor)
    if stopped:  # the rest of its group, which exists as long as its first process was not awaited
        os.killpg(process.pid, signal.SIGKILL)
    os.close(ended)
    return stopped


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Blocking. Asks the program to end, and waits for that."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDING_SECONDS)


def _read(descriptor: int, kept: Kept, shown: Shown) -> bool:
    """Reads what is there, though not without end: whether the output has ended."""
    with suppress(BlockingIOError):
        for _ in range(MAX_READS):
            piece = os.read(descriptor, READ_BYTES)
            if not piece:
                return True
            kept.add(piece)
            shown.add(piece)
    return False


def _result(
    exit_code: int, output: str, errors: str, seconds: float, *, stopped: bool = False, clipped: bool = False
) -> Mapping[str, Any]:
    return {
        "exit_code": exit_code,
        "output": output,
        "errors": errors,
        "seconds": round(seconds, 3),
        "stopped": stopped,
        "clipped": clipped,
    }


class Programs:
    """Runs the programs of `argvs` until one fails or is stopped; the result has one entry for each that was run."""

    spec = ToolSpec("programs", "Runs programs.", {"type": "object"}, {}, Effect.EXEC_CONTAINED)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> Any:
        given: Any = arguments
        home = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - the sandbox's own
        usual = {"HOME": home, "TMPDIR": home, "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1"}
        end = _now() + given["seconds"]
        results: list[Mapping[str, Any]] = []
        for argv in given["argvs"]:
            results.append(
                run(
                    argv,
                    folder=context.workspace or home,
                    environment={**usual, **given["environment"]},
                    seconds=max(end - _now(), 0.0),
                    kept_bytes=given["kept_bytes"],
                    merged=given["merged"],
                )
            )
            if results[-1]["exit_code"] or results[-1]["stopped"]:
                break
        return results


TOOLS = [Programs()]
