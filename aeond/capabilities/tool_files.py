"""Loads user-supplied tools: Python files with a list named TOOLS."""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from aeond.capabilities.python_files import PythonFiles
from aeond.domain.tools import ToolCode, ToolSpec

if TYPE_CHECKING:  # every sandboxed call imports this file, and importing ports would load the whole domain
    from aeond.ports import Tool

FILES: Final = "tools.files"
FOLDERS: Final = "tools.folders"


def load_tool_files(paths: Sequence[Path], field: str = FILES) -> "Sequence[Tool]":
    """The tools of all files, in order. `field` is the configuration key that names them: FILES or FOLDERS.

    Raises InvalidInputError with `field` and reason TOOL_FILE_MISSING, TOOL_FILE_UNSAFE (other
    users can modify it), TOOL_FILE_BROKEN (with the line), TOOL_FILE_EMPTY (no list TOOLS) or TOOL_DUPLICATE.
    """
    homes: dict[str, Path] = {}
    tools: list[Tool] = []
    for path in paths:
        for tool in load_tools(path, field):
            name = tool.spec.name
            if name in homes:
                why = f"tool {name!r} is defined in {homes[name]} already"
                raise _files(field).refused(path, why, "DUPLICATE")
            homes[name] = path
            tools.append(tool)
    return tools


def load_tools(path: Path, field: str = FILES) -> "Sequence[Tool]":
    """Runs one file and returns its TOOLS, each with the digest of the file. Raises InvalidInputError as
    `load_tool_files` does."""
    source = read_source(path, field)
    tools, code = tools_in(path, source, field), ToolCode(sha256(source).hexdigest())
    for tool in tools:
        with suppress(AttributeError):  # an object that admits no attribute is identified by its spec alone
            tool.tool_code = code  # type: ignore[attr-defined]
    return tools


def tools_in(path: Path, source: bytes, field: str = FILES) -> "Sequence[Tool]":
    """Runs source text read from a file and returns its TOOLS. Raises InvalidInputError as `load_tool_files`
    does.
    """
    tools = _files(field).items(path, source)
    for position, tool in enumerate(tools):
        if not isinstance(getattr(tool, "spec", None), ToolSpec) or not hasattr(tool, "execute"):
            why = f"TOOLS[{position}] is not a tool but {tool!r:.80}"
            raise _files(field).refused(path, why, "FILE_BROKEN")
    return cast("Sequence[Tool]", tools)


def read_source(path: Path, field: str = FILES) -> bytes:
    """The content of the file; nothing is executed. Raises InvalidInputError as `load_tool_files` does."""
    return _files(field).read(path)


def _files(field: str) -> PythonFiles:
    return PythonFiles("tool", field)
