"""A run's story as the log tells it: what happened to it, never what was asked, planned, done or answered."""

import logging
import re
from collections.abc import Sequence
from typing import Final

from aeond.domain import events as e

log = logging.getLogger("aeond.runs")

# A tool's author writes the reason of an error, and an id of a client's step could say anything.
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def tell(events: Sequence[e.Event]) -> None:
    """Logs each event that moves a run on, with its `kind`, `run_id`, `event_seq` and, of a step, `step_id`."""
    if not log.isEnabledFor(logging.INFO):
        return
    for event in events:
        kind, words, step_id = _told(event)
        if kind:
            fields: dict[str, object] = {"kind": kind, "run_id": event.run_id, "event_seq": event.seq}
            log.info("%s", words, extra={**fields, "step_id": step_id} if step_id else fields)


def _told(event: e.Event) -> tuple[str, str, str]:
    """The kind of the record, its words, and the step that it is about; no kind for what nobody need know."""
    match event.kind:
        case e.RunCreated(request=request, plan=plan):
            planned = "" if plan is None else f", with a plan of {len(plan.steps)} steps"
            return "run_created", f"run created by user {request.owner.uid}{planned}", ""
        case e.RunStarted():
            return "run_started", "run started", ""
        case e.RouteChosen(route=route):
            return "route_chosen", f"route chosen: {route}", ""
        case e.PlanAdopted(plan=plan, source=source):
            return "run_planned", f"plan of {len(plan.steps)} steps adopted, made by the {source}", ""
        case e.PlanningFailed(problem=problem):
            return "planning_failed", f"planning failed{_because(problem.reason)}", ""
        case e.StepEnded(step_id=step_id, state=state, reason=reason, duration_seconds=seconds):
            words = f"step ended: {state}{_because(reason)}, after {seconds:.3f} s"
            return "step_ended", words, step_id
        case e.InputRequested(question=question):
            return "input_requested", "a step asks for an answer: the run waits", question.step_id
        case e.InputAnswered(owner=owner):
            return "input_answered", f"user {owner.uid} answered", ""
        case e.ChildRunStarted(step_id=step_id, child=child):
            return "child_started", f"the step is done by run {child.child_run_id}", step_id
        case e.ChildRunEnded(step_id=step_id, child_run_id=child_run_id, state=state):
            return "child_ended", f"run {child_run_id} of the step ended: {state}", step_id
        case e.PassEvaluated(evaluation=evaluation):
            found = "converged" if evaluation.converged else "not converged"
            return "pass_evaluated", f"pass {evaluation.pass_index} evaluated: {found}", ""
        case e.PlanRefined(applied=applied):
            return "plan_refined", f"plan refined: {len(applied)} changes", ""
        case e.BudgetExhausted(dimension=dimension):
            return "budget_exhausted", f"budget exhausted: {dimension}", ""
        case e.CancelRequested(owner=owner):
            return "run_cancelled", f"user {owner.uid} asked to cancel the run", ""
        case e.RunParked():
            return "run_parked", "run parked: the next daemon takes it up", ""
        case e.RunResumed():
            return "run_resumed", "run taken up again", ""
        case e.RunSuspended(reason=reason):
            return "run_suspended", f"run suspended: {reason}", ""
        case e.StepResolved(resolution=resolution, owner=owner, step_id=step_id):
            return "run_decided", f"user {owner.uid} decided: {resolution}", step_id
        case e.RunEnded(state=state, problem=problem):
            because = "" if problem is None else _because(problem.reason)
            return (
                "run_ended",
                f"run ended: {state}{because}, after {event.elapsed_seconds:.3f} s of work",
                "",
            )
        case _:
            return "", "", ""


def _because(reason: str) -> str:
    return f" ({reason})" if _CODE.fullmatch(reason) else ""
