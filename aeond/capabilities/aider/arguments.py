"""The arguments of the tools that run Aider, and the files that they choose."""

from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.aider.worktrees import Chosen, Worktree, context_files
from aeond.errors import ToolError

MAX_FILES: Final = 16


class Editing(BaseModel):
    """What Aider works on."""

    task: str
    files: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=500)]],
        Field(max_length=MAX_FILES, description="Files to change; leave out to have them found"),
    ] = []
    test: Annotated[
        list[Annotated[str, Field(max_length=500)]],
        Field(max_length=32, description="Test program and arguments; leave out for none"),
    ] = []


class AiderArguments(Editing):
    """A change of source code."""

    test: Annotated[
        list[Annotated[str, Field(max_length=500)]],
        Field(max_length=32, description="Test program and arguments; leave out to have them found"),
    ] = []

    task: Annotated[
        str, Field(min_length=1, max_length=4_000, description="What to change, in plain language")
    ]


class TerminalArguments(Editing):
    """Work with a user at a terminal."""

    task: Annotated[
        str, Field(max_length=4_000, description="The first request to Aider; leave out for none")
    ] = ""


def chosen(copy: Worktree, arguments: Editing) -> Chosen:
    """The files to change and to read. ToolError (reason FILE_NOT_FOUND) for one that would not be below the folder."""
    found = context_files(copy, arguments.task, arguments.test)
    if not arguments.files:
        return found
    for name in arguments.files:
        if name.startswith(("/", "-")) or ".." in name.split("/"):
            raise ToolError(
                f"{name!r:.200} is no path below the working folder", reason="FILE_NOT_FOUND", field="files"
            )
    files = tuple(arguments.files)
    others = (*found.files, *found.read, *found.tests)
    return Chosen(files, tuple(name for name in others if name not in files))
