"""Permission requests for what a run asks a person."""

from pathlib import Path

from acp.schema import AllowedOutcome, DeniedOutcome, FileEditToolCallContent, RequestPermissionResponse

from aeon_cli.editor.permissions import (
    choices_of,
    chosen,
    options_of,
    resolutions,
    shown_approval,
    shown_interruption,
    shown_question,
)
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import PlanStep, Run, RunState, Step, StepState
from aeond_client.records.tools import ToolCall

WRITE = ToolCall("write_file", {"path": "a.txt", "content": "new"})
APPROVAL = ApprovalRequest(
    "s1.1",
    ("s1",),
    (WRITE,),
    "digest",
    previews=(
        CallPreview(diff="--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n", target="/srv/w/a.txt"),
    ),
    scopes=("once", "folder"),
    folders=("/srv/w",),
)


def test_only_offered_scopes_can_be_allowed() -> None:
    """There is an option for each offered scope and the denial; the folder is named."""
    shown = [(one.option_id, one.name, one.kind) for one in options_of(APPROVAL)]
    assert shown == [
        ("once", "Allow once", "allow_once"),
        ("folder", "Allow for this run in /srv/w", "allow_always"),
        ("deny", "Deny", "reject_once"),
    ]


def test_an_approval_shows_calls_and_changes() -> None:
    """The request has the difference of the file, every argument of the call, and the untrusted sources of the run."""
    run = Run("r1", RunState.AWAITING_INPUT, "a request", taint=("host:example.org:443",))
    shown = shown_approval(run, APPROVAL, Path("/srv/w"))
    diff, text = shown.content or []
    assert isinstance(diff, FileEditToolCallContent)
    assert (diff.path, diff.old_text, diff.new_text) == ("/srv/w/a.txt", "old", "new")
    assert "write_file, step s1" in str(text)
    assert "Untrusted sources of this run: host:example.org:443." in str(text)
    assert (shown.tool_call_id, shown.status) == ("r1:s1", "pending")


def test_a_choice_is_one_of_the_options() -> None:
    """An option that was offered is the choice; a dismissal or an unknown id is none."""
    question = Question("s1.1", "s1", "Which?", options=("red", "blue"))
    options = choices_of(question)
    assert [(one.option_id, one.name) for one in options] == [("0", "red"), ("1", "blue")]
    assert shown_question("r1", question).title == "Which?"
    for outcome, choice in (
        (AllowedOutcome(outcome="selected", option_id="1"), "1"),
        (AllowedOutcome(outcome="selected", option_id="7"), ""),
        (DeniedOutcome(outcome="cancelled"), ""),
    ):
        assert chosen(RequestPermissionResponse(outcome=outcome), options) == choice


def test_an_interrupted_step_can_be_resolved() -> None:
    """The decisions about an interrupted step are those of the contract."""
    assert [one.option_id for one in resolutions()] == ["retry", "done", "abort"]
    shown = shown_interruption("r1", Step(PlanStep("s1", tool="put"), StepState.UNKNOWN))
    assert (shown.tool_call_id, shown.title) == ("r1:s1", "put: interrupted")
