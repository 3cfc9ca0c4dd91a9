"""Loads user-supplied tools: Python files with a list named TOOLS."""

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
from aeond.plain_files import UnsafeFileError, read_trusted

if TYPE_CHECKING:  # every sandboxed call imports this file, and importing ports would load the whole domain
    from aeond.ports import Tool

MAX_FILE_BYTES: Final = 1 << 20
_REASONS: Final = {
    "unreadable": "TOOL_FILE_MISSING",
    "changeable": "TOOL_FILE_UNSAFE",
    "too large": "TOOL_FILE_BROKEN",
}

# Exceptions of a foreign module while it is executed. sys.exit() must not end the daemon.
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

    Raises InvalidInputError with `field` "tools.files" and reason TOOL_FILE_MISSING, TOOL_FILE_UNSAFE (other
    users can modify it), TOOL_FILE_BROKEN (with the line), TOOL_FILE_EMPTY (no list TOOLS) or TOOL_DUPLICATE.
    """
    homes: dict[str, Path] = {}
    tools: list[Tool] = []
    for path in paths:
        for tool in load_tools(path):
            name = tool.spec.name
            if name in homes:
                raise _refused(path, f"tool {name!r} is defined in {homes[name]} already", "TOOL_DUPLICATE")
            homes[name] = path
            tools.append(tool)
    return tools


def load_tools(path: Path) -> "Sequence[Tool]":
    """Runs one file and returns its TOOLS. Raises InvalidInputError as `load_tool_files` does."""
    return tools_in(path, read_source(path))


def tools_in(path: Path, source: bytes) -> "Sequence[Tool]":
    """Runs source text read from a file and returns its TOOLS. Raises InvalidInputError as `load_tool_files`
    does.
    """
    module = _run(path, source)
    tools = getattr(module, "TOOLS", None)
    if not isinstance(tools, list | tuple) or not tools:
        raise _refused(path, "it has no list named TOOLS: add TOOLS = [your_tool]", "TOOL_FILE_EMPTY")
    for position, tool in enumerate(tools):
        if not isinstance(getattr(tool, "spec", None), ToolSpec) or not hasattr(tool, "execute"):
            raise _refused(path, f"TOOLS[{position}] is not a tool but {tool!r:.80}", "TOOL_FILE_BROKEN")
    return tuple(tools)


def read_source(path: Path) -> bytes:
    """The content of the file, read through the descriptor that was checked; nothing is executed.

    Raises InvalidInputError as `load_tool_files` does.
    """
    try:
        return read_trusted(path, MAX_FILE_BYTES)
    except UnsafeFileError as error:
        raise _refused(path, str(error), _REASONS[error.kind]) from error


def _run(path: Path, source: bytes) -> ModuleType:
    name = f"aeond_tools_{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # pydantic and typing resolve the names in annotations there
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102  the point of a tool file
    except _RAISED_BY_MODULES as error:
        del sys.modules[name]
        raise _refused(path, _description(error, str(path)), "TOOL_FILE_BROKEN") from error
    return module


def _description(error: BaseException, path: str) -> str:
    """The error and its line in the file."""
    said = traceback.format_exception_only(error)[-1].strip()
    if isinstance(error, SyntaxError) and error.filename == path:
        return f"line {error.lineno}: {said}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"line {lines[-1]}: {said}" if lines else said


def _refused(path: Path, why: str, reason: str) -> InvalidInputError:
    return InvalidInputError(f"cannot use the tool file {path}: {why}", reason=reason, field="tools.files")
