from dataclasses import replace

import pytest

from aeond.domain.tools import Composition, Effect, Recovery, ToolCall
from aeond.orchestration.decision.interfaces import CallTool, Offer
from aeond.orchestration.decision.results import repetition, result_of, results_length, turns_of
from tests.support.judging import after_pass, ran
from tests.support.strategy import TEXT, calls, spec

LOOK = calls("s1", "look", path="garden")


def test_turns_share_the_room() -> None:
    """Long results are shortened to the room that all have together."""
    step = ran(LOOK, output="x" * 1_000)
    (turn,) = turns_of([step], 300)
    assert turn.call.tool == "look"
    assert len(turn.result) < 400
    assert results_length([step]) == 1_000
    assert result_of(step) == "x" * 1_000


WRITE = replace(
    spec("write", {"path": TEXT, "content": TEXT}, ("path", "content"), Effect.WRITE_CONTAINED),
    new_name="path",
    new_text="content",
)
EDIT = replace(
    spec("edit", {"path": TEXT, "changes": TEXT}, ("path", "changes"), Effect.WRITE_CONTAINED),
    only_existing=("path",),
    composition=Composition(("changes",), "Say what changes.", ()),
)


@pytest.mark.parametrize(("path", "again"), [("sum.md", True), ("list.md", False)])
def test_a_file_that_was_made_is_not_written_again(path: str, again: bool) -> None:
    """To write more into the file that the run has just made counts as a repetition; another file may be changed."""
    made = ran(
        calls("s1", "write", path="sum.md", content="a"), output="created", recovery=Recovery.RECONCILE
    )
    call = ToolCall("edit", {"path": path, "changes": "b"})
    found = repetition(CallTool(call), after_pass(1, made), Offer((WRITE, EDIT)))
    assert found == (call if again else None)
