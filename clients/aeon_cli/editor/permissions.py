"""Approvals, questions and interrupted steps as permission requests of an editor."""

import time
from collections.abc import Iterable
from pathlib import Path

from acp import schema
from acp.helpers import text_block, tool_content

from aeon_cli.editor.edits import hunks, path_in
from aeon_cli.editor.updates import call_id
from aeon_cli.runs.approvals import lines_of
from aeon_cli.text.titles import counted
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import Resolution, Run, Step

DENY = "deny"
_DECISIONS = {
    Resolution.RETRY: "Run it again",
    Resolution.DONE: "It is done: continue",
    Resolution.ABORT: "Mark it as failed",
}


def options_of(approval: ApprovalRequest) -> list[schema.PermissionOption]:
    """One option for each scope that the approval offers, and the denial."""
    names = {
        "once": ("Allow once", "allow_once"),
        "run": ("Allow for this run", "allow_always"),
        "folder": (f"Allow for this run in {', '.join(approval.folders)}", "allow_always"),
        "host": (f"Allow for this run on {', '.join(approval.hosts)}", "allow_always"),
    }
    offered = [
        schema.PermissionOption.model_validate(
            {"optionId": scope, "name": names[scope][0], "kind": names[scope][1]}
        )
        for scope in approval.scopes
        if scope in names
    ]
    return [*offered, schema.PermissionOption(option_id=DENY, name="Deny", kind="reject_once")]


def shown_approval(run: Run, approval: ApprovalRequest, folder: Path) -> schema.ToolCallUpdate:
    """Exactly what would be done: the calls with their arguments, and the changes of files."""
    text = "\n".join(lines_of(approval, time.time(), run.taint))
    diffs: list[schema.FileEditToolCallContent] = []
    for preview in approval.previews:
        path = path_in(folder, preview.target)
        if path is not None and preview.diff:
            diffs += hunks(path, preview.diff)
    tools = ", ".join(dict.fromkeys(call.tool for call in approval.calls))
    title = f"{tools}: {counted(len(approval.calls), 'call')} to approve"
    step_id = approval.step_ids[0] if approval.step_ids else approval.approval_id
    return _pending(run.run_id, step_id, title, text, diffs)


def choices_of(question: Question) -> list[schema.PermissionOption]:
    """The options of a question, numbered, because the protocol compares options by id."""
    return [
        schema.PermissionOption(option_id=str(number), name=option, kind="allow_once")
        for number, option in enumerate(question.options)
    ]


def shown_question(run_id: str, question: Question) -> schema.ToolCallUpdate:
    return _pending(run_id, question.step_id, question.prompt, question.prompt)


def resolutions() -> list[schema.PermissionOption]:
    """What a person can decide about an interrupted step."""
    return [
        schema.PermissionOption(
            option_id=decision.value,
            name=name,
            kind="reject_once" if decision is Resolution.ABORT else "allow_once",
        )
        for decision, name in _DECISIONS.items()
    ]


def shown_interruption(run_id: str, step: Step) -> schema.ToolCallUpdate:
    text = "The daemon was interrupted during this step. Its effect may have happened: check it, then decide."
    return _pending(run_id, step.step_id, f"{step.plan_step.tool or step.step_id}: interrupted", text)


def _pending(
    run_id: str, step_id: str, title: str, text: str, diffs: Iterable[schema.FileEditToolCallContent] = ()
) -> schema.ToolCallUpdate:
    return schema.ToolCallUpdate(
        tool_call_id=call_id(run_id, step_id),
        title=title,
        status="pending",
        content=[*diffs, tool_content(text_block(text))],
    )


def chosen(response: schema.RequestPermissionResponse, options: Iterable[schema.PermissionOption]) -> str:
    """The id of the chosen option; "" if the person chose none, or the editor names one that was not offered."""
    outcome = response.outcome
    if not isinstance(outcome, schema.AllowedOutcome):
        return ""
    return outcome.option_id if any(one.option_id == outcome.option_id for one in options) else ""
