"""Tools from people's own files: a Python file with a list named TOOLS."""

import hashlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from aeond.domain.tools import ToolSpec
from aeond.errors import AeondError, InvalidInputError
from aeond.plain_files import changeable, read_plain

if TYPE_CHECKING:  # each sandboxed call imports this file, and ports would bring the whole domain along
    from aeond.ports import Tool

MAX_FILE_BYTES: Final = 1 << 20

# What a module of somebody else's raises while it runs. sys.exit() must not end the daemon.
_RAISED_BY_MODULES: Final = (
    AeondError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    SystemExit,
    TypeError,
    ValueError,
)


def load_tool_files(paths: Sequence[Path]) -> "Sequence[Tool]":
    """The tools of all files, in order.

    Raises InvalidInputError with `field` "tools.files" and reason TOOL_FILE_MISSING, TOOL_FILE_UNSAFE (others
    may change it), TOOL_FILE_BROKEN (with the line), TOOL_FILE_EMPTY (no list TOOLS) or TOOL_DUPLICATE.
    """
    homes: dict[str, Path] = {}
    tools: list[Tool] = []
    for path in paths:
        for tool in load_tools(path):
            name = tool.spec.name
            if name in homes:
                raise _refused(path, f"tool {name!r} is in {homes[name]} already", "TOOL_DUPLICATE")
            homes[name] = path
            tools.append(tool)
    return tools


def load_tools(path: Path) -> "Sequence[Tool]":
    """Runs one file and returns its TOOLS. Raises InvalidInputError as `load_tool_files` does."""
    return tools_in(path, read_source(path))


def tools_in(path: Path, source: bytes) -> "Sequence[Tool]":
    """Runs what was read from a file and returns its TOOLS. Raises InvalidInputError as `load_tool_files`
    does."""
    module = _run(path, source)
    tools = getattr(module, "TOOLS", None)
    if not isinstance(tools, list | tuple) or not tools:
        raise _refused(path, "it has no list named TOOLS: add TOOLS = [your_tool]", "TOOL_FILE_EMPTY")
    for position, tool in enumerate(tools):
        if not isinstance(getattr(tool, "spec", None), ToolSpec) or not hasattr(tool, "execute"):
            raise _refused(path, f"TOOLS[{position}] is no tool but {tool!r:.80}", "TOOL_FILE_BROKEN")
    return tuple(tools)


def read_source(path: Path) -> bytes:
    """What is in the file, read from the very file that was found safe; nothing of it is run.

    Raises InvalidInputError as `load_tool_files` does."""
    try:
        facts, source = read_plain(path, MAX_FILE_BYTES)
        unsafe = changeable(path, facts)
    except OSError as error:
        raise _refused(path, f"it cannot be read: {error.strerror}", "TOOL_FILE_MISSING") from error
    if unsafe:
        raise _refused(path, unsafe, "TOOL_FILE_UNSAFE")
    if len(source) > MAX_FILE_BYTES:
        raise _refused(path, "it is larger than 1 MiB", "TOOL_FILE_BROKEN")
    return source


def _run(path: Path, source: bytes) -> ModuleType:
    name = f"aeond_tools_{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # where pydantic and typing look names of annotations up
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102  the point of a tool file
    except _RAISED_BY_MODULES as error:
        del sys.modules[name]
        raise _refused(path, _told(error, str(path)), "TOOL_FILE_BROKEN") from error
    return module


def _told(error: BaseException, path: str) -> str:
    """What went wrong and in which line of the file."""
    said = traceback.format_exception_only(error)[-1].strip()
    if isinstance(error, SyntaxError) and error.filename == path:
        return f"line {error.lineno}: {said}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"line {lines[-1]}: {said}" if lines else said


def _refused(path: Path, why: str, reason: str) -> InvalidInputError:
    return InvalidInputError(f"cannot use the tool file {path}: {why}", reason=reason, field="tools.files")
