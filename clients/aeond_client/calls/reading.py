"""Converts wire messages to records. Values added by a newer daemon become `unspecified`."""

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.timestamp_pb2 import Timestamp

from aeond.api.v1 import daemon_pb2, judgements_pb2, memory_pb2, models_pb2, parts_pb2, runs_pb2, tools_pb2
from aeond_client.daemon import ConfigChanges, DaemonStatus
from aeond_client.judgements import Issue, Question, TaskProfile
from aeond_client.models import Engine, EngineMetrics, ModelInfo, TextPiece
from aeond_client.runs import (
    Amounts,
    Answer,
    Budget,
    ModelUse,
    Plan,
    PlanStep,
    Problem,
    Run,
    RunState,
    RunSummary,
    Step,
    StepState,
)
from aeond_client.tools import RecordedEffect, ToolResult, ToolSpec


def word(enum: Any, number: int) -> str:
    """The name of an enum's value: RUN_STATE_SUCCEEDED is `succeeded`."""
    wrapper: EnumTypeWrapper = enum
    if number not in wrapper.values():
        return "unspecified"
    prefix = wrapper.Name(0).removesuffix("UNSPECIFIED")
    return wrapper.Name(number).removeprefix(prefix).lower()


def chosen(enum: Any, number: int) -> str:
    """Like `word`, for an optional value: "" if it is not set."""
    name = word(enum, number)
    return "" if name == "unspecified" else name


def value(text: str) -> Any:
    """A JSON value from its text; None for empty text."""
    return json.loads(text) if text else None


def json_object(text: str) -> dict[str, Any]:
    """A JSON object from its text; empty for empty text."""
    return dict(json.loads(text)) if text else {}


def seconds(timestamp: Timestamp) -> float:
    """Unix time in seconds."""
    return timestamp.seconds + timestamp.nanos / 1e9


def run_state(number: int) -> RunState:
    return RunState(word(parts_pb2.RunState, number))


def step_state(number: int) -> StepState:
    return StepState(word(parts_pb2.StepState, number))


def amounts(wire: parts_pb2.Amounts) -> Amounts:
    return Amounts(wire.ttl, wire.llm_calls, wire.tokens, wire.tool_calls, wire.passes)


def budget(wire: parts_pb2.Budget) -> Budget:
    def bound(name: str) -> Any:
        return getattr(wire, name) if wire.HasField(name) else None  # type: ignore[arg-type]  # all are fields

    return Budget(*(bound(field.name) for field in fields(Budget)))


def problem(wire: parts_pb2.Problem) -> Problem:
    return Problem(wire.reason, wire.message, wire.path, wire.retryable)


def answer(wire: parts_pb2.Answer) -> Answer:
    return Answer(
        text=wire.text,
        step_ids=tuple(wire.step_ids),
        confidence=wire.confidence,
        notes=tuple(wire.notes),
        budget_exhausted=wire.budget_exhausted,
        synthesized=wire.synthesized,
        effects=effects(wire.effects),
    )


def effects(wire: Iterable[tools_pb2.RecordedEffect]) -> tuple[RecordedEffect, ...]:
    return tuple(RecordedEffect(effect.kind, effect.target, effect.detail) for effect in wire)


def plan_step(wire: parts_pb2.PlanStep) -> PlanStep:
    return PlanStep(
        step_id=wire.step_id,
        description=wire.description,
        tool=wire.tool_call.tool,
        arguments=json_object(wire.tool_call.arguments_json),
        agent=wire.agent,
        depends_on=tuple(wire.depends_on),
        provides=tuple(wire.provides),
        handoff_to_next=wire.handoff_to_next,
        errors=tuple(wire.errors),
    )


def plan(wire: parts_pb2.Plan) -> Plan:
    return Plan(wire.goal, tuple(plan_step(step) for step in wire.steps))


def step(wire: runs_pb2.Step) -> Step:
    return Step(
        plan_step=plan_step(wire.step),
        state=step_state(wire.state),
        attempt=wire.attempt,
        mode=chosen(parts_pb2.StepMode, wire.mode),
        output=value(wire.output_json),
        output_bytes=wire.output_bytes,
        error=wire.error,
        reason=wire.reason,
        clarity=chosen(parts_pb2.Clarity, wire.clarity),
        duration_seconds=wire.duration_seconds,
        model_use=model_use(wire.model_use) if wire.HasField("model_use") else None,
    )


def run(wire: runs_pb2.Run) -> Run:
    return Run(
        run_id=wire.run_id,
        state=run_state(wire.state),
        text=wire.request.text,
        request_id=wire.request.request_id,
        session_id=wire.request.session_id,
        workspace=wire.request.workspace,
        labels=dict(wire.request.labels),
        uid=wire.owner.uid,
        last_seq=wire.last_seq,
        phase=chosen(parts_pb2.Phase, wire.phase),
        goal=wire.goal,
        steps=tuple(step(each) for each in wire.steps),
        answer=answer(wire.answer) if wire.HasField("answer") else None,
        problem=problem(wire.problem) if wire.HasField("problem") else None,
        limit=budget(wire.budget),
        used=amounts(wire.used),
        exhausted=wire.exhausted,
        suspend_reason=chosen(parts_pb2.SuspendReason, wire.suspend_reason),
        cancel_requested=wire.cancel_requested,
        created_time=seconds(wire.created_time),
        changed_time=seconds(wire.changed_time),
        elapsed_seconds=wire.elapsed_seconds,
        route=chosen(judgements_pb2.Route, wire.route),
        profile=profile(wire.profile) if wire.HasField("profile") else None,
        questions=tuple(map(question, wire.questions)),
        parent_run_id=wire.parent_run_id,
        depth=wire.depth,
        model=wire.request.model,
        effects=effects(wire.effects),
    )


def profile(wire: judgements_pb2.TaskProfile) -> TaskProfile:
    return TaskProfile(
        reasoning_depth=wire.reasoning_depth,
        information_sufficiency=wire.information_sufficiency,
        expected_tool_usage=chosen(judgements_pb2.ToolUsage, wire.expected_tool_usage),
        output_breadth=chosen(judgements_pb2.Breadth, wire.output_breadth),
        confidence_requirement=chosen(judgements_pb2.ConfidenceLevel, wire.confidence_requirement),
        raw_inference=wire.raw_inference,
    )


def issue(wire: judgements_pb2.Issue) -> Issue:
    severity = chosen(judgements_pb2.Severity, wire.severity)
    return Issue(wire.reason, severity, wire.step_id, wire.message, wire.proposal)


def question(wire: parts_pb2.Question) -> Question:
    return Question(
        question_id=wire.question_id,
        step_id=wire.step_id,
        prompt=wire.prompt,
        schema=json_object(wire.schema_json),
        options=tuple(wire.options),
        default=value(wire.default_json),
        has_default=bool(wire.default_json),
        deadline_time=seconds(wire.deadline_time),
    )


def run_summary(wire: runs_pb2.RunSummary) -> RunSummary:
    return RunSummary(
        run_id=wire.run_id,
        state=run_state(wire.state),
        text=wire.text,
        created_time=seconds(wire.created_time),
        changed_time=seconds(wire.changed_time),
        last_seq=wire.last_seq,
        uid=wire.uid,
        parent_run_id=wire.parent_run_id,
    )


def tool_spec(wire: tools_pb2.ToolSpec) -> ToolSpec:
    return ToolSpec(
        name=wire.name,
        description=wire.description,
        effect=word(tools_pb2.Effect, wire.effect),
        input_schema=json_object(wire.input_schema_json),
        output_schema=json_object(wire.output_schema_json),
        example=json_object(wire.example_json) if wire.example_json else None,
        idempotent=wire.idempotent,
        timeout_seconds=wire.timeout_seconds,
        max_output_bytes=wire.max_output_bytes,
        source=wire.source,
    )


def tool_result(wire: tools_pb2.ToolResult) -> ToolResult:
    return ToolResult(
        success=wire.success,
        data=value(wire.data_json),
        error=wire.error,
        reason=wire.reason,
        metadata=json_object(wire.metadata_json),
        effects=effects(wire.effects),
    )


def memory_entry(wire: memory_pb2.MemoryEntry) -> tuple[str, Any]:
    return wire.key, value(wire.value_json)


def model(wire: models_pb2.Model) -> ModelInfo:
    return ModelInfo(
        name=wire.name,
        description=wire.description,
        licence=wire.licence,
        size_bytes=wire.size_bytes,
        context_length=wire.context_length,
        digest=wire.digest,
        present=wire.present,
        loaded=wire.loaded,
        default=wire.default,
        base_model=wire.base_model,
    )


def engine(wire: models_pb2.Engine) -> Engine:
    return Engine(
        state=word(models_pb2.EngineState, wire.state),
        model=wire.model,
        activity=wire.activity,
        progress=wire.progress,
        error=wire.error,
        restarts=wire.restarts,
        metrics=_metrics(wire.metrics) if wire.HasField("metrics") else None,
    )


def _metrics(wire: models_pb2.EngineMetrics) -> EngineMetrics:
    return EngineMetrics(
        running_requests=wire.running_requests,
        waiting_requests=wire.waiting_requests,
        prompt_tokens=wire.prompt_tokens,
        cached_tokens=wire.cached_tokens,
        completion_tokens=wire.completion_tokens,
        tokens_per_second=wire.tokens_per_second,
        first_token_seconds=wire.first_token_seconds,
        cache_fraction=wire.cache_fraction,
        read_tokens=wire.read_tokens,
    )


def model_use(wire: parts_pb2.ModelUse) -> ModelUse:
    return ModelUse(
        prompt_tokens=wire.prompt_tokens,
        completion_tokens=wire.completion_tokens,
        cached_tokens=wire.cached_tokens,
        first_token_seconds=wire.first_token_seconds,
        engine_seconds=wire.engine_seconds,
    )


def text_piece(wire: models_pb2.GenerateResponse) -> TextPiece:
    return TextPiece(
        text=wire.text,
        finish_reason=chosen(models_pb2.FinishReason, wire.finish_reason),
        prompt_tokens=wire.usage.prompt_tokens,
        completion_tokens=wire.usage.completion_tokens,
        cached_tokens=wire.usage.cached_tokens,
    )


def config_changes(wire: daemon_pb2.ReloadResponse) -> ConfigChanges:
    return ConfigChanges(tuple(wire.changed_keys), tuple(wire.restart_keys))


def daemon_status(wire: daemon_pb2.GetStatusResponse) -> DaemonStatus:
    load = wire.load
    return DaemonStatus(
        version=wire.version,
        state=word(daemon_pb2.DaemonState, wire.state),
        pid=wire.pid,
        started_time=seconds(wire.started_time),
        uptime_seconds=wire.uptime_seconds,
        engine=engine(wire.engine),
        running_runs=load.running_runs,
        waiting_runs=load.waiting_runs,
        attention_runs=load.attention_runs,
        max_running_runs=load.max_running_runs,
        max_waiting_runs=load.max_waiting_runs,
        connections=load.connections,
        streams=load.streams,
        tool_count=wire.tool_count,
        resident_bytes=wire.resident_bytes,
        messages=tuple(wire.messages),
    )
