"""Translates events to the wire: every kind of the domain has a message of the same name."""

from typing import assert_never

from aeond.api.v1 import events_pb2 as pb
from aeond.domain.runs import events as ours
from aeond.server.wire.enums import (
    CLARITIES,
    PLAN_SOURCES,
    RECOVERIES,
    RESOLUTIONS,
    RUN_STATES,
    STEP_MODES,
    STEP_STATES,
    SUSPEND_REASONS,
)
from aeond.server.wire.json_text import json_text, plain_text
from aeond.server.wire.records import parts
from aeond.server.wire.records.judgements import judgement_to_wire
from aeond.server.wire.records.tools import effects_to_wire


def event_to_wire(event: ours.Event) -> pb.Event:
    """A journaled event."""
    message = _with_kind(event.kind)
    message.run_id = event.run_id
    message.seq = event.seq
    message.time.CopyFrom(parts.timestamp(event.time))
    message.elapsed_seconds = event.elapsed_seconds
    return message


def live_update_to_wire(update: ours.LiveUpdate) -> pb.Event:
    """A live update, which is not journaled: it has neither number nor time."""
    match update:
        case ours.TextDelta():
            delta = pb.TextDelta(step_id=update.step_id, text=plain_text(update.text), offset=update.offset)
            return pb.Event(run_id=update.run_id, text_delta=delta)
        case ours.Progress():
            progress = pb.Progress(
                step_id=update.step_id, activity=plain_text(update.activity), fraction=update.fraction
            )
            return pb.Event(run_id=update.run_id, progress=progress)
        case _:
            assert_never(update)


def _with_kind(kind: ours.EventKind) -> pb.Event:
    match kind:
        case ours.RunCreated():
            return pb.Event(run_created=_run_created(kind))
        case ours.RunStarted():
            return pb.Event(run_started=pb.RunStarted())
        case ours.PlanningStarted():
            return pb.Event(
                planning_started=pb.PlanningStarted(reservation=parts.amounts_to_wire(kind.reservation))
            )
        case ours.PlanAdopted():
            return pb.Event(plan_adopted=_plan_adopted(kind))
        case ours.PlanningFailed():
            return pb.Event(
                planning_failed=pb.PlanningFailed(
                    problem=parts.problem_to_wire(kind.problem), used=parts.amounts_to_wire(kind.used)
                )
            )
        case ours.PassStarted():
            return pb.Event(pass_started=pb.PassStarted(pass_index=kind.pass_index))
        case ours.PassEnded():
            return pb.Event(pass_ended=pb.PassEnded(pass_index=kind.pass_index))
        case ours.StepStarted():
            return pb.Event(step_started=_step_started(kind))
        case ours.StepRepaired():
            return pb.Event(step_repaired=_step_repaired(kind))
        case ours.StepEnded():
            return pb.Event(step_ended=_step_ended(kind))
        case ours.StepResolved():
            return pb.Event(step_resolved=_step_resolved(kind))
        case ours.AnswerStarted():
            return pb.Event(
                answer_started=pb.AnswerStarted(reservation=parts.amounts_to_wire(kind.reservation))
            )
        case ours.AnswerComposed():
            return pb.Event(
                answer_composed=pb.AnswerComposed(
                    answer=parts.answer_to_wire(kind.answer), used=parts.amounts_to_wire(kind.used)
                )
            )
        case ours.BudgetExhausted():
            return pb.Event(budget_exhausted=pb.BudgetExhausted(dimension=kind.dimension))
        case ours.CancelRequested():
            return pb.Event(
                cancel_requested=pb.CancelRequested(
                    owner=parts.owner_to_wire(kind.owner), reason=plain_text(kind.reason)
                )
            )
        case ours.RunParked():
            return pb.Event(run_parked=pb.RunParked())
        case ours.RunResumed():
            return pb.Event(run_resumed=pb.RunResumed())
        case ours.RunSuspended():
            return pb.Event(
                run_suspended=pb.RunSuspended(
                    reason=SUSPEND_REASONS.wire(kind.reason), message=plain_text(kind.message)
                )
            )
        case ours.RunEnded():
            return pb.Event(
                run_ended=pb.RunEnded(
                    state=RUN_STATES.wire(kind.state), problem=parts.problem_to_wire(kind.problem)
                )
            )
        case _:
            return judgement_to_wire(kind)


def _run_created(kind: ours.RunCreated) -> pb.RunCreated:
    return pb.RunCreated(
        request=parts.run_request_to_wire(kind.request),
        owner=parts.owner_to_wire(kind.request.owner),
        budget=parts.budget_to_wire(kind.budget),
        plan=parts.plan_to_wire(kind.plan),
        logic_version=kind.logic_version,
        parent_run_id=kind.ancestry.parent_run_id,
        parent_step_id=plain_text(kind.ancestry.parent_step_id),
        depth=kind.ancestry.depth,
        forked_run_id=kind.ancestry.forked_run_id,
        lineage=parts.plain_texts(kind.ancestry.lineage),
        instructions=plain_text(kind.request.instructions),
        tools=parts.plain_texts(kind.request.tools or ()),
        model=plain_text(kind.request.model),
    )


def _plan_adopted(kind: ours.PlanAdopted) -> pb.PlanAdopted:
    return pb.PlanAdopted(
        plan=parts.plan_to_wire(kind.plan),
        source=PLAN_SOURCES.wire(kind.source),
        used=parts.amounts_to_wire(kind.used),
        repairs=parts.plain_texts(kind.repairs),
    )


def _step_started(kind: ours.StepStarted) -> pb.StepStarted:
    return pb.StepStarted(
        step=parts.step_to_wire(kind.step),
        attempt=kind.attempt,
        mode=STEP_MODES.wire(kind.mode),
        recovery=RECOVERIES.wire(kind.recovery),
        reservation=parts.amounts_to_wire(kind.reservation),
    )


def _step_repaired(kind: ours.StepRepaired) -> pb.StepRepaired:
    return pb.StepRepaired(
        step=parts.step_to_wire(kind.step),
        problem=parts.problem_to_wire(kind.problem),
        used=parts.amounts_to_wire(kind.used),
    )


def _step_ended(kind: ours.StepEnded) -> pb.StepEnded:
    return pb.StepEnded(
        step_id=plain_text(kind.step_id),
        state=STEP_STATES.wire(kind.state),
        mode=STEP_MODES.wire(kind.mode),
        output_json=json_text(kind.output),
        error=plain_text(kind.error),
        reason=kind.reason,
        clarity=CLARITIES.wire(kind.clarity),
        handoff=plain_text(kind.handoff),
        used=parts.amounts_to_wire(kind.used),
        duration_seconds=kind.duration_seconds,
        model_use=parts.model_use_to_wire(kind.model_use),
        effects=effects_to_wire(kind.effects),
    )


def _step_resolved(kind: ours.StepResolved) -> pb.StepResolved:
    return pb.StepResolved(
        step_id=plain_text(kind.step_id),
        resolution=RESOLUTIONS.wire(kind.resolution),
        owner=parts.owner_to_wire(kind.owner),
    )
