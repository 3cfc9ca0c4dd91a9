# Generated from protos/ by `make proto`; never edited.
"""Converts messages of judgements.proto to records."""

from aeond.api.v1 import judgements_pb2, parts_pb2, tools_pb2
from aeond_client import events
from aeond_client.calls import values
from aeond_client.calls.reading.parts import (
    amounts,
    approval_request,
    budget,
    model_use,
    plan,
    plan_step,
    problem,
    question,
)
from aeond_client.records import judgements, runs


def task_profile(wire: judgements_pb2.TaskProfile) -> judgements.TaskProfile:
    return judgements.TaskProfile(
        reasoning_depth=wire.reasoning_depth,
        information_sufficiency=wire.information_sufficiency,
        expected_tool_usage=values.chosen(judgements_pb2.ToolUsage, wire.expected_tool_usage),
        output_breadth=values.chosen(judgements_pb2.Breadth, wire.output_breadth),
        confidence_requirement=values.chosen(judgements_pb2.ConfidenceLevel, wire.confidence_requirement),
        raw_inference=wire.raw_inference,
    )


def issue(wire: judgements_pb2.Issue) -> judgements.Issue:
    return judgements.Issue(
        reason=wire.reason,
        severity=values.chosen(judgements_pb2.Severity, wire.severity),
        step_id=wire.step_id,
        message=wire.message,
        proposal=wire.proposal,
    )


def operation_started(wire: judgements_pb2.OperationStarted) -> events.OperationStarted:
    return events.OperationStarted(
        operation=values.chosen(judgements_pb2.Operation, wire.operation),
        reservation=amounts(wire.reservation),
    )


def budget_adjusted(wire: judgements_pb2.BudgetAdjusted) -> events.BudgetAdjusted:
    return events.BudgetAdjusted(
        limit=budget(wire.budget),
        reasons=tuple(wire.reasons),
        profile=task_profile(wire.profile) if wire.HasField("profile") else None,
    )


def references_resolved(wire: judgements_pb2.ReferencesResolved) -> events.ReferencesResolved:
    return events.ReferencesResolved(
        original=wire.original,
        resolved=wire.resolved,
        context=wire.context,
        note=wire.note,
        standing=tuple(wire.standing),
        used=amounts(wire.used),
        taint=tuple(wire.taint),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def route_chosen(wire: judgements_pb2.RouteChosen) -> events.RouteChosen:
    return events.RouteChosen(
        route=values.chosen(judgements_pb2.Route, wire.route),
        tool=wire.tool_call.tool,
        used=amounts(wire.used),
        shown=tuple(wire.shown),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def profile_inferred(wire: judgements_pb2.ProfileInferred) -> events.ProfileInferred:
    return events.ProfileInferred(
        profile=task_profile(wire.profile),
        fallback=wire.fallback,
        used=amounts(wire.used),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def pass_evaluated(wire: judgements_pb2.PassEvaluated) -> events.PassEvaluated:
    return events.PassEvaluated(
        pass_index=wire.pass_index,
        converged=wire.converged,
        reasons=tuple(wire.reasons),
        issues=tuple(map(issue, wire.issues)),
        completeness=wire.completeness if wire.scored else None,
        coherence=wire.coherence if wire.scored else None,
        consistency=wire.consistency if wire.scored else None,
        final_output=wire.final_output,
        used=amounts(wire.used),
        scored=wire.scored,
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def refinement(wire: judgements_pb2.RefinementAction) -> events.Refinement:
    return events.Refinement(
        operation=values.chosen(judgements_pb2.RefinementOperation, wire.operation),
        step_id=wire.step_id,
        step=plan_step(wire.step) if wire.HasField("step") else None,
        rationale=wire.rationale,
    )


def plan_refined(wire: judgements_pb2.PlanRefined) -> events.PlanRefined:
    return events.PlanRefined(
        plan=plan(wire.plan),
        applied=tuple(map(refinement, wire.applied)),
        skipped=tuple(map(problem, wire.skipped)),
        used=amounts(wire.used),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def policy_decided(wire: judgements_pb2.PolicyDecided) -> events.PolicyDecided:
    return events.PolicyDecided(
        step_id=wire.step_id,
        verdict=values.chosen(judgements_pb2.PolicyVerdict, wire.verdict),
        tool=wire.call.tool,
        effect=values.word(tools_pb2.Effect, wire.effect),
        rule=wire.rule,
        policy_version=wire.policy_version,
        tainted=wire.tainted,
        facts=values.json_object(wire.facts_json),
        reason=wire.reason,
        adds=tuple(wire.adds),
    )


def child_run_started(wire: judgements_pb2.ChildRunStarted) -> events.ChildRunStarted:
    return events.ChildRunStarted(
        step_id=wire.step_id,
        child_run_id=wire.child_run_id,
        template=wire.template,
        description=wire.description,
        limit=budget(wire.budget),
        inputs=values.json_object(wire.inputs_json),
        hints=tuple(wire.hints),
        lineage=tuple(wire.lineage),
        instructions=wire.instructions,
        tools=tuple(wire.tools),
        used=amounts(wire.used),
        agent=wire.agent,
    )


def child_run_ended(wire: judgements_pb2.ChildRunEnded) -> events.ChildRunEnded:
    return events.ChildRunEnded(
        step_id=wire.step_id,
        child_run_id=wire.child_run_id,
        state=runs.RunState(values.word(parts_pb2.RunState, wire.state)),
        used=amounts(wire.used),
    )


def input_requested(wire: judgements_pb2.InputRequested) -> events.InputRequested:
    return events.InputRequested(question=question(wire.question), used=amounts(wire.used))


def input_answered(wire: judgements_pb2.InputAnswered) -> events.InputAnswered:
    return events.InputAnswered(
        question_id=wire.question_id, answer=values.value(wire.answer_json), uid=wire.owner.uid
    )


def approval_requested(wire: judgements_pb2.ApprovalRequested) -> events.ApprovalRequested:
    return events.ApprovalRequested(
        approval=approval_request(wire.approval), step_id=wire.step_id, used=amounts(wire.used)
    )


def approval_decided(wire: judgements_pb2.ApprovalDecided) -> events.ApprovalDecided:
    return events.ApprovalDecided(
        approval_id=wire.approval_id,
        approved=wire.approved,
        uid=wire.owner.uid if wire.HasField("owner") else -1,
        digest=wire.digest,
        scope=values.chosen(parts_pb2.ApprovalScope, wire.scope),
        expired=wire.expired,
    )
