"""The tools notify and open_on_desktop, for a daemon in the session of a user.

A daemon of the system has no session: there the tools do not exist. The programs run on the host, outside any sandbox.
"""

import html
import os
import shutil
import stat
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.path_matching import PathMatching, Wanted, file_target, proposing
from aeond.capabilities.tools.files.reading import FilePath
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target, TargetKind
from aeond.domain.tools import Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.errors import ToolError
from aeond.frozen import frozen

START_SECONDS: Final = 10.0
MAX_SAID_BYTES: Final = 500
NOTIFIER: Final = "busctl"
OPENER: Final = "xdg-open"
# Starts a program that gets the environment of the session, outlives the daemon, and stays when OPENER, which has started it, ends. In
# its arguments `$` begins a variable, and `$$` is a `$`.
_SERVICE: Final = ("systemd-run", "--user", "--collect", "--quiet", "--property=ExitType=cgroup", "--")
_PASSED: Final = """\
DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY XAUTHORITY HOME PATH LANG
XDG_CURRENT_DESKTOP XDG_DATA_DIRS XDG_CONFIG_DIRS
"""
_NOTIFICATIONS: Final = "org.freedesktop.Notifications"


class NotifyArguments(BaseModel):
    """What the notification says."""

    title: Annotated[str, Field(min_length=1, max_length=200, description="One line")]
    text: Annotated[str, Field(max_length=2_000, description="More lines")] = ""


class OpenArguments(BaseModel):
    """Which file."""

    path: FilePath


class Done(BaseModel):
    """That it was done."""

    done: str


@frozen
class Desktop:
    """The session of the user that the daemon runs as. `environment` is that of the programs started in it."""

    uid: int
    environment: Mapping[str, str]
    files: ContainedFiles
    threads: WorkerThreads

    def has(self, program: str) -> bool:
        return self._where(program) is not None

    async def run(self, program: str, *arguments: str) -> None:
        """Runs a program, and returns when it has ended or after START_SECONDS; then it goes on by itself. ToolError
        (reason DESKTOP_FAILED)."""
        command = [self._where(program) or program, *arguments]
        await self.threads.run(lambda _stopped: _run(command, self.environment))

    def require_user(self, context: ToolContext) -> None:
        """ToolError (reason DESKTOP_OF_OTHER_USER) unless the call is for the user of this session."""
        if context.uid not in (-1, self.uid):
            raise ToolError(
                "the desktop here belongs to another user: tell the user in the answer instead",
                reason="DESKTOP_OF_OTHER_USER",
            )

    def _where(self, program: str) -> str | None:
        return shutil.which(program, path=self.environment.get("PATH"))


def find_desktop(
    environment: Mapping[str, str], files: ContainedFiles, threads: WorkerThreads
) -> Desktop | None:
    """The session that this environment belongs to; None if it belongs to none."""
    bus = Path(environment.get("XDG_RUNTIME_DIR", "/nonexistent"), "bus")
    try:
        has_bus = bool(environment.get("DBUS_SESSION_BUS_ADDRESS")) or stat.S_ISSOCK(bus.stat().st_mode)
    except OSError:
        has_bus = False
    passed = {name: environment[name] for name in _PASSED.split() if name in environment}
    return Desktop(os.getuid(), passed, files, threads) if has_bus else None


def desktop_tools(desktop: Desktop) -> Sequence[FunctionTool]:
    makers = {NOTIFIER: notify_tool, OPENER: open_tool}
    return [make(desktop) for program, make in makers.items() if desktop.has(program)]


def notify_tool(desktop: Desktop) -> FunctionTool:
    async def touched(_arguments: NotifyArguments, _context: ToolContext) -> tuple[Target, ...]:
        return (Target(TargetKind.COMMAND, NOTIFIER, Access.USE),)

    async def preview(arguments: NotifyArguments, _context: ToolContext) -> CallPreview:
        return CallPreview(command=("notify", arguments.title, arguments.text))

    @tool(effect=Effect.EXEC_HOST, example={"title": "Tea is ready"}, targets=touched, preview=preview)
    async def notify(arguments: NotifyArguments, context: ToolContext) -> ToolOutput[Done]:
        """Shows the user a notification on the desktop."""
        desktop.require_user(context)
        call = ("/" + _NOTIFICATIONS.replace(".", "/"), _NOTIFICATIONS, "Notify", "susssasa{sv}i")
        shown = ("aeond", "0", "", arguments.title, html.escape(arguments.text, quote=False))
        options = ("--user", f"--timeout={START_SECONDS:g}", "--", "call", _NOTIFICATIONS)
        await desktop.run(NOTIFIER, *options, *call, *shown, "0", "0", "-1")
        return ToolOutput(Done(done="shown"), (RecordedEffect("notification.shown", arguments.title),))

    return notify


def open_tool(desktop: Desktop) -> FunctionTool:
    files, threads, matching = desktop.files, desktop.threads, PathMatching(desktop.files)

    async def meant(arguments: OpenArguments, context: ToolContext) -> Target:
        def found(stopped: Stopped) -> Target:
            path = matching.find(arguments.path, context.workspace, Wanted.FILE, stopped)
            return file_target(files, path, context.workspace, Access.READ)

        return await threads.run(found)

    async def touched(arguments: OpenArguments, context: ToolContext) -> tuple[Target, ...]:
        return (Target(TargetKind.COMMAND, OPENER, Access.USE), await meant(arguments, context))

    async def preview(arguments: OpenArguments, context: ToolContext) -> CallPreview:
        return CallPreview(command=(OPENER, (await meant(arguments, context)).name))

    @tool(
        effect=Effect.EXEC_HOST,
        example={"path": "map.png"},
        candidates={"path": proposing(files, threads, Wanted.FILE)},
        targets=touched,
        preview=preview,
    )
    async def open_on_desktop(arguments: OpenArguments, context: ToolContext) -> ToolOutput[Done]:
        """Opens a file in the user's usual application."""
        desktop.require_user(context)
        path = (await meant(arguments, context)).name
        manager = Path(desktop.environment.get("XDG_RUNTIME_DIR", "/nonexistent"), "systemd", "private")
        if manager.exists() and desktop.has("systemd-run"):
            await desktop.run(*_SERVICE, OPENER, path.replace("$", "$$"))
        else:
            await desktop.run(OPENER, path)
        return ToolOutput(Done(done=path), (RecordedEffect("file.opened", path),))

    return open_on_desktop


def _failed(program: str, why: str) -> ToolError:
    return ToolError(f"the desktop cannot be reached: {program}: {why}", reason="DESKTOP_FAILED")


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Blocking."""
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise _failed(command[0], str(error)) from error
        try:
            code = process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            threading.Thread(target=process.wait, name="desktop", daemon=True).start()
            return
        if code:
            said.seek(0)
            words = said.read(MAX_SAID_BYTES).decode(errors="replace").strip()
            raise _failed(command[0], words or f"exit code {code}")
