"""Runs as results of tools."""

from dataclasses import asdict
from typing import Any

import mcp_types as types

from aeond_client import AeondError, Run, UndoReport
from aeond_client.records.runs import RunState


def of_run(run: Run) -> types.CallToolResult:
    """The answer as text, and the state of the run as structured content. A run that failed is an error."""
    state: dict[str, Any] = {
        "run_id": run.run_id,
        "state": str(run.state),
        "steps": [
            {"step_id": step.step_id, "description": step.plan_step.description, "state": str(step.state)}
            for step in run.steps
        ],
        "changes": [asdict(one) for one in run.effects],
        "questions": [
            {
                "question_id": one.question_id,
                "prompt": one.prompt,
                "options": list(one.options),
                "schema": one.schema,
            }
            for one in run.questions
        ],
        "approvals": len(run.approvals),
        "notes": list(run.answer.notes) if run.answer is not None else [],
    }
    return types.CallToolResult(
        content=[types.TextContent(text=_text(run))],
        structured_content=state,
        is_error=run.state is RunState.FAILED,
    )


def _text(run: Run) -> str:
    if run.questions:
        return f"The run asks: {run.questions[0].prompt} Answer it with the tool `answer`."
    if run.approvals:
        return f"The run waits for a person's approval: aeonctl approvals {run.run_id} shows it. Then call `wait`."
    if run.answer is not None and run.state is not RunState.FAILED:
        return run.answer.text
    if run.problem is not None:
        return f"The run failed: {run.problem.message} ({run.problem.reason})"
    if run.state is RunState.SUSPENDED:
        return f"The run is suspended ({run.suspend_reason}): aeonctl show {run.run_id}"
    return f"The run is {run.state}."


def of_undo(report: UndoReport) -> types.CallToolResult:
    lines = [f"{one.outcome}: {one.target}" for one in report.undone]
    lines += [f"not undone: {one.target}: {one.message}" for one in report.refused]
    state = {
        "undone": [{"target": one.target, "outcome": one.outcome} for one in report.undone],
        "refused": [{"target": one.target, "reason": one.reason} for one in report.refused],
    }
    text = "\n".join(lines) or "The run changed nothing."
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=state)


def of_error(error: AeondError, run_id: str = "") -> types.CallToolResult:
    """An error that a model can read: what is wrong, the daemon's reason for programs, and the run that the call followed."""
    state = {"reason": error.reason, "field": error.field}
    text = f"{error.message} ({error.reason})"
    if run_id:
        state["run_id"] = run_id
        text += f" The call followed the run {run_id}."
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=state, is_error=True
    )
