"""Runs as results of MCP tools."""

from typing import Any

import mcp_types as types
import pytest

from aeond.facades.mcp.results import of_error, of_run, of_undo
from aeond_client.errors import NotFoundError
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import Answer, Problem, RefusedUndo, Run, RunState, UndoneChange, UndoReport


def text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize(
    ("state", "parts", "said"),
    [
        (RunState.SUCCEEDED, {"answer": Answer("Done.")}, "Done."),
        (RunState.EXPIRED, {"answer": Answer("Half.")}, "Half."),
        (RunState.FAILED, {"problem": Problem("NO_PLAN", "no plan")}, "The run failed: no plan (NO_PLAN)"),
        (RunState.CANCELLED, {}, "The run is cancelled."),
        (
            RunState.SUSPENDED,
            {"suspend_reason": "disk_full"},
            "The run is suspended (disk_full): aeonctl show r1",
        ),
    ],
)
def test_the_text_is_the_answer_or_the_state(state: RunState, parts: dict[str, Any], said: str) -> None:
    """The text of a result is the answer if there is one, else what became of the run; only a failure is an error."""
    result = of_run(Run("r1", state, "a request", **parts))
    assert text(result) == said
    assert result.is_error is (state is RunState.FAILED)


def test_a_run_that_waits_says_for_what() -> None:
    """An open question is shown with its options; for an approval the text names the command of a person."""
    question = Question("s1.1", "s1", "Which?", options=("red",))
    asking = of_run(Run("r1", RunState.AWAITING_INPUT, "", questions=(question,)))
    assert text(asking) == "The run asks: Which? Answer it with the tool `answer`."
    assert asking.structured_content is not None
    assert asking.structured_content["questions"][0]["options"] == ["red"]
    approval = ApprovalRequest("s1.1", ("s1",), (), "digest")
    assert "aeonctl approvals r1" in text(
        of_run(Run("r1", RunState.AWAITING_INPUT, "", approvals=(approval,)))
    )


def test_undo_names_both_outcomes() -> None:
    """Undone and kept changes have a line each."""
    report = UndoReport((UndoneChange("a", "removed"),), (RefusedUndo("b", "CHANGED_SINCE", "changed"),))
    assert text(of_undo(report)) == "removed: a\nnot undone: b: changed"
    assert text(of_undo(UndoReport())) == "The run changed nothing."


def test_an_error_has_its_reason() -> None:
    """The daemon's reason is in the text for models, and in the content for programs."""
    result = of_error(NotFoundError("no such run", reason="RUN_NOT_FOUND"))
    assert (result.is_error, text(result)) == (True, "no such run (RUN_NOT_FOUND)")
    assert result.structured_content == {"reason": "RUN_NOT_FOUND", "field": ""}
