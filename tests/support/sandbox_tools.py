"""Tools that a sandbox must bear: each misbehaves in a way of its own."""

import ctypes
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from pydantic import BaseModel

from aeond.capabilities.sandbox.live_output import show
from aeond.capabilities.tools.function_tool import tool
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import Effect, RecordedEffect, ToolContext, ToolOutput, ToolSpec
from aeond.domain.values import JsonObject
from aeond.errors import ToolError


class Arguments(BaseModel):
    text: str = ""
    number: int = 0


class Result(BaseModel):
    value: Any = None


@tool(effect=Effect.PURE)
def give_back(arguments: Arguments, context: ToolContext) -> Result:
    """Gives a text back, and prints it where it must not disturb."""
    sys.stdout.write(arguments.text)
    return Result(value=arguments.text)


@tool(effect=Effect.WRITE_CONTAINED)
def create(arguments: Arguments, context: ToolContext) -> ToolOutput[Result]:
    """Creates a file and reports it."""
    Path(context.workspace, arguments.text).write_text("new", encoding="utf-8")
    effect = RecordedEffect("file.created", arguments.text, "3 bytes")
    return ToolOutput(Result(value=arguments.text), (effect,))


@tool(effect=Effect.PURE)
async def fail(arguments: Arguments, context: ToolContext) -> Result:
    """Says that it failed."""
    raise ToolError(arguments.text, reason="SHOP_CLOSED", retryable=True)


@tool(effect=Effect.WRITE_CONTAINED)
def break_off(arguments: Arguments, context: ToolContext) -> Result:
    """Creates a file, reports it at once, and fails."""
    Path(context.workspace, arguments.text).write_text("new", encoding="utf-8")
    context.record(RecordedEffect("file.created", arguments.text, "3 bytes"))
    raise ToolError("no more", reason="SHOP_CLOSED")


@tool(effect=Effect.PURE)
def crash(arguments: Arguments, context: ToolContext) -> Result:
    """Raises what no tool should."""
    raise ZeroDivisionError(arguments.text)


@tool(effect=Effect.PURE)
def leave(arguments: Arguments, context: ToolContext) -> Result:
    """Ends its process without an answer."""
    sys.stderr.write("so long\n")
    sys.stderr.flush()
    os._exit(arguments.number)


@tool(effect=Effect.PURE)
def fill(arguments: Arguments, context: ToolContext) -> Result:
    """Gives so many letters, or wants so many bytes of memory and gives none."""
    return Result(value="x" * arguments.number if arguments.text == "give" else len(bytes(arguments.number)))


@tool(effect=Effect.PURE, timeout_seconds=1.0)
def spin(arguments: Arguments, context: ToolContext) -> Result:
    """Computes in native code that holds the interpreter, and does not end."""
    return Result(value=bool(re.match(r"(a|aa)+$", "a" * 200 + "b")))


@tool(effect=Effect.WRITE_CONTAINED)
def write(arguments: Arguments, context: ToolContext) -> Result:
    """Writes into the workspace and tells what is there."""
    folder = Path(context.workspace)
    (folder / arguments.text).parent.mkdir(exist_ok=True)
    (folder / arguments.text).write_text(str(arguments.number), encoding="utf-8")
    return Result(value=sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()))


@tool(effect=Effect.WRITE_CONTAINED)
def remove(arguments: Arguments, context: ToolContext) -> Result:
    """Removes a file of the workspace."""
    (Path(context.workspace) / arguments.text).unlink()
    return Result()


@tool(effect=Effect.WRITE_CONTAINED)
def rename(arguments: Arguments, context: ToolContext) -> Result:
    """Renames a file or folder of the workspace."""
    (Path(context.workspace) / arguments.text).rename(Path(context.workspace, "renamed"))
    return Result()


@tool(effect=Effect.READ)
def peek(arguments: Arguments, context: ToolContext) -> Result:
    """Tells what it can see: a file, its environment, the networks, its user, its capabilities."""
    try:
        seen = Path(arguments.text).read_text(encoding="utf-8")
    except OSError as error:
        seen = type(error).__name__
    networks = Path("/proc/self/net/dev").read_text(encoding="utf-8").splitlines()[2:]
    said = Path("/proc/self/status").read_text(encoding="utf-8")
    return Result(
        value={
            "file": seen,
            "environment": sorted(os.environ),
            "networks": [line.split(":")[0].strip() for line in networks],
            "uid": os.getuid(),
            "capabilities": re.findall(r"CapEff:\s*(\S+)", said),
        }
    )


@tool(effect=Effect.EXEC_CONTAINED)
def linger(arguments: Arguments, context: ToolContext) -> Result:
    """Leaves a process behind that has a session of its own and closed what it could."""
    child = subprocess.Popen(
        ["/bin/sleep", arguments.text],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE: harder to find
    return Result(value=child.pid)


@tool(effect=Effect.EXEC_CONTAINED, timeout_seconds=600.0)
async def hold(arguments: Arguments, context: ToolContext) -> Result:
    """Starts a process and waits for its end."""
    return Result(value=(await anyio.run_process(["/bin/sleep", arguments.text])).returncode)


@tool(effect=Effect.READ)
def tell(arguments: Arguments, context: ToolContext) -> Result:
    """Shows the lines of a text while it works; without end if a number is given."""
    lines = arguments.text.splitlines(keepends=True)
    while True:
        for line in lines:
            show(line)
        if not arguments.number:
            return Result(value=len(lines))


@tool(effect=Effect.WRITE_CONTAINED)
def overwrite(arguments: Arguments, context: ToolContext) -> Result:
    """Writes to every file of the workspace, and makes new ones beside them, as far as it may; renames what it may not."""
    folder = Path(context.workspace)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        try:
            path.write_text("new", encoding="utf-8")
        except OSError:
            with suppress(OSError):
                path.rename(folder / "renamed")
            with suppress(OSError):
                path.parent.rename(folder / "renamed")
            with suppress(OSError):
                (path.parent / "beside").touch()
                (path.parent / "beside").unlink()
    return Result()


class Asking:
    """Wants to know something of a person."""

    spec = ToolSpec("wonder", "Asks a person.", {"type": "object"}, {}, Effect.READ)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> InputRequest:
        return InputRequest("Why?", options=("because", "so"), deadline_seconds=60.0)

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> None:
        return None


class Delegating:
    """Has a run of its own do the work."""

    spec = ToolSpec("delegate", "Has others do it.", {"type": "object"}, {}, Effect.READ)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> SubtaskRequest:
        return SubtaskRequest("Look into it.", {"text": "the matter"}, ("summary",))

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> None:
        return None


TOOLS = [
    Asking(),
    Delegating(),
    give_back,
    tell,
    overwrite,
    create,
    fail,
    break_off,
    crash,
    leave,
    fill,
    spin,
    write,
    remove,
    rename,
    peek,
    linger,
    hold,
]
