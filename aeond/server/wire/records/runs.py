"""Translates runs and lists of runs to the wire."""

from aeond.api.v1 import runs_pb2 as pb
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import MAX_ANSWER_EFFECTS, bounded
from aeond.ports import RunSummary
from aeond.server.wire.enums import (
    CLARITIES,
    PHASES,
    PLAN_SOURCES,
    RECOVERIES,
    ROUTES,
    RUN_STATES,
    STEP_MODES,
    STEP_STATES,
    SUSPEND_REASONS,
)
from aeond.server.wire.json_text import json_text, plain_text
from aeond.server.wire.records import judgements, parts
from aeond.server.wire.records.tools import effects_to_wire

# 64 outputs of this size fit into one message of 4 MiB, the limit of clients.
MAX_OUTPUT_BYTES = 32 * 1024


def run_to_wire(run: RunSnapshot) -> pb.Run:
    return pb.Run(
        run_id=run.run_id,
        state=RUN_STATES.wire(run.state),
        phase=PHASES.wire(run.phase),
        request=parts.run_request_to_wire(run.request),
        owner=parts.owner_to_wire(run.request.owner),
        budget=parts.budget_to_wire(run.ledger.limit),
        used=parts.amounts_to_wire(run.ledger.used),
        reserved=parts.amounts_to_wire(run.ledger.reserved),
        goal=plain_text(run.plan.goal) if run.plan is not None else "",
        plan_source=PLAN_SOURCES.wire(run.plan_source),
        steps=[_step_to_wire(step) for step in run.steps.values()],
        pass_index=run.pass_index,
        answer=parts.answer_to_wire(run.answer),
        problem=parts.problem_to_wire(run.problem),
        cancel_requested=run.cancel_requested,
        exhausted=run.exhausted,
        suspend_reason=SUSPEND_REASONS.wire(run.suspend_reason),
        created_time=parts.timestamp(run.created_time),
        changed_time=parts.timestamp(run.changed_time),
        elapsed_seconds=run.elapsed_seconds,
        last_seq=run.seq,
        crashes=run.crashes,
        parked=run.parked,
        questions=[judgements.question_to_wire(question) for question in run.questions],
        parent_run_id=run.ancestry.parent_run_id,
        depth=run.ancestry.depth,
        profile=judgements.profile_to_wire(run.profile),
        route=ROUTES.wire(run.route),
        effects=effects_to_wire(bounded(run.effects, MAX_ANSWER_EFFECTS)),
    )


def run_summary_to_wire(summary: RunSummary) -> pb.RunSummary:
    return pb.RunSummary(
        run_id=summary.run_id,
        state=RUN_STATES.wire(summary.state),
        text=plain_text(summary.text),
        created_time=parts.timestamp(summary.created_time),
        changed_time=parts.timestamp(summary.changed_time),
        last_seq=summary.last_seq,
        uid=summary.uid,
        parent_run_id=summary.parent_run_id,
    )


def _step_to_wire(step: StepSnapshot) -> pb.Step:
    has_output = step.state is StepState.SUCCEEDED or step.output is not None
    output = json_text(step.output) if has_output else ""
    size = len(output.encode())
    return pb.Step(
        step=parts.step_to_wire(step.step),
        state=STEP_STATES.wire(step.state),
        attempt=step.attempt,
        mode=STEP_MODES.wire(step.mode),
        recovery=RECOVERIES.wire(step.recovery) if step.attempt else RECOVERIES.wire(None),
        output_json=output if size <= MAX_OUTPUT_BYTES else "",
        output_bytes=size,
        error=plain_text(step.error),
        reason=step.reason,
        clarity=CLARITIES.wire(step.clarity),
        duration_seconds=step.duration_seconds,
        model_use=parts.model_use_to_wire(step.model_use),
    )
