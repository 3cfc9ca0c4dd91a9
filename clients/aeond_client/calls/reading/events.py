# Generated from protos/ by `make proto`; never edited.
"""Converts messages of events.proto to records."""

from collections.abc import Callable
from typing import Any

from aeond.api.v1 import (
    events_pb2,
    parts_pb2,
    tools_pb2,
)
from aeond_client import events
from aeond_client.calls import values
from aeond_client.calls.reading.judgements import (
    approval_decided,
    approval_requested,
    budget_adjusted,
    child_run_ended,
    child_run_started,
    input_answered,
    input_requested,
    operation_started,
    pass_evaluated,
    plan_refined,
    policy_decided,
    profile_inferred,
    references_resolved,
    route_chosen,
)
from aeond_client.calls.reading.parts import (
    amounts,
    answer,
    budget,
    model_use,
    plan,
    plan_step,
    problem,
)
from aeond_client.calls.reading.tools import recorded_effect
from aeond_client.records import runs


def event(wire: events_pb2.Event) -> events.Event:
    return events.Event(wire.run_id, wire.seq, values.seconds(wire.time), wire.elapsed_seconds, _kind(wire))


def _kind(wire: events_pb2.Event) -> events.EventKind:
    name = wire.WhichOneof("kind")
    if name is None:
        return events.UnknownKind()
    read = _KINDS.get(name)
    return read(getattr(wire, name)) if read else events.UnknownKind(name)


def run_created(wire: events_pb2.RunCreated) -> events.RunCreated:
    return events.RunCreated(
        text=wire.request.text,
        request_id=wire.request.request_id,
        session_id=wire.request.session_id,
        workspace=wire.request.workspace,
        labels=dict(wire.request.labels),
        model=wire.request.model,
        unattended=wire.request.unattended,
        uid=wire.owner.uid,
        limit=budget(wire.budget),
        plan=plan(wire.plan) if wire.HasField("plan") else None,
        logic_version=wire.logic_version,
        parent_run_id=wire.parent_run_id,
        depth=wire.depth,
        forked_run_id=wire.forked_run_id,
        parent_step_id=wire.parent_step_id,
        lineage=tuple(wire.lineage),
        instructions=wire.instructions,
        tools=tuple(wire.tools),
        taint=tuple(wire.taint),
        asking_tools=tuple(wire.asking_tools),
    )


def budget_exhausted(wire: events_pb2.BudgetExhausted) -> events.BudgetExhausted:
    return events.BudgetExhausted(dimension=wire.dimension)


def answer_composed(wire: events_pb2.AnswerComposed) -> events.AnswerComposed:
    return events.AnswerComposed(
        answer=answer(wire.answer),
        used=amounts(wire.used),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def cancel_requested(wire: events_pb2.CancelRequested) -> events.CancelRequested:
    return events.CancelRequested(reason=wire.reason, uid=wire.owner.uid)


def run_suspended(wire: events_pb2.RunSuspended) -> events.RunSuspended:
    return events.RunSuspended(
        reason=values.chosen(parts_pb2.SuspendReason, wire.reason), message=wire.message
    )


def run_ended(wire: events_pb2.RunEnded) -> events.RunEnded:
    return events.RunEnded(
        state=runs.RunState(values.word(parts_pb2.RunState, wire.state)),
        problem=problem(wire.problem) if wire.HasField("problem") else None,
    )


def run_started(_wire: events_pb2.RunStarted) -> events.RunStarted:
    return events.RunStarted()


def answer_started(wire: events_pb2.AnswerStarted) -> events.AnswerStarted:
    return events.AnswerStarted(reservation=amounts(wire.reservation))


def run_parked(_wire: events_pb2.RunParked) -> events.RunParked:
    return events.RunParked()


def run_resumed(_wire: events_pb2.RunResumed) -> events.RunResumed:
    return events.RunResumed()


def planning_started(wire: events_pb2.PlanningStarted) -> events.PlanningStarted:
    return events.PlanningStarted(reservation=amounts(wire.reservation))


def plan_adopted(wire: events_pb2.PlanAdopted) -> events.PlanAdopted:
    return events.PlanAdopted(
        plan=plan(wire.plan),
        source=values.chosen(parts_pb2.PlanSource, wire.source),
        used=amounts(wire.used),
        repairs=tuple(wire.repairs),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def planning_failed(wire: events_pb2.PlanningFailed) -> events.PlanningFailed:
    return events.PlanningFailed(
        problem=problem(wire.problem),
        used=amounts(wire.used),
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def pass_started(wire: events_pb2.PassStarted) -> events.PassStarted:
    return events.PassStarted(pass_index=wire.pass_index)


def pass_ended(wire: events_pb2.PassEnded) -> events.PassEnded:
    return events.PassEnded(pass_index=wire.pass_index)


def step_started(wire: events_pb2.StepStarted) -> events.StepStarted:
    return events.StepStarted(
        step=plan_step(wire.step),
        attempt=wire.attempt,
        mode=values.chosen(parts_pb2.StepMode, wire.mode),
        recovery=values.chosen(tools_pb2.Recovery, wire.recovery),
        reservation=amounts(wire.reservation),
    )


def step_repaired(wire: events_pb2.StepRepaired) -> events.StepRepaired:
    return events.StepRepaired(
        step=plan_step(wire.step), problem=problem(wire.problem), used=amounts(wire.used)
    )


def step_ended(wire: events_pb2.StepEnded) -> events.StepEnded:
    return events.StepEnded(
        step_id=wire.step_id,
        state=runs.StepState(values.word(parts_pb2.StepState, wire.state)),
        mode=values.chosen(parts_pb2.StepMode, wire.mode),
        output=values.value(wire.output_json),
        error=wire.error,
        reason=wire.reason,
        clarity=values.chosen(parts_pb2.Clarity, wire.clarity),
        handoff=wire.handoff,
        used=amounts(wire.used),
        duration_seconds=wire.duration_seconds,
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
        effects=tuple(map(recorded_effect, wire.effects)),
        candidates=tuple(wire.candidates),
        taint=tuple(wire.taint),
        rule=wire.rule,
        policy_version=wire.policy_version,
    )


def step_resolved(wire: events_pb2.StepResolved) -> events.StepResolved:
    return events.StepResolved(
        resolution=values.word(parts_pb2.Resolution, wire.resolution),
        step_id=wire.step_id,
        uid=wire.owner.uid,
    )


def text_delta(wire: events_pb2.TextDelta) -> events.TextDelta:
    return events.TextDelta(text=wire.text, offset=wire.offset, step_id=wire.step_id)


def progress(wire: events_pb2.Progress) -> events.Progress:
    return events.Progress(activity=wire.activity, fraction=wire.fraction, step_id=wire.step_id)


def queued(wire: events_pb2.Queued) -> events.Queued:
    return events.Queued(ahead=wire.ahead)


_KINDS: dict[str, Callable[[Any], events.EventKind]] = {
    "run_created": run_created,
    "run_started": run_started,
    "planning_started": planning_started,
    "plan_adopted": plan_adopted,
    "planning_failed": planning_failed,
    "pass_started": pass_started,
    "step_started": step_started,
    "step_repaired": step_repaired,
    "step_ended": step_ended,
    "pass_ended": pass_ended,
    "answer_started": answer_started,
    "answer_composed": answer_composed,
    "budget_exhausted": budget_exhausted,
    "cancel_requested": cancel_requested,
    "run_parked": run_parked,
    "run_resumed": run_resumed,
    "run_suspended": run_suspended,
    "step_resolved": step_resolved,
    "run_ended": run_ended,
    "profile_inferred": profile_inferred,
    "route_chosen": route_chosen,
    "references_resolved": references_resolved,
    "pass_evaluated": pass_evaluated,
    "plan_refined": plan_refined,
    "budget_adjusted": budget_adjusted,
    "input_requested": input_requested,
    "input_answered": input_answered,
    "child_run_started": child_run_started,
    "child_run_ended": child_run_ended,
    "policy_decided": policy_decided,
    "approval_requested": approval_requested,
    "approval_decided": approval_decided,
    "operation_started": operation_started,
    "text_delta": text_delta,
    "progress": progress,
    "queued": queued,
}
