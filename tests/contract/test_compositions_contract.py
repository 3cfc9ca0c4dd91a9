"""What a tool promises of which a small model writes some arguments in a separate conversation, and what the invoker holds it to."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import pytest
from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import InvalidInputError, ToolError
from tests.support.tools import CONTEXT, invoker_of

SHOWN = CompositionView("the view", {"type": "string"})
CALL = ToolCall("note", {"path": "a"})
View = Callable[[JsonObject, ToolContext, str], Awaitable[CompositionView | None]]


class NoteArguments(BaseModel):
    path: str
    line: str


class Noted(BaseModel):
    done: bool


async def show(arguments: JsonObject, _context: ToolContext, request: str) -> CompositionView | None:
    return replace(SHOWN, text=f"{arguments['path']}: {request}")


async def show_nothing(
    _arguments: JsonObject, _context: ToolContext, _request: str
) -> CompositionView | None:
    return None


async def fail(_arguments: JsonObject, _context: ToolContext, _request: str) -> CompositionView | None:
    raise ToolError("the file is gone", reason="FILE_NOT_FOUND")


async def hang(_arguments: JsonObject, _context: ToolContext, _request: str) -> CompositionView | None:
    await anyio.sleep_forever()
    return None


def note(shown: View, argument: str = "line") -> FunctionTool:
    @tool(
        effect=Effect.READ,
        example={"path": "a", "line": "b"},
        composed=(Composition((argument,), "Write a line.", ()), shown),
    )
    async def note(_arguments: NoteArguments, _context: ToolContext) -> Noted:
        """Notes a line."""
        return Noted(done=True)

    return note


async def test_the_tool_shows_what_a_call_is_about() -> None:
    """What is shown is made from the other arguments and the request."""
    shown = await invoker_of(note(show)).composition_view(CALL, CONTEXT, "add b")
    assert shown == replace(SHOWN, text="a: add b")


@pytest.mark.parametrize("shown", [show_nothing, fail])
async def test_a_tool_may_have_nothing_to_show(shown: View) -> None:
    """A tool that has nothing to show, or fails, gives no view, and nothing is raised."""
    assert await invoker_of(note(shown)).composition_view(CALL, CONTEXT, "add b") is None


async def test_a_tool_that_hangs_is_left() -> None:
    """A tool that takes too long is left after a few seconds."""
    with anyio.fail_after(10):
        assert await invoker_of(note(hang)).composition_view(CALL, CONTEXT, "add b") is None


async def test_a_tool_that_the_run_may_not_use_shows_nothing() -> None:
    """A tool that is unknown, or not one of the run's tools, gives no view."""
    others = replace(CONTEXT, allowed_tools=("other",))
    assert await invoker_of(note(show)).composition_view(CALL, others, "add b") is None
    assert await invoker_of(note(show)).composition_view(ToolCall("none", {}), CONTEXT, "add b") is None


def test_an_argument_that_does_not_exist_is_refused() -> None:
    """A tool has no conversation about an argument that it does not have."""
    with pytest.raises(InvalidInputError) as refused:
        invoker_of(note(show, "text"))
    assert refused.value.reason == "COMPOSED_INVALID"
