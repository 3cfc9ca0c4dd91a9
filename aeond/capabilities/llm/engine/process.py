"""An engine's server program as a child process that cannot outlive us."""

import contextlib
import json
import os
import signal
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process, TaskGroup

from aeond.capabilities.llm.models.store import ShowProgress
from aeond.errors import LLMError, LLMGoneError

MAX_LINE_BYTES = 1 << 16
MAX_LOG_LINES = 40
END_SECONDS = 5.0
LOOK_SECONDS = 0.02
PID_FILE = "engine.json"


def ignore_progress(_activity: str, _done: float) -> None:
    """For those who do not want to know how far a program is."""


class EngineProcess:
    """A running server program: its last log lines, its end, and the way to end it.

    `pid` is also the id of its process group, for it is started as the leader of a session of its own.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self.start_ticks = start_ticks(process.pid)
        self._log: deque[str] = deque(maxlen=MAX_LOG_LINES)
        self._log_ended = anyio.Event()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        """The last lines it wrote to standard error."""
        return "\n".join(self._log)

    def last_words(self) -> str:
        """The last three lines of the log, short enough for a message."""
        return "; ".join(line[:200] for line in [*self._log][-3:])

    async def wait_ready(self, show: ShowProgress = ignore_progress) -> None:
        """Returns when the program reports that it is ready; `show` receives the progress it reports until then.

        Raises LLMError (reason MODEL_UNUSABLE or ENGINE_OUT_OF_MEMORY) with the program's own words when it says why it cannot be,
        LLMGoneError when it ends without a word.
        """
        assert self._process.stdout is not None
        async for line in lines_of(self._process.stdout):
            said = report(line)
            if said.get("ready") is True:
                return
            if "activity" in said:
                show(*progress_of(said))
            if "error" in said:
                causes = "; ".join([str(said["error"]), *await self._errors_logged()])
                raise cannot_load(causes, said)
        code = await self._process.wait()
        raise LLMGoneError(f"The engine ended while it loaded ({describe_exit(code)}).", retryable=True)

    async def ended(self) -> str:
        """How it ended, in words, once it has by whatever cause."""
        return describe_exit(await self._process.wait())

    async def keep_log(self) -> None:
        """Reads standard error until the program ends; keeps the last lines."""
        assert self._process.stderr is not None
        try:
            async for line in lines_of(self._process.stderr):
                self._log.append(line)
        finally:
            self._log_ended.set()

    def kill(self) -> None:
        """Kills the whole process group at once, also what is left of it when its leader has ended."""
        # The group outlives its leader as long as it has members, and its number is not given to others; once it
        # is, the leader's start tells.
        if start_ticks(self.pid) in (None, self.start_ticks):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Tells the program to end, so that it can remove what it made, and kills what is left of its group."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        with anyio.move_on_after(END_SECONDS):
            await self._process.wait()
            for _ in range(round(END_SECONDS / LOOK_SECONDS)):
                if not self._has_group():
                    break
                await anyio.sleep(LOOK_SECONDS)
        self.kill()
        await self._process.wait()

    def _has_group(self) -> bool:
        """Whether anything is left of the process group once its leader is gone."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        return start_ticks(self.pid) in (None, self.start_ticks)

    async def _errors_logged(self) -> list[str]:
        """What the engine logged as errors, once its log is complete."""
        with anyio.move_on_after(5):
            await self._log_ended.wait()
        return [line.split(" E ", 1)[1].strip() for line in self._log if " E " in line][-3:]


def report(line: str | bytes) -> Mapping[str, Any]:
    """What a program says in one line of its standard output; nothing when it is no JSON object."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def cannot_load(causes: str, said: Mapping[str, Any]) -> LLMError:
    """What a program's report of an error means: by its own word that there is no room, or that the model is at
    fault."""
    no_room = said.get("reason") == "ENGINE_OUT_OF_MEMORY"
    return LLMError(
        f"The engine cannot load this model: {causes}",
        reason="ENGINE_OUT_OF_MEMORY" if no_room else "MODEL_UNUSABLE",
    )


def progress_of(said: Mapping[str, Any]) -> tuple[str, float]:
    """The activity of a report, and how far it is, 0..1."""
    done = said.get("progress")
    share = min(max(float(done), 0.0), 1.0) if isinstance(done, int | float) else 0.0
    return str(said["activity"])[:80], share


@contextlib.asynccontextmanager
async def engine_process(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], tasks: TaskGroup
) -> AsyncIterator[EngineProcess]:
    """Starts the command in `folder`; at the end of the block it ends, and its whole process group with it.

    A pid file in `folder` lets the next daemon find what this one could not kill. `tasks` takes the reader
    of the log, which ends with the process.
    """
    process = await anyio.open_process(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(environment),
        start_new_session=True,
    )
    engine = EngineProcess(process)
    pid_file = folder / PID_FILE
    try:
        pid_file.write_text(json.dumps({"pid": engine.pid, "start_ticks": engine.start_ticks}))
        tasks.start_soon(engine.keep_log)
        yield engine
    finally:
        with anyio.CancelScope(shield=True):
            await engine.end()
            await process.aclose()
        pid_file.unlink(missing_ok=True)


def clean_environment() -> dict[str, str]:
    """What an engine may know: nothing of ours, and not to spin for long while its threads wait for each other.

    A thousand turns of a loop: asleep each waits as long again for its core to wake, hundreds of times a token; and
    one that spins for long keeps the core from the very thread it waits for (ADR 0045).
    """
    return {
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        "OMP_WAIT_POLICY": "passive",
        "GOMP_SPINCOUNT": "1000",
    }


async def lines_of(stream: ByteReceiveStream) -> AsyncIterator[str]:
    """The stream's lines, each cut at 64 KiB. Also ends when the stream is closed on this side."""
    rest = b""
    with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async for piece in stream:
            *complete, rest = (rest + piece).split(b"\n")
            rest = rest[:MAX_LINE_BYTES]
            for line in complete:
                yield line[:MAX_LINE_BYTES].decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def mapped_bytes(pid: int) -> int:
    """How much of the files that a process maps is in memory: a model's, and a little of its program's."""
    with contextlib.suppress(OSError):
        shared_pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[2]
        return int(shared_pages) * os.sysconf("SC_PAGE_SIZE")
    return 0  # it has just ended


def start_ticks(pid: int) -> int | None:
    """When the process started, in the kernel's ticks since boot; None when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])


def sweep(folder: Path) -> int | None:
    """Kills the engine that a crashed daemon left in `folder`; returns its pid, None if there was none.

    Only a process that is provably that one is killed: the pid from the pid file, started at the same time,
    with this folder in its command line.
    """
    pid_file = folder / PID_FILE
    try:
        left = json.loads(pid_file.read_text())
        pid, ticks = int(left["pid"]), int(left["start_ticks"])
    except (OSError, ValueError, TypeError, KeyError):
        pid_file.unlink(missing_ok=True)
        return None
    swept = None
    with contextlib.suppress(OSError):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if start_ticks(pid) == ticks and os.fsencode(folder) in command:
            os.killpg(pid, signal.SIGKILL)
            swept = pid
    pid_file.unlink(missing_ok=True)
    return swept
