"""The tools run_command and run_python."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.hands.workshop import GRACE_SECONDS, SETTLE_SECONDS, Ran, Workshop
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.names import nearest
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target, TargetKind
from aeond.domain.tools import Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.errors import ToolError

MAX_SECONDS: Final = 600
MAX_OUTPUT_BYTES: Final = 32 << 10
MAX_WORDS: Final = 64
MAX_WORD_CHARS: Final = 4_000
MAX_CODE_CHARS: Final = 32_000
CALL_SECONDS: Final = MAX_SECONDS + GRACE_SECONDS + 2 * SETTLE_SECONDS
PROGRAM_FOLDERS: Final = ("/usr/bin", "/bin")
_NOT_STARTED: Final = 127
_CANDIDATES: Final = 5
_ALIKE: Final = 0.5

Seconds = Annotated[int, Field(ge=1, le=MAX_SECONDS, description="Longest duration in seconds")]


class RunCommandArguments(BaseModel):
    """A program and its arguments."""

    argv: Annotated[
        list[Annotated[str, Field(max_length=MAX_WORD_CHARS)]],
        Field(min_length=1, max_length=MAX_WORDS, description="Program and arguments"),
    ]
    seconds: Seconds = 60


class RunPythonArguments(BaseModel):
    """A program in Python."""

    code: Annotated[
        str, Field(min_length=1, max_length=MAX_CODE_CHARS, description="Code that prints its result")
    ]
    seconds: Seconds = 60


class CommandResult(BaseModel):
    """What a program left: 0 for success. `note` is empty if there is nothing to say."""

    exit_code: int
    note: str
    output: str


def run_command_tool(workshop: Workshop) -> FunctionTool:
    async def touched(arguments: RunCommandArguments, context: ToolContext) -> tuple[Target, ...]:
        return (Target(TargetKind.COMMAND, words(arguments.argv)[0], Access.USE), *workspace_targets(context))

    async def preview(arguments: RunCommandArguments, context: ToolContext) -> CallPreview:
        return CallPreview(command=tuple(words(arguments.argv)), target=context.workspace)

    async def require_program(name: str) -> None:
        """ToolError (reason PROGRAM_NOT_FOUND) if a name without a slash names no program."""
        if "/" in name or any(Path(folder, name).exists() for folder in PROGRAM_FOLDERS):
            return
        near = tuple(await workshop.threads.run(lambda _stopped: programs_like(name, _CANDIDATES)))
        there = f"; there is {', '.join(near)}" if near else ""
        raise ToolError(
            f"there is no program {name!r:.100}{there}",
            reason="PROGRAM_NOT_FOUND",
            field="argv",
            candidates=near,
        )

    @tool(
        effect=Effect.EXEC_CONTAINED,
        example={"argv": ["uname", "-m"]},
        targets=touched,
        preview=preview,
        timeout_seconds=CALL_SECONDS,
    )
    async def run_command(arguments: RunCommandArguments, context: ToolContext) -> ToolOutput[CommandResult]:
        """Runs a program in the working folder, without a shell and without network."""
        argv = words(arguments.argv)
        ran = await workshop.change(context, [argv], arguments.seconds, MAX_OUTPUT_BYTES)
        if ran.programs[-1].exit_code == _NOT_STARTED and not ran.effects:
            await require_program(argv[0])
        return command_output(shlex.join(argv), ran, arguments.seconds)

    return run_command


def run_python_tool(workshop: Workshop) -> FunctionTool:
    async def touched(_arguments: RunPythonArguments, context: ToolContext) -> tuple[Target, ...]:
        return (Target(TargetKind.COMMAND, "python3", Access.USE), *workspace_targets(context))

    async def preview(arguments: RunPythonArguments, context: ToolContext) -> CallPreview:
        return CallPreview(command=("python3", "-c", arguments.code), target=context.workspace)

    @tool(
        effect=Effect.EXEC_CONTAINED,
        example={"code": "print(6 * 7)"},
        targets=touched,
        preview=preview,
        timeout_seconds=CALL_SECONDS,
    )
    async def run_python(arguments: RunPythonArguments, context: ToolContext) -> ToolOutput[CommandResult]:
        """Runs Python code in the working folder, without network."""
        argv = [sys.executable, "-B", "-s", "-X", "utf8", "-c", arguments.code]
        ran = await workshop.change(context, [argv], arguments.seconds, MAX_OUTPUT_BYTES)
        return command_output("python3", ran, arguments.seconds)

    return run_python


def words(argv: Sequence[str]) -> list[str]:
    """The words of a command; a whole command written as one word is split as a shell does, without running one."""
    if len(argv) == 1 and any(character.isspace() for character in argv[0].strip()):
        try:
            return shlex.split(argv[0]) or [*argv]
        except ValueError:  # an unclosed quote
            pass
    return [*argv]


def workspace_targets(context: ToolContext) -> tuple[Target, ...]:
    """Everything below the workspace, which a program may read and change."""
    if not context.workspace:
        return ()
    whole = f"{context.workspace}/"
    return (
        Target(TargetKind.FILE, whole, Access.READ, exists=True),
        Target(TargetKind.FILE, whole, Access.WRITE, exists=True),
    )


def programs_like(name: str, limit: int) -> Sequence[str]:
    """Blocking. Programs of the system with a name like this one, the likeliest first."""
    names: set[str] = set()
    for folder in PROGRAM_FOLDERS:
        with suppress(OSError):
            names.update(program.name for program in Path(folder).iterdir())
    return nearest(name, sorted(names), limit, least=_ALIKE)


def command_output(command: str, ran: Ran, seconds: float) -> ToolOutput[CommandResult]:
    last = ran.programs[-1]
    notes = [f"stopped after {seconds:g} s" if last.stopped else "", *ran.notes]
    run = RecordedEffect("command.run", command, f"exit code {last.exit_code}, {last.seconds:.1f} s")
    result = CommandResult(
        exit_code=last.exit_code,
        note="; ".join(filter(None, notes)),
        output=last.output or last.errors,
    )
    return ToolOutput(result, (run, *ran.effects))
