"""Forms for what a run asks a person."""

from typing import Any

import pytest

from aeond.facades.mcp.consent import approval_form, question_form, request_for
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import Run, RunState
from aeond_client.records.tools import ToolCall

APPROVAL = ApprovalRequest(
    "s1.1",
    ("s1",),
    (ToolCall("write_file", {"path": "a"}),),
    "digest",
    message="no rule allows it",
    previews=(CallPreview(diff="+new", problem="half"),),
    scopes=("once", "run"),
    folders=("/srv/w",),
    hosts=("example.org:443",),
)


def test_a_form_shows_exactly_what_would_be_done() -> None:
    """The message has reason, call with arguments, change, gap of the preview, folder and host."""
    form = approval_form(APPROVAL)
    assert form.message.splitlines() == [
        "aeond asks for approval: no rule allows it",
        'write_file {"path": "a"}',
        "+new",
        "incomplete: half",
        "folder: /srv/w",
        "host: example.org:443",
    ]
    assert form.requested_schema["properties"]["decision"]["enum"] == ["once", "run", "deny"]


@pytest.mark.parametrize(
    ("question", "field"),
    [
        (Question("q", "s1", "?", options=("a", "b")), {"type": "string", "enum": ["a", "b"]}),
        (Question("q", "s1", "?"), {"type": "string"}),
        (
            Question("q", "s1", "?", {"type": "integer", "minimum": 1, "x": 2}),
            {"type": "integer", "minimum": 1},
        ),
        (
            Question("q", "s1", "?", {"type": "array"}),
            {"type": "string", "description": 'JSON: {"type": "array"}'},
        ),
    ],
    ids=["choice", "text", "number", "list"],
)
def test_a_question_is_one_field(question: Question, field: dict[str, Any]) -> None:
    """Forms have flat fields only: what is no text, number or yes or no is given as JSON text."""
    schema = question_form(question).requested_schema
    assert (schema["properties"], schema["required"]) == ({"answer": field}, ["answer"])


def test_approvals_come_before_questions() -> None:
    """One thing is asked at a time; a run that waits for nothing asks nothing."""
    question = Question("s2.1", "s2", "Which?")
    both = Run("r1", RunState.AWAITING_INPUT, "", approvals=(APPROVAL,), questions=(question,))
    asked = request_for(both)
    assert asked is not None
    assert asked[1] == '{"run": "r1", "approval": "s1.1", "digest": "digest"}'
    assert request_for(Run("r1", RunState.RUNNING, "")) is None
