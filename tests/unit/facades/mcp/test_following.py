"""Following a run for a call, and the state with which a call continues that waited for a person."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import mcp_types as types
import pytest

from aeond.facades.mcp.following import follow, resumed_run
from aeond_client.events import Event, RunEnded, RunSuspended
from aeond_client.records.runs import Answer, Run, RunState


def test_a_state_names_its_run_and_what_was_asked() -> None:
    """A state that the server gave out is read back."""
    asked = json.dumps({"run": "r2", "question": "q"})
    assert resumed_run(json.dumps({"root": "r1", "asked": asked})) == ("r1", asked)


@pytest.mark.parametrize(
    "state",
    ["", "nonsense", "[]", '{"root": "r1"}', '{"root": 1, "asked": "{}"}', '{"root": "r1", "asked": "[]"}'],
)
def test_a_state_of_another_form_is_refused(state: str) -> None:
    """A state that is not one of the server's is a ValueError, whatever JSON it is."""
    with pytest.raises(ValueError, match=r".+"):
        resumed_run(state)


class Suspended:
    """A client of one run that a full disk suspends, and that then continues."""

    def __init__(self) -> None:
        self.state = RunState.SUSPENDED

    @asynccontextmanager
    async def watch(self, run_id: str, **_options: Any) -> AsyncIterator[AsyncIterator[Event]]:
        async def events() -> AsyncIterator[Event]:
            yield Event("r1", 1, 0.0, 0.0, RunSuspended("disk_full", "the disk is full: free some space"))
            self.state = RunState.SUCCEEDED
            yield Event("r1", 2, 0.0, 0.0, RunEnded(RunState.SUCCEEDED))

        yield events()

    async def get_run(self, run_id: str) -> Run:
        answer = Answer("Done.") if self.state.ended else None
        return Run("r1", self.state, "a request", suspend_reason="disk_full", answer=answer)


async def test_a_call_waits_for_disk_space() -> None:
    """A run that a full disk suspended continues by itself: the call returns its answer."""
    result = await follow(cast("Any", Suspended()), "r1", cast("Any", None))
    assert isinstance(result, types.CallToolResult)
    assert result.content == [types.TextContent(text="Done.")]
