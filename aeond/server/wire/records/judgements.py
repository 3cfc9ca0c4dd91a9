"""Translates evaluations, questions and child runs to the wire."""

from aeond.api.v1 import events_pb2, parts_pb2
from aeond.api.v1 import judgements_pb2 as pb
from aeond.domain.plans.evaluations import Issue, RefinementAction
from aeond.domain.plans.profiles import TaskProfile
from aeond.domain.runs import events as ours
from aeond.domain.runs.questions import Question
from aeond.server.wire.enums import (
    BREADTHS,
    CONFIDENCE_LEVELS,
    OPERATIONS,
    REFINEMENTS,
    ROUTES,
    RUN_STATES,
    SEVERITIES,
    TOOL_USAGES,
)
from aeond.server.wire.json_text import json_text, plain_text
from aeond.server.wire.records import parts
from aeond.server.wire.records.tools import tool_call_to_wire

Judgement = (
    ours.OperationStarted
    | ours.ReferencesResolved
    | ours.RouteChosen
    | ours.ProfileInferred
    | ours.BudgetAdjusted
    | ours.PassEvaluated
    | ours.PlanRefined
    | ours.InputRequested
    | ours.InputAnswered
    | ours.ChildRunStarted
    | ours.ChildRunEnded
)


def judgement_to_wire(kind: Judgement) -> events_pb2.Event:
    match kind:
        case ours.OperationStarted():
            return events_pb2.Event(
                operation_started=pb.OperationStarted(
                    operation=OPERATIONS.wire(kind.operation),
                    reservation=parts.amounts_to_wire(kind.reservation),
                )
            )
        case ours.ReferencesResolved():
            return events_pb2.Event(references_resolved=_references(kind))
        case ours.RouteChosen():
            return events_pb2.Event(route_chosen=_route(kind))
        case ours.ProfileInferred():
            return events_pb2.Event(
                profile_inferred=pb.ProfileInferred(
                    profile=profile_to_wire(kind.profile),
                    fallback=kind.fallback,
                    used=parts.amounts_to_wire(kind.used),
                )
            )
        case ours.BudgetAdjusted():
            return events_pb2.Event(
                budget_adjusted=pb.BudgetAdjusted(
                    budget=parts.budget_to_wire(kind.budget),
                    reasons=parts.plain_texts(kind.reasons),
                    profile=profile_to_wire(kind.profile),
                )
            )
        case ours.PassEvaluated():
            return events_pb2.Event(pass_evaluated=_evaluated(kind))
        case ours.PlanRefined():
            return events_pb2.Event(plan_refined=_refined(kind))
        case ours.InputRequested():
            asked = pb.InputRequested(
                question=question_to_wire(kind.question), used=parts.amounts_to_wire(kind.used)
            )
            return events_pb2.Event(input_requested=asked)
        case ours.InputAnswered():
            answered = pb.InputAnswered(
                question_id=plain_text(kind.question_id),
                answer_json=json_text(kind.answer),
                owner=parts.owner_to_wire(kind.owner),
            )
            return events_pb2.Event(input_answered=answered)
        case ours.ChildRunStarted():
            return events_pb2.Event(child_run_started=_child_started(kind))
        case ours.ChildRunEnded():
            ended = pb.ChildRunEnded(
                step_id=plain_text(kind.step_id),
                child_run_id=kind.child_run_id,
                state=RUN_STATES.wire(kind.state),
                used=parts.amounts_to_wire(kind.used),
            )
            return events_pb2.Event(child_run_ended=ended)


def profile_to_wire(profile: TaskProfile | None) -> pb.TaskProfile | None:
    if profile is None:
        return None
    return pb.TaskProfile(
        reasoning_depth=profile.reasoning_depth,
        information_sufficiency=profile.information_sufficiency,
        expected_tool_usage=TOOL_USAGES.wire(profile.expected_tool_usage),
        output_breadth=BREADTHS.wire(profile.output_breadth),
        confidence_requirement=CONFIDENCE_LEVELS.wire(profile.confidence_requirement),
        raw_inference=plain_text(profile.raw_inference),
    )


def question_to_wire(question: Question) -> parts_pb2.Question:
    request = question.request
    return parts_pb2.Question(
        question_id=plain_text(question.question_id),
        step_id=plain_text(question.step_id),
        prompt=plain_text(request.prompt),
        schema_json=json_text(request.schema),
        options=parts.plain_texts(request.options),
        default_json=json_text(request.default) if request.has_default else "",
        deadline_time=parts.timestamp(question.deadline_time) if question.deadline_time else None,
    )


def _references(kind: ours.ReferencesResolved) -> pb.ReferencesResolved:
    return pb.ReferencesResolved(
        original=plain_text(kind.original),
        resolved=plain_text(kind.resolved),
        context=plain_text(kind.context),
        used=parts.amounts_to_wire(kind.used),
        note=plain_text(kind.note),
        standing=map(plain_text, kind.standing),
    )


def _route(kind: ours.RouteChosen) -> pb.RouteChosen:
    call = None if kind.tool_call is None else tool_call_to_wire(kind.tool_call)
    return pb.RouteChosen(
        route=ROUTES.wire(kind.route), tool_call=call, used=parts.amounts_to_wire(kind.used)
    )


def _evaluated(kind: ours.PassEvaluated) -> pb.PassEvaluated:
    evaluation = kind.evaluation
    return pb.PassEvaluated(
        pass_index=evaluation.pass_index,
        converged=evaluation.converged,
        reasons=parts.plain_texts(evaluation.reasons),
        issues=[_issue(issue) for issue in evaluation.issues],
        completeness=evaluation.completeness,
        coherence=evaluation.coherence,
        consistency=evaluation.consistency,
        final_output=plain_text(evaluation.final_output),
        used=parts.amounts_to_wire(kind.used),
    )


def _issue(issue: Issue) -> pb.Issue:
    return pb.Issue(
        reason=plain_text(issue.reason),
        severity=SEVERITIES.wire(issue.severity),
        step_id=plain_text(issue.step_id),
        message=plain_text(issue.message),
        proposal=plain_text(issue.proposal),
    )


def _refined(kind: ours.PlanRefined) -> pb.PlanRefined:
    return pb.PlanRefined(
        applied=[_action(action) for action in kind.applied],
        skipped=[wire for wire in map(parts.problem_to_wire, kind.skipped) if wire is not None],
        plan=parts.plan_to_wire(kind.plan),
        used=parts.amounts_to_wire(kind.used),
    )


def _action(action: RefinementAction) -> pb.RefinementAction:
    return pb.RefinementAction(
        operation=REFINEMENTS.wire(action.operation),
        step_id=plain_text(action.step_id),
        step=None if action.step is None else parts.step_to_wire(action.step),
        rationale=plain_text(action.rationale),
    )


def _child_started(kind: ours.ChildRunStarted) -> pb.ChildRunStarted:
    child = kind.child
    return pb.ChildRunStarted(
        step_id=plain_text(kind.step_id),
        child_run_id=child.child_run_id,
        template=plain_text(child.template),
        budget=parts.budget_to_wire(child.budget),
        description=plain_text(child.request.description),
        inputs_json=json_text(child.request.inputs),
        hints=parts.plain_texts(child.request.hints),
        lineage=parts.plain_texts(child.lineage),
        instructions=plain_text(child.instructions),
        tools=parts.plain_texts(child.tools),
        used=parts.amounts_to_wire(kind.used),
    )
