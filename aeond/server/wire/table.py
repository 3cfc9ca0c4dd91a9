"""The table of everything that is sent: each domain type with its message, and the fields that differ by name.

Kinds of events are not listed if they differ in nothing: each is sent as the message of its name.
"""

from typing import Any, get_args

from google.protobuf.message_factory import GetMessageClass

from aeond.api.v1 import (
    daemon_pb2,
    events_pb2,
    judgements_pb2,
    models_pb2,
    parts_pb2,
    policy_pb2,
    runs_pb2,
    sessions_pb2,
    tools_pb2,
)
from aeond.domain import daemons, llm, outcome, policy, sessions, tools, undo
from aeond.domain.plans import approvals, evaluations, plan, profiles, steps
from aeond.domain.runs import budgets, events, questions, run
from aeond.domain.runs.live_updates import LiveUpdate
from aeond.ports import RunSummary, serving
from aeond.server.wire.codec import Encoder, Shape
from aeond.server.wire.json_text import json_text

# 64 outputs of this size fit into one message of 4 MiB, the limit of clients.
MAX_OUTPUT_BYTES = 32 * 1024

KINDS = {
    field.message_type.name: (field.name, GetMessageClass(field.message_type))
    for field in events_pb2.Event.DESCRIPTOR.oneofs_by_name["kind"].fields
    if field.message_type is not None
}
"""By the name of a kind's class: its field of Event, and its message."""


def _output(step: steps.StepSnapshot) -> str:
    has_output = step.state is plan.StepState.SUCCEEDED or step.output is not None
    return json_text(step.output) if has_output else ""


def _short_output(step: steps.StepSnapshot) -> str:
    output = _output(step)
    return output if len(output.encode()) <= MAX_OUTPUT_BYTES else ""


def _engine(daemon: daemons.DaemonSnapshot) -> models_pb2.Engine:
    engine = to_wire(daemon.engine, models_pb2.Engine)
    if daemon.metrics is not None:
        engine.metrics.CopyFrom(to_wire(daemon.metrics, models_pb2.EngineMetrics))
    return engine


def _kind(kind: type[Any], **differences: Any) -> Shape[Any]:
    return Shape(kind, KINDS[kind.__name__][1], **differences)


_UNLIKE_KINDS = (
    _kind(events.RunCreated, inside=("ancestry", "request")),
    _kind(events.PassEvaluated, inside=("evaluation",)),
    _kind(
        events.ApprovalDecided, owner=lambda decided: None if decided.owner == run.Owner() else decided.owner
    ),
    _kind(events.ChildRunStarted, inside=("child", "child.request")),
)
_KINDS = (
    *_UNLIKE_KINDS,
    *(
        _kind(kind)
        for kind in (*get_args(events.EventKind), *get_args(LiveUpdate))
        if kind not in {shape.ours for shape in _UNLIKE_KINDS}
    ),
)
_RECORDS: tuple[Shape[Any], ...] = (
    Shape(
        run.RunRequest,
        parts_pb2.RunRequest,
        tools=lambda request: request.tools or (("",) if request.tools == () else ()),
    ),
    Shape(run.Owner, parts_pb2.Owner),
    Shape(run.Answer, parts_pb2.Answer),
    Shape(
        run.RunSnapshot,
        runs_pb2.Run,
        inside=("ledger", "ancestry", "request"),
        budget=lambda run: run.ledger.limit,
        goal=lambda run: run.plan and run.plan.goal,
        steps=lambda run: run.steps.values(),
        last_seq=lambda run: run.seq,
        effects=lambda run: tools.bounded(run.effects, tools.MAX_ANSWER_EFFECTS),
    ),
    Shape(
        steps.StepSnapshot,
        runs_pb2.Step,
        output_json=_short_output,
        output_bytes=lambda step: len(_output(step).encode()),
        recovery=lambda step: step.recovery if step.attempt else None,
    ),
    Shape(RunSummary, runs_pb2.RunSummary),
    Shape(undo.Undone, runs_pb2.UndoneChange),
    Shape(undo.UndoRefused, runs_pb2.RefusedUndo),
    Shape(undo.UndoReport, runs_pb2.UndoRunResponse),
    Shape(budgets.Budget, parts_pb2.Budget),
    Shape(budgets.Amounts, parts_pb2.Amounts),
    Shape(budgets.ModelCall, parts_pb2.ModelCall),
    Shape(budgets.ModelUse, parts_pb2.ModelUse),
    Shape(outcome.Problem, parts_pb2.Problem),
    Shape(plan.Plan, parts_pb2.Plan),
    Shape(plan.PlanStep, parts_pb2.PlanStep),
    Shape(
        questions.Question,
        parts_pb2.Question,
        inside=("request",),
        default_json=lambda asked: json_text(asked.request.default) if asked.request.has_default else "",
        deadline_time=lambda asked: asked.deadline_time or None,
    ),
    Shape(
        approvals.ApprovalRequest,
        parts_pb2.ApprovalRequest,
        expire_time=lambda approval: approval.expire_time or None,
    ),
    Shape(approvals.CallPreview, parts_pb2.CallPreview),
    Shape(profiles.TaskProfile, judgements_pb2.TaskProfile),
    Shape(evaluations.Issue, judgements_pb2.Issue),
    Shape(evaluations.RefinementAction, judgements_pb2.RefinementAction),
    Shape(tools.ToolCall, tools_pb2.ToolCall),
    Shape(serving.OfferAccepted, tools_pb2.ToolOfferAccepted),
    Shape(serving.CallStarted, tools_pb2.ToolCallStarted),
    Shape(serving.CallCancelled, tools_pb2.ToolCallCancelled),
    Shape(tools.RecordedEffect, tools_pb2.RecordedEffect),
    Shape(
        tools.ToolSpec,
        tools_pb2.ToolSpec,
        example_json=lambda spec: "" if spec.example is None else json_text(spec.example),
    ),
    Shape(
        tools.ToolResult,
        tools_pb2.ToolResult,
        data_json=lambda result: json_text(result.data) if result.success else "",
    ),
    Shape(sessions.Session, sessions_pb2.Session),
    Shape(
        sessions.SessionMessage,
        sessions_pb2.Message,
        unset=("metadata_json",),  # only messages of requests have metadata
        content_json=lambda said: json_text(said.text),
    ),
    Shape(sessions.SessionContext, sessions_pb2.PreviewContextResponse),
    Shape(llm.Embedding, models_pb2.Embedding),
    Shape(llm.Embeddings, models_pb2.EmbedResponse),
    Shape(llm.TokenUsage, models_pb2.TokenUsage),
    Shape(llm.LLMChunk, models_pb2.GenerateResponse),
    Shape(llm.EngineSnapshot, models_pb2.Engine, unset=("metrics",)),  # set by _engine
    Shape(llm.EngineMetrics, models_pb2.EngineMetrics),
    Shape(
        llm.ModelInfo,
        models_pb2.Model,
        metadata_json=lambda model: json_text(model.metadata) if model.metadata else "",
    ),
    Shape(policy.Decision, policy_pb2.PolicyDecision),
    Shape(policy.PolicyRule, policy_pb2.PolicyRule),
    Shape(policy.PolicyDescription, policy_pb2.GetPolicyResponse),
    Shape(
        policy.DecidedCall,
        policy_pb2.TestPolicyResponse,
        effect=lambda decided: decided.facts.effect,
        facts_json=lambda decided: json_text(decided.facts.as_json()),
    ),
    Shape(
        policy.ReplayedDecision,
        policy_pb2.ReplayedDecision,
        call=lambda replayed: tools.ToolCall(replayed.tool, replayed.arguments),
    ),
    Shape(policy.PolicyReplay, policy_pb2.ReplayPolicyResponse),
    Shape(daemons.DaemonSnapshot, daemon_pb2.GetStatusResponse, engine=_engine),
    Shape(daemons.DaemonLoad, daemon_pb2.Load, unset=("connections", "streams")),  # counted by the server
    Shape(daemons.ConfigChanges, daemon_pb2.ReloadResponse),
)

_ENCODER = Encoder((*_KINDS, *_RECORDS))
SHAPES = tuple(_ENCODER.shapes.values())

to_wire = _ENCODER.encode
