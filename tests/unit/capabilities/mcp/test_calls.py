"""A call that outlasts one attempt of its step."""

import anyio
import pytest

from aeond.capabilities.mcp.calls import PendingCall, cut
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import CALL_CUT
from aeond.errors import ToolError
from tests.support.tools import CONTEXT

QUESTION = InputRequest("Which?", continues=True)


async def test_a_call_asks_and_then_ends() -> None:
    """The first turn gives the question, the turn after the answer gives the result."""
    call = PendingCall("paint", {}, CONTEXT)
    answers: list[object] = []

    async def server() -> None:
        answers.append(await call.ask(QUESTION))
        call.end("done")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server)
        assert await call.turn() == QUESTION
        assert not call.can_ask
        call.answer("red")
        assert await call.turn() == "done"
    assert answers == ["red"]


async def test_the_first_end_counts() -> None:
    """A call that has ended is not cut off any more."""
    call = PendingCall("paint", {}, CONTEXT)
    call.end("done")
    call.fail(cut("paint", "too late"))
    assert await call.turn() == "done"
    failed = PendingCall("paint", {}, CONTEXT)
    failed.fail(cut("paint", "the server died"))
    with pytest.raises(ToolError) as caught:
        await failed.turn()
    assert caught.value.reason == CALL_CUT
