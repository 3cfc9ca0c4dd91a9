"""The bubblewrap sandbox: separate namespaces, no network, and no files except the workspace and Python."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import Process

import aeond
from aeond.capabilities.sandbox.conversing import END_SECONDS, answer_of, converse, ended
from aeond.capabilities.sandbox.messages import Request
from aeond.errors import ToolError
from aeond.ports import ToolAnswer

RUNNER: Final = ("-I", "-B", "-m", "aeond.capabilities.sandbox.runner")
MAX_WORDS: Final = 500  # maximum characters of error output kept of a runner that died
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime")


class Bubblewrap:
    """Implements Sandbox with `bwrap`: one process tree per errand, in a pid namespace that ends with it.

    The workspace is mounted under its own path and is writable; files and folders in `hidden` are not
    visible, even if they are inside it.
    """

    def __init__(self, program: str = "bwrap", hidden: Sequence[Path] = ()) -> None:
        self._program = program
        self._hidden = tuple(hidden)

    async def perform(self, request: Request, max_value_bytes: int) -> ToolAnswer:
        program = shutil.which(self._program)
        if program is None:
            raise unavailable("bubblewrap is not installed: apt-get install bubblewrap")
        options = [*self.options(request.context.workspace), sys.executable, *RUNNER]
        async with _running(program, options) as running:
            reader, writer = await asyncio.open_unix_connection(sock=running.ours)
            try:
                reply = await converse(reader, writer, request, max_value_bytes)
            except ToolError as error:
                if error.reason == "SANDBOX_ENDED":
                    raise ended(await running.last_words()) from error
                raise
            finally:
                writer.transport.abort()
        return answer_of(reply)

    def options(self, workspace: str) -> Sequence[str]:
        """The options of bubblewrap: remove everything, then add the few things that are needed."""
        options = ["--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL"]
        options += ["--die-with-parent", "--new-session", "--clearenv"]
        for name, value in (("LANG", "C.UTF-8"), ("PATH", "/usr/bin:/bin"), ("PYTHONUTF8", "1")):
            options += ["--setenv", name, value]
        # First, because Python itself may be installed below it.
        options += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - the sandbox's own
        for shown in [*_SYSTEM, *python_places()]:
            options += ["--ro-bind-try", shown, shown]
        if workspace:
            options += ["--bind", workspace, workspace]
            for place in self._hidden_in(Path(workspace)):
                options += (
                    ["--tmpfs", str(place)] if place.is_dir() else ["--ro-bind", "/dev/null", str(place)]
                )
        # Made read-only last: the mounts above need mount points.
        return [*options, "--remount-ro", "/", "--chdir", "/", "--"]

    def _hidden_in(self, workspace: Path) -> Sequence[Path]:
        real = workspace.resolve()
        return [place for place in self._hidden if place.is_relative_to(real) and os.access(place, os.F_OK)]


def python_places() -> Sequence[str]:
    """The folders of this Python, its libraries and aeond."""
    package = Path(aeond.__file__).parent
    found = dict.fromkeys([sys.prefix, sys.base_prefix])
    if not any(package.is_relative_to(place) for place in found):
        found[str(package)] = None
    return [place for place in found if not Path(place).is_relative_to("/usr")]


def unavailable(why: str) -> ToolError:
    return ToolError(f"no sandbox is available for this tool: {why}", reason="SANDBOX_UNAVAILABLE")


class _Running:
    """A process tree, our end of its connection, and the end of its error output."""

    def __init__(self, process: Process, ours: socket.socket) -> None:
        self._process = process
        self._first: int | None = None  # the first process of its namespace: its end ends all others
        self._said: deque[bytes] = deque(maxlen=8)
        self._silent = anyio.Event()
        self.ours = ours

    async def meet(self, news: int) -> None:
        """Reads the pid of the namespace's first process from bubblewrap."""
        told = b""
        while True:
            await anyio.wait_readable(news)
            piece = os.read(news, 1 << 12)
            told += piece
            if not piece:
                break
        if told:  # otherwise it could not even start
            with contextlib.suppress(ProcessLookupError):
                self._first = os.pidfd_open(json.loads(told)["child-pid"])

    async def keep_words(self) -> None:
        """Reads standard error until all its writers have exited, even if the caller is cancelled."""
        assert self._process.stderr is not None
        closed = (anyio.ClosedResourceError, anyio.BrokenResourceError)
        with anyio.CancelScope(shield=True), contextlib.suppress(*closed):
            async for piece in self._process.stderr:
                self._said.append(piece[-MAX_WORDS:])
        self._silent.set()

    async def last_words(self) -> str:
        with anyio.move_on_after(END_SECONDS):
            code = await self._process.wait()
            await self._silent.wait()
            said = b"".join(self._said).decode(errors="replace").strip().rpartition("\n")[2]
            return f"exit code {code}; {said[-MAX_WORDS:] or 'no error output'}"
        return "it timed out"

    async def end(self) -> None:
        """Kills the remaining processes and returns when they are gone."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        with anyio.move_on_after(END_SECONDS):
            if self._first is not None:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._first, signal.SIGKILL)
                await anyio.wait_readable(self._first)
            await self._silent.wait()
        if self._first is not None:
            os.close(self._first)
        await self._process.aclose()
        self.ours.close()


@contextlib.asynccontextmanager
async def _running(program: str, options: Sequence[str]) -> AsyncIterator[_Running]:
    """Starts bubblewrap; on exit, all its processes are gone."""
    with contextlib.ExitStack() as stack:
        ours, theirs = socket.socketpair()
        stack.callback(theirs.close)
        news, teller = os.pipe()
        stack.callback(os.close, news)
        with os.fdopen(teller, "wb") as telling:
            try:
                process = await anyio.open_process(
                    [program, "--info-fd", str(teller), *options],
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=subprocess.PIPE,
                    pass_fds=[telling.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise unavailable(f"{program} cannot be started ({error})") from error
        theirs.close()
        running = _Running(process, ours)
        failure: ToolError | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.keep_words)
            try:
                await running.meet(news)
                yield running
            except ToolError as error:  # bypasses the exception group, which would wrap it
                failure = error
            finally:
                with anyio.CancelScope(shield=True):
                    await running.end()
        if failure is not None:
            raise failure
