"""Waiting for an answer: whether it exists, and whether the run needs a person."""

from aeond_client.errors import NoAnswerError
from aeond_client.events import ApprovalRequested, Event, InputRequested, RunSuspended
from aeond_client.records.runs import Answer, Run, RunState


def may_need_a_person(event: Event) -> bool:
    """Whether the run started to wait at this event. It may have continued since: check its state."""
    return isinstance(event.kind, RunSuspended | InputRequested | ApprovalRequested)


def waits(run: Run) -> bool:
    """Whether the run is waiting for a person now. A run that a full disk suspended continues by itself."""
    if run.state is RunState.SUSPENDED and run.suspend_reason == "disk_full":
        return bool(run.questions or run.approvals)
    return run.state in {RunState.SUSPENDED, RunState.AWAITING_INPUT}


def answer_of(run: Run) -> Answer:
    """The run's answer. Raises NoAnswerError, with the cause, if there is none."""
    if run.answer is not None:
        return run.answer
    asked = "; ".join(question.prompt for question in run.questions)
    if run.approvals:
        calls = ", ".join(call.tool for approval in run.approvals for call in approval.calls)
        asked = "; ".join(filter(None, (asked, f"approval of {calls}")))
    why = run.problem.message if run.problem else run.suspend_reason.replace("_", " ") or asked
    words = {
        RunState.SUSPENDED: "waits for a person",
        RunState.AWAITING_INPUT: "waits for your answer",
        RunState.CANCELLED: "was cancelled",
    }.get(run.state, f"is {run.state} and has no answer")
    raise NoAnswerError(f"Run {run.run_id} {words}{f': {why}' if why else '.'}", run=run)
