"""The bubblewrap sandbox: separate namespaces, no network, and no files except the workspace and Python."""

import asyncio
import contextlib
import errno
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import Process

from aeond.bound_folders import is_folder, open_bound
from aeond.capabilities.sandbox.cgroups import Group, GroupHome
from aeond.capabilities.sandbox.confinement import landlock
from aeond.capabilities.sandbox.confinement.process import MAX_TEMPORARY_BYTES, SYSTEM, python_places
from aeond.capabilities.sandbox.conversing import END_SECONDS, USUAL, Conditions, answer_of, converse, ended
from aeond.capabilities.sandbox.exit_hooks import EXIT_SECONDS
from aeond.capabilities.sandbox.messages import Request
from aeond.domain.tools import Workspace
from aeond.errors import ToolError
from aeond.plain_files import own_code
from aeond.ports import ToolAnswer
from aeond.thread_rights import acting_as, take_rights
from aeond.user_rights import UserRights

RUNNER: Final = ("-I", "-B", "-m", "aeond.capabilities.sandbox.runner")
MAX_WORDS: Final = 500  # maximum characters of error output kept of a runner that died
MAX_SHARED_BYTES: Final = 64 << 20
_PLACE: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class Bubblewrap:
    """Implements Sandbox with `bwrap`: one process tree per errand, in a pid namespace that ends with it.

    The workspace is mounted under its own path and is writable; files and folders in `hidden` are not
    visible, even if they are inside it. With `groups`, a control group bounds all processes of an errand together.
    """

    def __init__(
        self, program: str = "bwrap", hidden: Sequence[Path] = (), groups: GroupHome | None = None
    ) -> None:
        self._program = program
        self._hidden = tuple(hidden)
        self._groups = groups

    @property
    def profile(self) -> str:
        """The layers, with a digest of the options and of the hidden places."""
        layers = ["bubblewrap", "seccomp"]
        if found := landlock.version():
            layers.append(f"landlock-{found}")
        if self._groups is not None:
            layers.append("cgroup")
        fixed = "\0".join([*NAMESPACES, "", *map(str, self._hidden)])
        return f"{'+'.join(layers)}:{sha256(os.fsencode(fixed)).hexdigest()[:8]}"

    async def perform(
        self, request: Request, max_value_bytes: int, conditions: Conditions = USUAL
    ) -> ToolAnswer:
        program = shutil.which(self._program)
        if program is None:
            raise unavailable("bubblewrap is not installed: apt-get install bubblewrap")
        with contextlib.ExitStack() as stack:
            view, workspace = View(stack), request.context.workspace
            rights = Workspace.rights_of(workspace)
            showing = partial(view.show, workspace, self._hidden, conditions)
            await anyio.to_thread.run_sync(acting_as, rights, showing)
            group = None
            if self._groups is not None:
                group = stack.enter_context(made_group(self._groups, request.limits.memory_bytes))
            command = [*NAMESPACES, *view.options, "--", sys.executable, *RUNNER]
            async with running(program, command, view.descriptors, group, rights) as tree:
                reader, writer = await asyncio.open_unix_connection(sock=tree.ours)
                try:
                    reply = await converse(reader, writer, request, max_value_bytes, conditions.show)
                except ToolError as error:
                    if error.reason == "SANDBOX_ENDED":
                        raise ended(await tree.last_words()) from error
                    raise
                finally:
                    writer.transport.abort()
                    await tree.exited()
        return answer_of(reply, request.context.record)


NAMESPACES: Final = (
    *("--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL"),
    *("--die-with-parent", "--new-session", "--clearenv", "--chdir", "/"),
    *("--setenv", "LANG", "C.UTF-8", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "PYTHONUTF8", "1"),
)


class View:
    """The files that one process tree sees, as options of bubblewrap, and the descriptors that these name."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._root = ""
        self._mounted: dict[str, int] = {}
        self._covered: list[Path] = []
        self.descriptors: list[int] = []
        self.options = ["--proc", "/proc", "--dev", "/dev"]
        self.options += ["--size", str(MAX_SHARED_BYTES), "--tmpfs", "/dev/shm"]  # noqa: S108 - the sandbox's own
        # First, because Python itself may be installed below it.
        self.options += ["--size", str(MAX_TEMPORARY_BYTES), "--tmpfs", "/tmp"]  # noqa: S108 - the same
        for shown in [*SYSTEM, *python_places()]:
            self.options += ["--ro-bind-try", shown, shown]

    def show(self, workspace: str, hidden: Sequence[Path], conditions: Conditions) -> None:
        """Blocking. Adds the workspace without the hidden places, writable as far as the errand may change it, and as far as
        the user may reach it whose rights it is used with. ToolError (reason WORKSPACE_MISSING, WORKSPACE_CHANGED,
        SANDBOX_UNAVAILABLE, and WORKSPACE_REFUSED if a hidden place does not exist and the errand could create it).
        """
        if workspace:
            _require_python(Workspace.rights_of(workspace))
            try:
                folder = self._kept(
                    open_bound(workspace, Workspace.identity_of(workspace), Workspace.rights_of(workspace))
                )
                self._show(folder, workspace, hidden, conditions)
            except OSError as error:
                raise ToolError(
                    f"the workspace {workspace} cannot be shown to the sandbox ({error.strerror}):"
                    " choose another workspace",
                    reason="WORKSPACE_MISSING",
                ) from error
        self.close()

    def add(self, path: str, hidden: Sequence[Path], *, writable: bool) -> None:
        """Blocking. Adds a folder under its own path, without the hidden places. OSError if there is none, ToolError (reason
        WORKSPACE_REFUSED) as `show`.
        """
        folder = self._kept(os.open(path, _PLACE & ~os.O_NOFOLLOW | os.O_DIRECTORY))
        self._show(folder, path, hidden, Conditions({"": writable}))

    def close(self) -> None:
        # Read-only last: the mounts above need mount points.
        self.options += ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]

    def _show(self, folder: int, root: str, hidden: Sequence[Path], conditions: Conditions) -> None:
        """Mounts the folder at `root`, which covers what was mounted below it, and then everything below it that has
        another permission.
        """
        conditions = _without_own_code(conditions, folder, root)
        self._root, self._mounted, self._covered = root, {"": folder}, []
        self._bind(folder, root, writable=conditions.may_change(""))
        for path in sorted(filter(None, conditions.writable)):  # a folder before what is below it
            self._mount(path.split("/"), conditions)
        for place in hidden:
            self._hide(place, conditions)

    def _mount(self, parts: Sequence[str], conditions: Conditions) -> int:
        """Mounts a path below the root once more, with a permission of its own, and every folder on the way, which as a
        mount point cannot be renamed. OSError if it does not exist or leads through a link.

        Each is mounted once: a second mount would cover the mounts below it, and show again what these hide.
        """
        here, way = self._mounted[""], ""
        for part in parts:
            way = f"{way}/{part}" if way else part
            if way in self._mounted:
                here = self._mounted[way]
                continue
            here = self._mounted[way] = self._kept(os.open(part, _PLACE, dir_fd=here))
            if stat.S_ISLNK(os.fstat(here).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), way)
            self._bind(here, f"{self._root}/{way}", writable=conditions.may_change(way))
        return here

    def _hide(self, place: Path, conditions: Conditions) -> None:
        """Hides a place if it is below the root, which other mounts and links may reach by another path.

        Every folder on the way becomes a mount point: these cannot be renamed, so that a later call does not find
        the place under another name. A missing place cannot be hidden, and what a tool puts there the daemon would
        trust: refused, unless the tool cannot create it either.
        """
        facts = os.fstat(self._mounted[""])
        above = next((one for one in place.parents if is_folder(one, facts)), None)
        if above is None:
            return
        below = place.relative_to(above)
        if any(below.is_relative_to(covered) for covered in self._covered):
            return
        *way, last = below.parts
        try:
            found = os.lstat(last, dir_fd=self._mount(way, conditions)).st_mode
        except FileNotFoundError:
            deepest = max((one for one in self._mounted if below.is_relative_to(one)), key=len)
            if not conditions.may_change(deepest):
                return
            raise ToolError(
                f"{place} is the daemon's and does not exist, so that a program in {self._root} could create it: create"
                " it or remove it from the configuration, or choose another workspace",
                reason="WORKSPACE_REFUSED",
            ) from None
        self._covered.append(below)
        path = f"{self._root}/{below}"
        self.options += ["--tmpfs", path] if stat.S_ISDIR(found) else ["--ro-bind", "/dev/null", path]

    def _bind(self, place: int, path: str, *, writable: bool = True) -> None:
        self.options += ["--bind-fd" if writable else "--ro-bind-fd", str(place), path]

    def _kept(self, descriptor: int) -> int:
        self._stack.callback(os.close, descriptor)
        self.descriptors.append(descriptor)
        return descriptor


def _without_own_code(conditions: Conditions, folder: int, root: str) -> Conditions:
    """The conditions without permission to change the code that the daemon runs, where the folder has or is part of it."""
    facts = os.fstat(folder)
    closed: dict[str, bool] = {}
    for place in map(Path, own_code()):
        above = next((one for one in (place, *place.parents) if is_folder(one, facts)), None)
        if above is not None:
            closed["" if above == place else str(place.relative_to(above))] = False
        elif Path(root).is_relative_to(place):
            closed[""] = False
    return replace(conditions, writable={**conditions.writable, **closed}) if closed else conditions


def _require_python(rights: UserRights | None) -> None:
    """Blocking. ToolError (reason SANDBOX_UNAVAILABLE) if Python cannot be reached with these rights."""
    if rights is None:
        return
    take_rights(rights)
    for place in python_places():
        try:
            Path(place).stat()
        except OSError as error:
            raise unavailable(
                f"user {rights.uid} cannot reach {place} ({error.strerror}): have aeond installed where all users"
                " may read it"
            ) from error


@contextlib.contextmanager
def made_group(groups: GroupHome, memory_bytes: int) -> Iterator[Group]:
    with contextlib.ExitStack() as stack:
        try:
            group = stack.enter_context(groups.group(memory_bytes))
        except OSError as error:
            raise unavailable(f"a control group cannot be made ({error})") from error
        yield group


def unavailable(why: str) -> ToolError:
    return ToolError(f"no sandbox is available for this tool: {why}", reason="SANDBOX_UNAVAILABLE")


class Running:
    """A process tree, our end of its connection, and the end of its error output."""

    def __init__(self, process: Process, ours: socket.socket) -> None:
        self._process = process
        self._first: int | None = None  # the first process of its namespace: its end ends all others
        self._said: deque[bytes] = deque(maxlen=8)
        self._silent = anyio.Event()
        self.ours = ours

    async def meet(self, news: int, group: Group | None) -> None:
        """Reads the pid of the namespace's first process from bubblewrap, and adds it to the group."""
        status = b""
        while True:
            await anyio.wait_readable(news)
            piece = os.read(news, 1 << 12)
            status += piece
            if not piece:
                break
        if status:  # otherwise it could not even start
            pid = json.loads(status)["child-pid"]
            with contextlib.suppress(ProcessLookupError):
                self._first = os.pidfd_open(pid)
                if group is not None:
                    _join(group, pid)

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

    async def exited(self) -> None:
        """Waits up to EXIT_SECONDS for the exit of a process that has seen its connection close, even if the caller is
        cancelled."""
        with anyio.move_on_after(EXIT_SECONDS, shield=True):
            await self._process.wait()

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


def _identity(rights: UserRights | None) -> dict[str, Any]:
    if rights is None:
        return {}
    return {"user": rights.uid, "group": rights.gid, "extra_groups": rights.group_ids}


def _join(group: Group, pid: int) -> None:
    try:
        group.add(pid)
    except ProcessLookupError:
        raise
    except OSError as error:
        raise unavailable(f"a process cannot be added to its control group ({error})") from error


@contextlib.asynccontextmanager
async def running(
    program: str,
    command: Sequence[str],
    descriptors: Sequence[int],
    group: Group | None,
    rights: UserRights | None = None,
) -> AsyncIterator[Running]:
    """Starts bubblewrap, with the rights of a user if given; on exit, all its processes are gone. The command begins once
    it is in its group.
    """
    with contextlib.ExitStack() as stack:
        ours, theirs = socket.socketpair()
        stack.callback(theirs.close)
        news, teller = os.pipe()
        stack.callback(os.close, news)
        waiting, releaser = os.pipe()
        stack.callback(os.close, waiting)
        with os.fdopen(releaser, "wb", buffering=0) as release:
            with os.fdopen(teller, "wb"):
                try:
                    process = await anyio.open_process(
                        [program, "--info-fd", str(teller), "--block-fd", str(waiting), *command],
                        stdin=theirs.fileno(),
                        stdout=theirs.fileno(),
                        stderr=subprocess.PIPE,
                        pass_fds=[teller, waiting, *descriptors],
                        env={},  # what bubblewrap has, its first process shows to the sandbox
                        start_new_session=True,
                        **_identity(rights),
                    )
                except OSError as error:
                    ours.close()
                    raise unavailable(f"{program} cannot be started ({error})") from error
            theirs.close()
            tree = Running(process, ours)
            failure: ToolError | None = None
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(tree.keep_words)
                try:
                    await tree.meet(news, group)
                    release.write(b"\n")
                    yield tree
                except ToolError as error:  # bypasses the exception group, which would wrap it
                    failure = error
                finally:
                    with anyio.CancelScope(shield=True):
                        await tree.end()
            if failure is not None:
                raise failure
