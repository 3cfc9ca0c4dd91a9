"""Tools whose code never runs in the daemon: descriptions and calls both come from a sandbox."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import anyio
from pydantic import TypeAdapter, ValidationError

from aeond.capabilities.sandbox.conversing import Sandbox
from aeond.capabilities.sandbox.messages import Errand, Limits, Request
from aeond.capabilities.tool_files import FILES, FOLDERS, read_source
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import ToolCode, ToolContext, ToolOutput, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import InvalidInputError, ToolError
from aeond.frozen import frozen
from aeond.ports import Tool, ToolAnswer

DESCRIBE_SECONDS: Final = 20.0
DESCRIBE_BYTES: Final = 1 << 20


@frozen
class SandboxedTool:
    """A Tool of a file whose calls each run in a sandbox."""

    spec: ToolSpec
    file: Path
    source: bytes
    sandbox: Sandbox
    memory_bytes: int

    @property
    def tool_code(self) -> ToolCode:
        return ToolCode(sha256(self.source).hexdigest(), self.sandbox.profile)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        """The tool's result. Raises ToolError as `Sandbox.perform` does."""
        return await self._perform(Errand.EXECUTE, arguments, context)

    async def reconcile(
        self, arguments: JsonObject, context: ToolContext
    ) -> JsonValue | ToolOutput[JsonValue] | None:
        found = await self._perform(Errand.RECONCILE, arguments, context)
        if isinstance(found, InputRequest | SubtaskRequest):
            raise ToolError("reconciliation must return data", reason="OUTPUT_INVALID")
        return found

    async def _perform(self, errand: Errand, arguments: JsonObject, context: ToolContext) -> ToolAnswer:
        limits = Limits(self.spec.timeout_seconds, self.memory_bytes)
        request = Request(errand, str(self.file), self.source, limits, self.spec.name, arguments, context)
        return await self.sandbox.perform(request, self.spec.max_output_bytes)


def python_files(folders: Sequence[Path]) -> Sequence[Path]:
    """The Python files in the folders, sorted by name. InvalidInputError (reason FOLDER_MISSING)."""
    for folder in folders:
        if not folder.is_dir():
            raise InvalidInputError(
                f"folder {folder} does not exist: create it, or remove it from tools.folders",
                reason="FOLDER_MISSING",
                field=FOLDERS,
            )
    return [file for folder in folders for file in sorted(folder.glob("*.py"))]


def replaced(tools: Sequence[Tool], apart: Sequence[SandboxedTool], names: Sequence[str]) -> Sequence[Tool]:
    """The tools, with those of these names replaced by sandboxed versions. InvalidInputError (reason
    TOOL_NOT_FOUND) for an unknown name.
    """
    twins = {tool.spec.name: tool for tool in apart if tool.spec.name in names}
    if missing := sorted(set(names) - twins.keys()):
        raise InvalidInputError(
            f"no file of tools.files has a tool named {', '.join(missing)}: remove it from tools.sandboxed",
            reason="TOOL_NOT_FOUND",
            field="tools.sandboxed",
        )
    return [twins.get(tool.spec.name, tool) for tool in tools]


async def sandboxed_tools(
    files: Sequence[Path], sandbox: Sandbox, memory_bytes: int, field: str = FILES
) -> Sequence[SandboxedTool]:
    """The tools of the files, in order. `field` is the configuration key that names them: FILES or FOLDERS.

    Raises InvalidInputError with `field`: TOOL_FILE_UNSAFE and similar for a file that cannot be read; TOOL_FILE_BROKEN,
    with the sandbox's error, for one that cannot be used; TOOL_DUPLICATE.
    """
    tools: dict[str, SandboxedTool] = {}
    for file in files:
        for tool in await sandboxed_file(file, sandbox, memory_bytes, field):
            name = tool.spec.name
            if name in tools:
                why = f"tool {name!r} is defined in {tools[name].file} already"
                raise _broken(file, field, why, "TOOL_DUPLICATE")
            tools[name] = tool
    return list(tools.values())


async def sandboxed_file(
    file: Path, sandbox: Sandbox, memory_bytes: int, field: str = FILES
) -> Sequence[SandboxedTool]:
    """The tools of one file. Raises InvalidInputError as `sandboxed_tools` does."""
    source = read_source(file, field)
    request = Request(Errand.DESCRIBE, str(file), source, Limits(DESCRIBE_SECONDS, memory_bytes))
    try:
        with anyio.fail_after(DESCRIBE_SECONDS):
            described = await sandbox.perform(request, DESCRIBE_BYTES)
        specs = TypeAdapter(tuple[ToolSpec, ...]).validate_python(described)
    except ToolError as error:
        raise _broken(file, field, error.message, error.reason) from error
    except TimeoutError as error:
        why = f"it did not describe its tools within {DESCRIBE_SECONDS:g} seconds"
        raise _broken(file, field, why, "TOOL_FILE_BROKEN") from error
    except ValidationError as error:
        why = f"the description of its tools is invalid: {error}"
        raise _broken(file, field, why, "TOOL_FILE_BROKEN") from error
    return [SandboxedTool(spec, file, source, sandbox, memory_bytes) for spec in specs]


def _broken(file: Path, field: str, why: str, reason: str) -> InvalidInputError:
    known = reason if reason.startswith(("TOOL_", "SANDBOX_")) else "TOOL_FILE_BROKEN"
    return InvalidInputError(f"cannot use the tool file {file}: {why}", reason=known, field=field)
