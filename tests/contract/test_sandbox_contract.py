"""Guarantees of every sandbox: a result or a clear reason, the tool's own error, limits, and a workspace."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.conversing import Conditions, Sandbox
from aeond.capabilities.sandbox.messages import Errand, Limits, Request
from aeond.capabilities.sandbox.sandboxed_tool import SandboxedTool, sandboxed_file
from aeond.capabilities.sandbox.tool_unit import ToolUnit
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import RecordedEffect, ToolOutput
from aeond.errors import ToolError
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.repository import ROOT
from tests.support.tool_sockets import tool_socket
from tests.support.tools import CONTEXT, called, within

TOOL_FILE = ROOT / "tests" / "support" / "sandbox_tools.py"
MEMORY_BYTES = 1 << 30


@pytest.fixture(params=[pytest.param("bwrap", marks=needs_bubblewrap), "unit"])
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    if request.param == "bwrap":
        yield Bubblewrap()
    else:
        with tool_socket(tmp_path / "tool.sock") as address:
            yield ToolUnit(address)


@pytest.fixture
async def tools(sandbox: Sandbox) -> dict[str, SandboxedTool]:
    return {tool.spec.name: tool for tool in await sandboxed_file(TOOL_FILE, sandbox, MEMORY_BYTES)}


async def refused(tool: SandboxedTool, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await called(tool, **arguments)
    return caught.value


async def test_a_tool_s_answer_comes_back(tools: dict[str, SandboxedTool]) -> None:
    """A call gives what the tool returned, whatever it printed meanwhile."""
    assert await called(tools["give_back"], text="häagen\ndazs \U0001f366") == "häagen\ndazs \U0001f366"


async def test_a_tool_s_own_failure_keeps_its_words(tools: dict[str, SandboxedTool]) -> None:
    """A tool's own error is returned with its reason and retryability."""
    error = await refused(tools["fail"], text="closed on Sundays")
    assert (error.message, error.reason, error.retryable) == ("closed on Sundays", "SHOP_CLOSED", True)


async def test_a_failed_call_has_the_effects_that_remain(
    tools: dict[str, SandboxedTool], tmp_path: Path
) -> None:
    """A call that fails has the effects that it recorded, unless they were made in a copy that is not transferred back."""
    effects: list[RecordedEffect] = []
    context = replace(within(CONTEXT, tmp_path), record=effects.append)
    with pytest.raises(ToolError):
        await tools["break_off"].execute({"text": "new.txt"}, context)
    remains = (tmp_path / "new.txt").exists()
    assert effects == [RecordedEffect("file.created", "new.txt", "3 bytes")] * remains


async def test_an_exception_of_a_tool_is_named(tools: dict[str, SandboxedTool]) -> None:
    """Any other exception is a failed call that names its class."""
    error = await refused(tools["crash"], text="by nought")
    assert (error.message, error.reason) == ("ZeroDivisionError: by nought", "TOOL_RAISED")


async def test_effects_come_back(tools: dict[str, SandboxedTool], tmp_path: Path) -> None:
    """The effects that a tool reports come out of the sandbox beside its data."""
    output = await tools["create"].execute({"text": "a.txt"}, replace(CONTEXT, workspace=str(tmp_path)))
    assert output == ToolOutput({"value": "a.txt"}, (RecordedEffect("file.created", "a.txt", "3 bytes"),))


async def test_a_tool_may_ask_a_person(tools: dict[str, SandboxedTool]) -> None:
    """A tool's question comes out of the sandbox as the question that it is."""
    asked = await tools["wonder"].execute({}, CONTEXT)
    assert asked == InputRequest("Why?", options=("because", "so"), deadline_seconds=60.0)


async def test_a_tool_may_want_a_run_of_its_own(tools: dict[str, SandboxedTool]) -> None:
    """A tool's subtask comes out of the sandbox as the subtask that it is."""
    wanted = await tools["delegate"].execute({}, CONTEXT)
    assert wanted == SubtaskRequest("Look into it.", {"text": "the matter"}, ("summary",))


async def test_a_process_that_ends_is_no_answer(tools: dict[str, SandboxedTool]) -> None:
    """A tool that ends its process fails its call, also with exit code 0."""
    assert (await refused(tools["leave"], number=0)).reason == "SANDBOX_ENDED"


async def test_memory_is_bounded(tools: dict[str, SandboxedTool]) -> None:
    """A tool that wants more memory than was granted fails, and nothing else does."""
    assert (await refused(tools["fill"], number=4 << 30)).message.startswith("MemoryError")


async def test_output_is_bounded(tools: dict[str, SandboxedTool]) -> None:
    """An answer beyond what the daemon reads ends the call; it is not held in memory first."""
    error = await refused(tools["fill"], text="give", number=16 << 20)
    assert error.reason == "OUTPUT_TOO_LARGE"


async def test_native_code_without_end_is_ended(tools: dict[str, SandboxedTool]) -> None:
    """A computation that never lets go of the interpreter is ended by the kernel when its time is up."""
    with anyio.fail_after(60):
        assert (await refused(tools["spin"])).reason == "SANDBOX_ENDED"


async def test_a_tool_changes_the_workspace(tools: dict[str, SandboxedTool], tmp_path: Path) -> None:
    """A tool sees the workspace's files, and what it writes and removes there is written and removed."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "old").write_text("1", encoding="utf-8")
    (workspace / "kept").write_text("2", encoding="utf-8")
    assert await called(tools["write"], workspace, text="deep/new", number=7) == ["deep/new", "kept", "old"]
    assert (workspace / "deep" / "new").read_text(encoding="utf-8") == "7"
    await called(tools["write"], workspace, text="old", number=8)
    assert (workspace / "old").read_text(encoding="utf-8") == "8"
    await called(tools["remove"], workspace, text="old")
    assert sorted(path.name for path in workspace.iterdir()) == ["deep", "kept"]


async def performed(
    sandbox: Sandbox, tool: str, workspace: Path, conditions: Conditions, **arguments: Any
) -> Any:
    limits, context = Limits(60.0, MEMORY_BYTES), within(CONTEXT, workspace)
    source = TOOL_FILE.read_bytes()
    request = Request(Errand.EXECUTE, str(TOOL_FILE), source, limits, tool, arguments, context)
    return await sandbox.perform(request, 1 << 20, conditions)


async def test_live_text_comes_before_the_answer(sandbox: Sandbox, tmp_path: Path) -> None:
    """Output of a tool while it works is delivered in pieces, in order, and is no part of its result."""
    shown: list[str] = []
    answer = await performed(
        sandbox, "tell", tmp_path, Conditions(show=shown.append), text="h\u00e4agen\ndazs"
    )
    assert shown == ["h\u00e4agen\n", "dazs"]
    assert answer == {"value": 2}


async def test_live_text_is_bounded(sandbox: Sandbox, tmp_path: Path) -> None:
    """A tool that shows text without end is ended."""
    with anyio.fail_after(60), pytest.raises(ToolError) as caught:
        await performed(sandbox, "tell", tmp_path, Conditions(), text="x" * 10_000, number=1)
    assert caught.value.reason == "OUTPUT_TOO_LARGE"


async def test_only_what_may_be_changed_is_changed(sandbox: Sandbox, tmp_path: Path) -> None:
    """Files and folders that the conditions exclude keep their content and their names, and exceptions in them do
    not."""
    for name in ("free.txt", "fixed.txt", "closed/fixed.txt", "closed/open/free.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("old", encoding="utf-8")
    conditions = Conditions({"fixed.txt": False, "closed": False, "closed/open": True})
    await performed(sandbox, "overwrite", tmp_path, conditions)
    texts = {
        str(path.relative_to(tmp_path)): path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert texts == {
        "free.txt": "new",
        "fixed.txt": "old",
        "closed/fixed.txt": "old",
        "closed/open/free.txt": "new",
    }


async def test_a_cancelled_call_ends_at_once(tools: dict[str, SandboxedTool]) -> None:
    """A cancelled caller does not wait for the tool, and later calls are answered."""
    with anyio.move_on_after(0.5) as scope:
        await called(tools["spin"])
    assert scope.cancelled_caught
    assert await called(tools["give_back"], text="still here") == "still here"
