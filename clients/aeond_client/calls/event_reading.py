"""Converts wire events to records: one reader for each kind with a class."""

from collections.abc import Callable
from typing import Any

from aeond.api.v1 import events_pb2, judgements_pb2, parts_pb2
from aeond_client.calls import reading
from aeond_client.events import (
    AnswerComposed,
    AnswerStarted,
    BudgetAdjusted,
    BudgetExhausted,
    CancelRequested,
    ChildRunEnded,
    ChildRunStarted,
    Event,
    EventKind,
    InputAnswered,
    InputRequested,
    OperationStarted,
    PassEnded,
    PassEvaluated,
    PassStarted,
    PlanAdopted,
    PlanningFailed,
    PlanningStarted,
    PlanRefined,
    ProfileInferred,
    Progress,
    ReferencesResolved,
    Refinement,
    RouteChosen,
    RunCreated,
    RunEnded,
    RunParked,
    RunResumed,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepRepaired,
    StepResolved,
    StepStarted,
    TextDelta,
    UnknownKind,
)


def event(wire: events_pb2.Event) -> Event:
    return Event(wire.run_id, wire.seq, reading.seconds(wire.time), wire.elapsed_seconds, _kind(wire))


def _kind(wire: events_pb2.Event) -> EventKind:
    name = wire.WhichOneof("kind")
    if name is None:
        return UnknownKind()
    reader = _READERS.get(name)
    return reader(getattr(wire, name)) if reader else UnknownKind(name)


def _run_created(wire: events_pb2.RunCreated) -> RunCreated:
    return RunCreated(
        text=wire.request.text,
        request_id=wire.request.request_id,
        session_id=wire.request.session_id,
        workspace=wire.request.workspace,
        limit=reading.budget(wire.budget),
        plan=reading.plan(wire.plan) if wire.HasField("plan") else None,
        labels=dict(wire.request.labels),
        model=wire.request.model,
        parent_run_id=wire.parent_run_id,
        forked_run_id=wire.forked_run_id,
    )


def _plan_adopted(wire: events_pb2.PlanAdopted) -> PlanAdopted:
    return PlanAdopted(
        plan=reading.plan(wire.plan),
        source=reading.chosen(parts_pb2.PlanSource, wire.source),
        used=reading.amounts(wire.used),
        repairs=tuple(wire.repairs),
    )


def _step_started(wire: events_pb2.StepStarted) -> StepStarted:
    return StepStarted(
        reading.plan_step(wire.step), wire.attempt, reading.chosen(parts_pb2.StepMode, wire.mode)
    )


def _step_ended(wire: events_pb2.StepEnded) -> StepEnded:
    return StepEnded(
        step_id=wire.step_id,
        state=reading.step_state(wire.state),
        mode=reading.chosen(parts_pb2.StepMode, wire.mode),
        output=reading.value(wire.output_json),
        error=wire.error,
        reason=wire.reason,
        clarity=reading.chosen(parts_pb2.Clarity, wire.clarity),
        handoff=wire.handoff,
        used=reading.amounts(wire.used),
        duration_seconds=wire.duration_seconds,
        model_use=reading.model_use(wire.model_use) if wire.HasField("model_use") else None,
        effects=reading.effects(wire.effects),
    )


def _run_ended(wire: events_pb2.RunEnded) -> RunEnded:
    return RunEnded(
        reading.run_state(wire.state), reading.problem(wire.problem) if wire.HasField("problem") else None
    )


def _evaluated(wire: judgements_pb2.PassEvaluated) -> PassEvaluated:
    return PassEvaluated(
        pass_index=wire.pass_index,
        converged=wire.converged,
        reasons=tuple(wire.reasons),
        issues=tuple(map(reading.issue, wire.issues)),
        completeness=wire.completeness,
        coherence=wire.coherence,
        consistency=wire.consistency,
        final_output=wire.final_output,
        used=reading.amounts(wire.used),
    )


def _refined(wire: judgements_pb2.PlanRefined) -> PlanRefined:
    applied = tuple(
        Refinement(
            reading.chosen(judgements_pb2.RefinementOperation, action.operation),
            action.step_id,
            action.rationale,
        )
        for action in wire.applied
    )
    skipped = tuple(map(reading.problem, wire.skipped))
    return PlanRefined(reading.plan(wire.plan), applied, skipped, reading.amounts(wire.used))


def _child_started(wire: judgements_pb2.ChildRunStarted) -> ChildRunStarted:
    limit = reading.budget(wire.budget)
    return ChildRunStarted(wire.step_id, wire.child_run_id, wire.template, wire.description, limit)


def _child_ended(wire: judgements_pb2.ChildRunEnded) -> ChildRunEnded:
    state = reading.run_state(wire.state)
    return ChildRunEnded(wire.step_id, wire.child_run_id, state, reading.amounts(wire.used))


_READERS: dict[str, Callable[[Any], EventKind]] = {
    "run_created": _run_created,
    "run_started": lambda wire: RunStarted(),
    "planning_started": lambda wire: PlanningStarted(),
    "plan_adopted": _plan_adopted,
    "planning_failed": lambda wire: PlanningFailed(reading.problem(wire.problem), reading.amounts(wire.used)),
    "pass_started": lambda wire: PassStarted(wire.pass_index),
    "step_started": _step_started,
    "step_repaired": lambda wire: StepRepaired(reading.plan_step(wire.step), reading.problem(wire.problem)),
    "step_ended": _step_ended,
    "pass_ended": lambda wire: PassEnded(wire.pass_index),
    "answer_started": lambda wire: AnswerStarted(),
    "answer_composed": lambda wire: AnswerComposed(reading.answer(wire.answer), reading.amounts(wire.used)),
    "budget_exhausted": lambda wire: BudgetExhausted(wire.dimension),
    "cancel_requested": lambda wire: CancelRequested(wire.reason),
    "run_parked": lambda wire: RunParked(),
    "run_resumed": lambda wire: RunResumed(),
    "run_suspended": lambda wire: RunSuspended(
        reading.chosen(parts_pb2.SuspendReason, wire.reason), wire.message
    ),
    "step_resolved": lambda wire: StepResolved(
        reading.word(parts_pb2.Resolution, wire.resolution), wire.step_id
    ),
    "run_ended": _run_ended,
    "operation_started": lambda wire: OperationStarted(
        reading.chosen(judgements_pb2.Operation, wire.operation)
    ),
    "references_resolved": lambda wire: ReferencesResolved(
        wire.original, wire.resolved, wire.context, wire.note, tuple(wire.standing)
    ),
    "route_chosen": lambda wire: RouteChosen(
        reading.chosen(judgements_pb2.Route, wire.route), wire.tool_call.tool, reading.amounts(wire.used)
    ),
    "profile_inferred": lambda wire: ProfileInferred(
        reading.profile(wire.profile), wire.fallback, reading.amounts(wire.used)
    ),
    "budget_adjusted": lambda wire: BudgetAdjusted(reading.budget(wire.budget), tuple(wire.reasons)),
    "pass_evaluated": _evaluated,
    "plan_refined": _refined,
    "input_requested": lambda wire: InputRequested(reading.question(wire.question)),
    "input_answered": lambda wire: InputAnswered(
        wire.question_id, reading.value(wire.answer_json), wire.owner.uid
    ),
    "child_run_started": _child_started,
    "child_run_ended": _child_ended,
    "text_delta": lambda wire: TextDelta(wire.text, wire.offset, wire.step_id),
    "progress": lambda wire: Progress(wire.activity, wire.fraction, wire.step_id),
}
