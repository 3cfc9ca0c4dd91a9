"""What a tool promises that begins a conversation for one of its arguments, and what the invoker holds it to."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import pytest
from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.tools import Composition, Effect, ToolCall, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import InvalidInputError, ToolError
from tests.support.tools import CONTEXT, invoker_of

BEGUN = Composition("Write a line.", (), "the view", {"type": "string"})
CALL = ToolCall("note", {"path": "a"})
Begin = Callable[[JsonObject, ToolContext, str], Awaitable[Composition | None]]


class NoteArguments(BaseModel):
    path: str
    line: str


class Noted(BaseModel):
    done: bool


async def begin(arguments: JsonObject, _context: ToolContext, request: str) -> Composition | None:
    return replace(BEGUN, view=f"{arguments['path']}: {request}")


async def begin_nothing(_arguments: JsonObject, _context: ToolContext, _request: str) -> Composition | None:
    return None


async def fail(_arguments: JsonObject, _context: ToolContext, _request: str) -> Composition | None:
    raise ToolError("the file is gone", reason="FILE_NOT_FOUND")


async def hang(_arguments: JsonObject, _context: ToolContext, _request: str) -> Composition | None:
    await anyio.sleep_forever()
    return None


def note(begun: Begin, argument: str = "line") -> FunctionTool:
    @tool(effect=Effect.READ, example={"path": "a", "line": "b"}, composed=(argument, begun))
    async def note(_arguments: NoteArguments, _context: ToolContext) -> Noted:
        """Notes a line."""
        return Noted(done=True)

    return note


async def test_the_tool_begins_the_conversation() -> None:
    """The conversation is made from the other arguments and the request."""
    begun = await invoker_of(note(begin)).composition(CALL, CONTEXT, "add b")
    assert begun == replace(BEGUN, view="a: add b")


@pytest.mark.parametrize("begun", [begin_nothing, fail])
async def test_without_a_conversation_there_is_none(begun: Begin) -> None:
    """A tool that has nothing to show, or fails, begins no conversation, and nothing is raised."""
    assert await invoker_of(note(begun)).composition(CALL, CONTEXT, "add b") is None


async def test_a_tool_that_hangs_is_left() -> None:
    """A tool that takes too long to begin is left after a few seconds."""
    with anyio.fail_after(10):
        assert await invoker_of(note(hang)).composition(CALL, CONTEXT, "add b") is None


async def test_a_tool_that_the_run_may_not_use_begins_nothing() -> None:
    """A tool that is unknown, or not one of the run's tools, begins no conversation."""
    others = replace(CONTEXT, allowed_tools=("other",))
    assert await invoker_of(note(begin)).composition(CALL, others, "add b") is None
    assert await invoker_of(note(begin)).composition(ToolCall("none", {}), CONTEXT, "add b") is None


def test_an_argument_that_does_not_exist_is_refused() -> None:
    """A tool cannot begin conversations about an argument that it does not have."""
    with pytest.raises(InvalidInputError) as refused:
        invoker_of(note(begin, "text"))
    assert refused.value.reason == "COMPOSED_INVALID"
