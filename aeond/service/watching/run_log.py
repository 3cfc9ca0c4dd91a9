"""The log of a run: the kinds of its events, never the content of requests, plans, results or answers."""

import logging
import re
from collections.abc import Sequence
from typing import Final

from aeond.domain.policy import Verdict
from aeond.domain.runs import events as e

log = logging.getLogger("aeond.runs")

# Reasons written by a tool's author and step ids chosen by a client may contain anything.
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def log_events(events: Sequence[e.Event]) -> None:
    """Logs each significant event of a run, with `kind`, `run_id`, `event_seq` and, for a step, `step_id`."""
    if not log.isEnabledFor(logging.INFO):
        return
    for event in events:
        kind, words, step_id = _log_record(event)
        if kind:
            fields: dict[str, object] = {"kind": kind, "run_id": event.run_id, "event_seq": event.seq}
            log.info("%s", words, extra={**fields, "step_id": step_id} if step_id else fields)


def _log_record(event: e.Event) -> tuple[str, str, str]:
    """Kind, text and step of the log record; no kind for events that are not logged."""
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
        case e.PolicyDecided(step_id=step_id, verdict=verdict, rule=rule) if verdict is not Verdict.ALLOW:
            return "policy_decided", f"the policy's verdict: {verdict} ({rule or 'no rule'})", step_id
        case e.StepEnded(step_id=step_id, state=state, reason=reason, duration_seconds=seconds):
            words = f"step ended: {state}{_because(reason)}, after {seconds:.3f} s"
            return "step_ended", words, step_id
        case e.InputRequested(question=question):
            return "input_requested", "a step asks a question: the run waits", question.step_id
        case e.InputAnswered(owner=owner):
            return "input_answered", f"user {owner.uid} answered", ""
        case e.ApprovalRequested(step_id=step_id, approval=approval) if event.kind.opens:
            words = f"{len(approval.calls)} tool calls need approval: the run waits"
            return "approval_requested", words, step_id
        case e.ApprovalDecided(owner=owner, approved=approved, expired=expired):
            decided = "expired" if expired else f"{'given' if approved else 'denied'} by user {owner.uid}"
            return "approval_decided", f"approval {decided}", ""
        case e.ChildRunStarted(step_id=step_id, child=child):
            return "child_started", f"the step started run {child.child_run_id}", step_id
        case e.ChildRunEnded(step_id=step_id, child_run_id=child_run_id, state=state):
            return "child_ended", f"child run {child_run_id} of the step ended: {state}", step_id
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
            return "run_parked", "run parked: the next daemon resumes it", ""
        case e.RunResumed():
            return "run_resumed", "run resumed", ""
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
