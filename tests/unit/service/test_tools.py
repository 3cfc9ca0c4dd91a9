"""Tools as clients see and call them."""

from pathlib import Path

import pytest

from aeond.capabilities.tools.registry import Registry
from aeond.capabilities.tools.served.tool_serving import RegisteredServing
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import ToolCall, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import InvalidInputError, NotFoundError, UnavailableError
from aeond.service.runs.admission import Admission
from aeond.service.runs.workspaces import Workspaces
from aeond.service.tools import Tools
from tests.support.doubles import ManualClock, PlainInvoker, ScriptedTool
from tests.support.service_world import CALLER, USER, NumberedIds, ScriptedRegistry


@pytest.fixture
def registry() -> ScriptedRegistry:
    return ScriptedRegistry(*(ScriptedTool(name) for name in "dbcae"))


@pytest.fixture
def tools(registry: ScriptedRegistry, admission: Admission, tmp_path: Path) -> Tools:
    return Tools(
        registry=registry,
        invoker=PlainInvoker(registry.tools),
        workspaces=Workspaces(own=tmp_path / "own", roots=[tmp_path], protected=[], user_id=USER.uid),
        admission=admission,
        ids=NumberedIds(),
        serving=RegisteredServing(Registry(), ManualClock()),
    )


async def test_tools_are_listed_by_name_page_by_page(tools: Tools) -> None:
    """A list of tools goes on after the last one of the page before."""
    first = await tools.list_tools(CALLER, after="", limit=2)
    second = await tools.list_tools(CALLER, after=first[-1].name, limit=10)
    assert [spec.name for spec in (*first, *second)] == list("abcde")


async def test_an_unknown_tool_is_not_found(tools: Tools) -> None:
    """Neither looking at nor calling a tool that is not there leaves any doubt."""
    for asked in (tools.get("nothing", CALLER), tools.invoke(ToolCall("nothing"), "", CALLER)):
        with pytest.raises(NotFoundError) as raised:
            await asked
        assert raised.value.reason == "TOOL_NOT_FOUND"


async def test_a_call_runs_in_the_workspace_that_was_named(
    tools: Tools, registry: ScriptedRegistry, tmp_path: Path
) -> None:
    """A call outside of a run works in the caller's folder under an id of its own."""
    result = await tools.invoke(ToolCall("a", {"n": 1}), str(tmp_path), CALLER)
    (context,) = registry.tools["a"].calls
    assert result.data == {"n": 1}
    assert (context.workspace, context.run_id, context.call_id) == (str(tmp_path), "", "id-0001")


async def test_a_call_without_a_workspace_has_one_of_the_daemon_s(
    tools: Tools, registry: ScriptedRegistry, tmp_path: Path
) -> None:
    """A call that names no folder gets none of the caller's."""
    await tools.invoke(ToolCall("a"), "", CALLER)
    assert registry.tools["a"].calls[0].workspace == str(tmp_path / "own" / f"calls-{USER.uid}")


async def test_a_tool_that_asks_is_for_runs(tools: Tools, registry: ScriptedRegistry) -> None:
    """A tool that asks a person or starts a run is rejected outside a run."""

    async def ask(_arguments: JsonObject, _context: ToolContext) -> InputRequest:
        return InputRequest("which?")

    registry.tools["a"].run = ask
    result = await tools.invoke(ToolCall("a"), "", CALLER)
    assert (result.success, result.reason, result.request) == (False, "TOOL_NEEDS_RUN", None)
    assert result.error.startswith("a works only as a step of a run")


async def test_a_workspace_that_cannot_be_used_stops_the_call(
    tools: Tools, registry: ScriptedRegistry
) -> None:
    """A tool never starts in a folder that is none."""
    with pytest.raises(InvalidInputError):
        await tools.invoke(ToolCall("a"), "relative", CALLER)
    assert registry.tools["a"].calls == []


async def test_a_daemon_that_stops_starts_no_call(
    tools: Tools, admission: Admission, registry: ScriptedRegistry
) -> None:
    """While the daemon drains, tools can be looked at and not called."""
    admission.drain()
    assert (await tools.get("a", CALLER)).name == "a"
    with pytest.raises(UnavailableError):
        await tools.invoke(ToolCall("a"), "", CALLER)
    assert registry.tools["a"].calls == []
