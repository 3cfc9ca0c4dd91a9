"""The tools of the MCP server."""

import pytest
from pydantic import ValidationError

from aeond.facades.mcp.arguments import TOOLS, Ask, listed


def test_no_tool_gives_consent() -> None:
    """No tool approves or denies anything: a model that calls tools would decide about its own request."""
    names = [tool.name for tool in listed()]
    assert names == ["ask", "wait", "run_status", "runs", "answer", "cancel", "undo"]
    fields = {name for model, _ in TOOLS.values() for name in model.model_fields}
    assert fields == {
        "request",
        "workspace",
        "session_id",
        "wait",
        "run_id",
        "answer",
        "question_id",
        "limit",
    }


def test_only_tools_that_change_nothing_say_so() -> None:
    """The hint that a tool only reads is on those that read."""
    readers = [tool.name for tool in listed() if tool.annotations and tool.annotations.read_only_hint]
    assert readers == ["wait", "run_status", "runs"]


def test_unknown_arguments_are_refused() -> None:
    """An argument that no tool has is an error, and so is an empty request."""
    for given in ({"request": "x", "approve": True}, {"request": ""}):
        with pytest.raises(ValidationError):
            Ask.model_validate(given)
