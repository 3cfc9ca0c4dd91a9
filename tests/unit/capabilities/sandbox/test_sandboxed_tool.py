"""Tools whose code never runs in the daemon."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.sandbox.conversing import USUAL, Conditions
from aeond.capabilities.sandbox.messages import MAX_PARCEL_BYTES, Errand, Request
from aeond.capabilities.sandbox.sandboxed_tool import (
    python_files,
    replaced,
    sandboxed_file,
    sandboxed_tools,
)
from aeond.capabilities.sandbox.tool_unit import ToolUnit
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import Effect
from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError, ToolError
from aeond.ports import ToolAnswer
from tests.support.tool_sockets import tool_socket
from tests.support.tools import CONTEXT, FreeTool, within
from tests.support.virtual_time import in_virtual_time

SPEC: dict[str, JsonValue] = {
    "name": "count",
    "description": "Counts.",
    "input_schema": {"type": "object"},
    "output_schema": {"type": "integer"},
    "effect": "read",
    "timeout_seconds": 7.0,
}


@dataclass
class SaidSandbox:
    """A sandbox with predefined replies that records its requests."""

    said: ToolAnswer
    requests: list[tuple[Request, int]] = field(default_factory=list)
    profile: str = "said"

    async def perform(
        self, request: Request, max_value_bytes: int, conditions: Conditions = USUAL
    ) -> ToolAnswer:
        self.requests.append((request, max_value_bytes))
        return self.said


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools" / "count.py"
    path.parent.mkdir()
    path.write_text("raise SystemExit(9)\n", encoding="utf-8")
    path.chmod(0o644)
    return path


@pytest.fixture
def unit(tmp_path: Path) -> Iterator[ToolUnit]:
    with tool_socket(tmp_path / "tool.sock") as address:
        yield ToolUnit(address)


async def test_a_file_is_described_by_its_sandbox(file: Path) -> None:
    """The tools of a file are those that its sandbox reports; its code is passed on unchanged."""
    sandbox = SaidSandbox([SPEC])
    (tool,) = await sandboxed_file(file, sandbox, 1 << 30)
    assert (tool.spec.name, tool.spec.effect, tool.spec.timeout_seconds) == ("count", Effect.READ, 7.0)
    ((request, _),) = sandbox.requests
    assert (request.errand, request.source) == (Errand.DESCRIBE, file.read_bytes())


async def test_a_call_has_the_bounds_of_its_tool(file: Path) -> None:
    """A call goes to the sandbox with the tool's time and output, and the memory that is configured."""
    sandbox = SaidSandbox([{**SPEC, "max_output_bytes": 99}])
    (tool,) = await sandboxed_file(file, sandbox, 123)
    sandbox.said = 5
    assert await tool.execute({"a": 1}, CONTEXT) == 5
    assert await tool.reconcile({"a": 1}, CONTEXT) == 5
    (_, (executed, limit), (reconciled, _)) = sandbox.requests
    assert (executed.limits.seconds, executed.limits.memory_bytes, limit) == (7.0, 123, 99)
    assert (executed.errand, reconciled.errand) == (Errand.EXECUTE, Errand.RECONCILE)
    assert (executed.arguments, executed.context) == ({"a": 1}, CONTEXT)


@pytest.mark.parametrize("said", [None, "x", [1], [{**SPEC, "effect": "harmless"}], [{}]])
async def test_an_invalid_tool_description_is_rejected(file: Path, said: JsonValue) -> None:
    """A file's description of its tools is validated before use."""
    with pytest.raises(InvalidInputError) as caught:
        await sandboxed_file(file, SaidSandbox(said), 1 << 30)
    assert (caught.value.reason, caught.value.field) == ("TOOL_FILE_BROKEN", "tools.files")


class SilentSandbox:
    """A sandbox that never answers."""

    profile = "silent"

    async def perform(
        self, request: Request, max_value_bytes: int, conditions: Conditions = USUAL
    ) -> ToolAnswer:
        await anyio.sleep_forever()
        raise AssertionError


def test_a_file_that_hangs_ends_the_start(file: Path) -> None:
    """A file whose code never comes to an end is named, whatever bounds of its own it has taken off."""

    async def scene() -> None:
        with pytest.raises(
            InvalidInputError, match=r"count\.py: it did not describe its tools within"
        ) as caught:
            await sandboxed_file(file, SilentSandbox(), 1 << 30)
        assert caught.value.reason == "TOOL_FILE_BROKEN"

    in_virtual_time(scene)


async def test_a_file_that_breaks_is_named(file: Path, unit: ToolUnit) -> None:
    """A file whose code fails ends the start with its name and line, and has not run in the daemon."""
    before = set(sys.modules)
    with pytest.raises(InvalidInputError, match=r"count\.py: .*line 1: SystemExit: 9") as caught:
        await sandboxed_file(file, unit, 1 << 30)
    assert caught.value.reason == "TOOL_FILE_BROKEN"
    assert not [name for name in set(sys.modules) - before if name.startswith("aeond_tools_")]


@pytest.mark.parametrize("field", ["tools.files", "tools.folders"])
async def test_an_error_names_the_key_of_the_file(file: Path, field: str) -> None:
    """The error about a tool file has the configuration key that names it."""
    with pytest.raises(InvalidInputError) as caught:
        await sandboxed_tools([file, file], SaidSandbox([SPEC]), 1 << 30, field)
    assert (caught.value.reason, caught.value.field) == ("TOOL_DUPLICATE", field)
    file.chmod(0o666)
    with pytest.raises(InvalidInputError) as caught:
        await sandboxed_file(file, SaidSandbox([SPEC]), 1 << 30, field)
    assert (caught.value.reason, caught.value.field) == ("TOOL_FILE_UNSAFE", field)


async def test_one_name_is_one_tool(file: Path) -> None:
    """Two files with a tool of the same name are refused, both named."""
    other = file.with_name("other.py")
    other.write_text("", encoding="utf-8")
    other.chmod(0o644)
    with pytest.raises(InvalidInputError, match=r"other\.py: tool 'count' is defined in .*count\.py already"):
        await sandboxed_tools(python_files([file.parent]), SaidSandbox([SPEC]), 1 << 30)


async def test_a_tool_is_identified_by_its_file_and_sandbox(file: Path) -> None:
    """A changed file is another code, and the sandbox is the one that calls really run in."""
    (before,) = await sandboxed_file(file, SaidSandbox([SPEC]), 1 << 30)
    file.write_text("raise SystemExit(8)\n", encoding="utf-8")
    (after,) = await sandboxed_file(file, SaidSandbox([SPEC], profile="weaker"), 1 << 30)
    assert before.tool_code.digest != after.tool_code.digest
    assert (before.tool_code.sandbox, after.tool_code.sandbox) == ("said", "weaker")


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    """A folder that is configured and not there ends the start."""
    with pytest.raises(InvalidInputError, match="does not exist: create it") as caught:
        python_files([tmp_path / "none"])
    assert caught.value.reason == "FOLDER_MISSING"


async def test_named_tools_are_replaced(file: Path) -> None:
    """Tools that are named run in the sandbox, others stay, and a name that nothing has is refused."""
    apart = await sandboxed_tools([file], SaidSandbox([SPEC]), 1 << 30)
    own = [FreeTool(name="count"), FreeTool(name="other")]
    assert replaced(own, apart, ["count"]) == [apart[0], own[1]]
    assert replaced(own, (), ()) == own
    with pytest.raises(InvalidInputError, match=r"named calculator: remove it from tools\.sandboxed"):
        replaced(own, apart, ["count", "calculator"])


async def test_a_socket_without_systemd_is_reported(tmp_path: Path, file: Path) -> None:
    """If no unit is listening, nothing runs, and the error names the command to start it."""
    with pytest.raises(InvalidInputError, match=r"systemctl start aeond-tool\.socket") as caught:
        await sandboxed_file(file, ToolUnit(tmp_path / "none.sock"), 1 << 30)
    assert caught.value.reason == "SANDBOX_UNAVAILABLE"


async def test_a_workspace_with_the_daemon_s_files_does_not_travel(tmp_path: Path, unit: ToolUnit) -> None:
    """A unit is not given a workspace that the daemon's own files lie in."""
    guarded = ToolUnit(tmp_path / "tool.sock", hidden=[tmp_path / "state"])
    (tool,) = await sandboxed_file(good_file(tmp_path), guarded, 1 << 30)
    with pytest.raises(ToolError) as caught:
        await tool.execute({}, within(CONTEXT, tmp_path))
    assert caught.value.reason == "WORKSPACE_REFUSED"


async def test_a_workspace_that_is_too_large_does_not_travel(tmp_path: Path, unit: ToolUnit) -> None:
    """A unit is not started for a workspace beyond the bound; the call says how much it may be, and what to do."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with (workspace / "film").open("wb") as film:
        film.truncate(MAX_PARCEL_BYTES + 1)
    (tool,) = await sandboxed_file(good_file(tmp_path), unit, 1 << 30)
    with pytest.raises(ToolError, match=r"more than 64 MiB.*choose a smaller workspace") as caught:
        await tool.execute({}, within(CONTEXT, workspace))
    assert caught.value.reason == "WORKSPACE_TOO_LARGE"


async def test_a_file_below_a_link_is_not_brought_back(tmp_path: Path, unit: ToolUnit) -> None:
    """A file below what is a link in the workspace is brought back to nowhere, and the call says so."""
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    for folder in (workspace, outside):
        folder.mkdir()
    (workspace / "sub").symlink_to(outside)
    path = good_file(tmp_path, "os.mkdir('sub'); open('sub/file', 'w').close()")
    (tool,) = await sandboxed_file(path, unit, 1 << 30)
    with pytest.raises(ToolError, match="could not be transferred") as caught:
        await tool.execute({}, within(CONTEXT, workspace))
    assert caught.value.reason == "WORKSPACE_NOT_UPDATED"
    assert list(outside.iterdir()) == []


def good_file(folder: Path, work: str = "pass") -> Path:
    """A tool file whose tool does this work in its workspace."""
    path = folder / "good.py"
    path.write_text(
        "import os\n"
        "from aeond.domain.tools import Effect, ToolSpec\n"
        "class Good:\n"
        "    spec = ToolSpec('good', 'Is good.', {'type': 'object'}, {}, Effect.PURE)\n"
        "    async def execute(self, arguments, context):\n"
        f"        {work}\n"
        "        return 1\n"
        "TOOLS = [Good()]\n",
        encoding="utf-8",
    )
    path.chmod(0o644)
    return path


async def test_reconciling_cannot_ask_a_question(file: Path) -> None:
    """A tool that is asked what it did before a crash cannot answer with a question."""
    (tool,) = await sandboxed_file(file, SaidSandbox([SPEC]), 1)
    with pytest.raises(ToolError) as caught:
        await replace(tool, sandbox=SaidSandbox(InputRequest("Did I?"))).reconcile({}, CONTEXT)
    assert caught.value.reason == "OUTPUT_INVALID"
