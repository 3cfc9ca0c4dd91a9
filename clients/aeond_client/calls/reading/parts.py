# Generated from protos/ by `make proto`; never edited.
"""Converts messages of parts.proto to records."""

from aeond.api.v1 import parts_pb2
from aeond_client.calls import values
from aeond_client.calls.reading.tools import recorded_effect, tool_call
from aeond_client.records import judgements, runs


def call_preview(wire: parts_pb2.CallPreview) -> judgements.CallPreview:
    return judgements.CallPreview(
        diff=wire.diff,
        source=wire.source,
        target=wire.target,
        command=tuple(wire.command),
        host=wire.host,
        problem=wire.problem,
    )


def approval_request(wire: parts_pb2.ApprovalRequest) -> judgements.ApprovalRequest:
    return judgements.ApprovalRequest(
        approval_id=wire.approval_id,
        step_ids=tuple(wire.step_ids),
        calls=tuple(map(tool_call, wire.calls)),
        digest=wire.digest,
        message=wire.message,
        expire_time=values.seconds(wire.expire_time),
        previews=tuple(map(call_preview, wire.previews)),
        scopes=tuple(values.chosen(parts_pb2.ApprovalScope, scope) for scope in wire.scopes),
        folders=tuple(wire.folders),
        hosts=tuple(wire.hosts),
        requested_time=values.seconds(wire.requested_time),
        expire_seconds=wire.expire_seconds,
        unattended=wire.unattended,
        digests=tuple(wire.digests),
        kinds=tuple(wire.kinds),
    )


def question(wire: parts_pb2.Question) -> judgements.Question:
    return judgements.Question(
        question_id=wire.question_id,
        step_id=wire.step_id,
        prompt=wire.prompt,
        schema=values.json_object(wire.schema_json),
        options=tuple(wire.options),
        default=values.value(wire.default_json),
        has_default=bool(wire.default_json),
        deadline_time=values.seconds(wire.deadline_time),
        continues=wire.continues,
    )


def amounts(wire: parts_pb2.Amounts) -> runs.Amounts:
    return runs.Amounts(
        ttl=wire.ttl,
        llm_calls=wire.llm_calls,
        tokens=wire.tokens,
        tool_calls=wire.tool_calls,
        passes=wire.passes,
    )


def budget(wire: parts_pb2.Budget) -> runs.Budget:
    return runs.Budget(
        ttl=wire.ttl if wire.HasField("ttl") else None,
        llm_calls=wire.llm_calls if wire.HasField("llm_calls") else None,
        tokens=wire.tokens if wire.HasField("tokens") else None,
        tool_calls=wire.tool_calls if wire.HasField("tool_calls") else None,
        passes=wire.passes if wire.HasField("passes") else None,
        wall_seconds=wire.wall_seconds if wire.HasField("wall_seconds") else None,
        depth=wire.depth if wire.HasField("depth") else None,
    )


def problem(wire: parts_pb2.Problem) -> runs.Problem:
    return runs.Problem(reason=wire.reason, message=wire.message, path=wire.path, retryable=wire.retryable)


def plan_step(wire: parts_pb2.PlanStep) -> runs.PlanStep:
    return runs.PlanStep(
        step_id=wire.step_id,
        description=wire.description,
        tool=wire.tool_call.tool,
        arguments=values.json_object(wire.tool_call.arguments_json),
        agent=wire.agent,
        depends_on=tuple(wire.depends_on),
        provides=tuple(wire.provides),
        handoff_to_next=wire.handoff_to_next,
        errors=tuple(wire.errors),
    )


def plan(wire: parts_pb2.Plan) -> runs.Plan:
    return runs.Plan(goal=wire.goal, steps=tuple(map(plan_step, wire.steps)))


def answer(wire: parts_pb2.Answer) -> runs.Answer:
    return runs.Answer(
        text=wire.text,
        step_ids=tuple(wire.step_ids),
        confidence=wire.confidence,
        notes=tuple(wire.notes),
        budget_exhausted=wire.budget_exhausted,
        synthesized=wire.synthesized,
        effects=tuple(map(recorded_effect, wire.effects)),
    )


def model_call(wire: parts_pb2.ModelCall) -> runs.ModelCall:
    return runs.ModelCall(
        prompt_tokens=wire.prompt_tokens,
        completion_tokens=wire.completion_tokens,
        cached_tokens=wire.cached_tokens,
        first_token_seconds=wire.first_token_seconds,
        engine_seconds=wire.engine_seconds,
        end_time=wire.end_time,
    )


def model_use(wire: parts_pb2.ModelUse) -> runs.ModelUse:
    return runs.ModelUse(
        prompt_tokens=wire.prompt_tokens,
        completion_tokens=wire.completion_tokens,
        cached_tokens=wire.cached_tokens,
        first_token_seconds=wire.first_token_seconds,
        engine_seconds=wire.engine_seconds,
        calls=tuple(map(model_call, wire.calls)),
    )
