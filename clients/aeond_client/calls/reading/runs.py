# Generated from protos/ by `make proto`; never edited.
"""Converts messages of runs.proto to records."""

from aeond.api.v1 import judgements_pb2, parts_pb2, runs_pb2, tools_pb2
from aeond_client.calls import values
from aeond_client.calls.reading.judgements import task_profile
from aeond_client.calls.reading.parts import (
    amounts,
    answer,
    approval_request,
    budget,
    model_use,
    plan_step,
    problem,
    question,
)
from aeond_client.calls.reading.tools import recorded_effect
from aeond_client.records import runs


def step(wire: runs_pb2.Step) -> runs.Step:
    return runs.Step(
        plan_step=plan_step(wire.step),
        state=runs.StepState(values.word(parts_pb2.StepState, wire.state)),
        attempt=wire.attempt,
        mode=values.chosen(parts_pb2.StepMode, wire.mode),
        recovery=values.chosen(tools_pb2.Recovery, wire.recovery),
        output=values.value(wire.output_json),
        output_bytes=wire.output_bytes,
        error=wire.error,
        reason=wire.reason,
        clarity=values.chosen(parts_pb2.Clarity, wire.clarity),
        duration_seconds=wire.duration_seconds,
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def run(wire: runs_pb2.Run) -> runs.Run:
    return runs.Run(
        run_id=wire.run_id,
        state=runs.RunState(values.word(parts_pb2.RunState, wire.state)),
        text=wire.request.text,
        phase=values.chosen(parts_pb2.Phase, wire.phase),
        request_id=wire.request.request_id,
        session_id=wire.request.session_id,
        workspace=wire.request.workspace,
        labels=dict(wire.request.labels),
        model=wire.request.model,
        unattended=wire.request.unattended,
        uid=wire.owner.uid,
        limit=budget(wire.budget),
        used=amounts(wire.used),
        reserved=amounts(wire.reserved),
        goal=wire.goal,
        plan_source=values.chosen(parts_pb2.PlanSource, wire.plan_source),
        steps=tuple(map(step, wire.steps)),
        pass_index=wire.pass_index,
        answer=answer(wire.answer) if wire.HasField("answer") else None,
        problem=problem(wire.problem) if wire.HasField("problem") else None,
        cancel_requested=wire.cancel_requested,
        exhausted=wire.exhausted,
        suspend_reason=values.chosen(parts_pb2.SuspendReason, wire.suspend_reason),
        created_time=values.seconds(wire.created_time),
        changed_time=values.seconds(wire.changed_time),
        elapsed_seconds=wire.elapsed_seconds,
        last_seq=wire.last_seq,
        crashes=wire.crashes,
        questions=tuple(map(question, wire.questions)),
        approvals=tuple(map(approval_request, wire.approvals)),
        parent_run_id=wire.parent_run_id,
        depth=wire.depth,
        profile=task_profile(wire.profile) if wire.HasField("profile") else None,
        route=values.chosen(judgements_pb2.Route, wire.route),
        parked=wire.parked,
        effects=tuple(map(recorded_effect, wire.effects)),
        taint=tuple(wire.taint),
    )


def run_summary(wire: runs_pb2.RunSummary) -> runs.RunSummary:
    return runs.RunSummary(
        run_id=wire.run_id,
        state=runs.RunState(values.word(parts_pb2.RunState, wire.state)),
        text=wire.text,
        created_time=values.seconds(wire.created_time),
        changed_time=values.seconds(wire.changed_time),
        last_seq=wire.last_seq,
        uid=wire.uid,
        parent_run_id=wire.parent_run_id,
    )


def undone_change(wire: runs_pb2.UndoneChange) -> runs.UndoneChange:
    return runs.UndoneChange(target=wire.target, outcome=wire.outcome)


def refused_undo(wire: runs_pb2.RefusedUndo) -> runs.RefusedUndo:
    return runs.RefusedUndo(target=wire.target, reason=wire.reason, message=wire.message)


def undo_report(wire: runs_pb2.UndoRunResponse) -> runs.UndoReport:
    return runs.UndoReport(
        undone=tuple(map(undone_change, wire.undone)), refused=tuple(map(refused_undo, wire.refused))
    )
