"""The forms of everything that is received: the checks of each field, and the domain type that they give."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from google.protobuf.timestamp_pb2 import Timestamp

from aeond.api.v1 import models_pb2, parts_pb2, runs_pb2, sessions_pb2, tools_pb2
from aeond.domain.llm import LLMRequest, Priority
from aeond.domain.messages import Message, Role
from aeond.domain.plans.approvals import ApprovalAnswer, ApprovalScope
from aeond.domain.plans.plan import MAX_PLAN_STEPS, Plan, PlanStep
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.run import MAX_REQUEST_CHARS, Resolution, RunRequest, RunState
from aeond.domain.tools import Effect, RecordedEffect, ToolCall, ToolResult, ToolSpec
from aeond.domain.values import JsonObject
from aeond.errors import InvalidInputError
from aeond.server.wire import checks
from aeond.server.wire.codec import Form, each
from aeond.server.wire.enums import Names
from aeond.server.wire.json_text import MAX_JSON_BYTES, json_object, json_value

MAX_PLAN_BYTES = 1 << 20
MAX_STEP_TEXT_CHARS = 10_000
MAX_PARALLEL_STEPS = 16
DEFAULT_PARALLEL_STEPS = 4
MAX_AMOUNT = 1_000_000_000
MAX_ARGUMENTS_BYTES = 256 * 1024
MAX_MESSAGES = 256
MAX_MESSAGE_BYTES = 4 << 20
MAX_TOKENS = 32_768
DEFAULT_TOKENS = 512
MAX_STOPS = 16
MAX_STOP_CHARS = 256
MAX_TEMPERATURE = 2.0
DEFAULT_DEADLINE_SECONDS = 300.0
MAX_DEADLINE_SECONDS = 3_600.0
MAX_SCHEMA_BYTES = 256 * 1024
MAX_TOOL_SCHEMA_BYTES = 16 * 1024
DEFAULT_TOOL_SECONDS = 30.0
MAX_RESULT_TEXT_CHARS = 10_000
MAX_RESULT_EFFECTS = 1_000
MAX_PATTERNS = 256
MAX_TAINT = 16
MAX_TAINT_CHARS = 256

RUN_STATES = Names(RunState, parts_pb2.RunState.DESCRIPTOR)
SCOPES = Names(ApprovalScope, parts_pb2.ApprovalScope.DESCRIPTOR)
RESOLUTIONS = Names(Resolution, parts_pb2.Resolution.DESCRIPTOR)
ROLES = Names(Role, sessions_pb2.Role.DESCRIPTOR)
EFFECTS = Names(Effect, tools_pb2.Effect.DESCRIPTOR)
PRIORITIES = Names(Priority, models_pb2.Priority.DESCRIPTOR)

_optional_id = partial(checks.word, optional=True)
_optional_name = partial(checks.word, most=checks.MAX_NAME_CHARS, optional=True)
_step_text = partial(checks.bounded_text, most=MAX_STEP_TEXT_CHARS)
_result_text = partial(checks.bounded_text, most=MAX_RESULT_TEXT_CHARS)
_ids = partial(checks.words, most=MAX_PLAN_STEPS)
_amount = partial(checks.whole, least=0, most=MAX_AMOUNT)


def _schema(text: str, path: str) -> JsonObject | None:
    return json_object(text, path, MAX_SCHEMA_BYTES) if text else None


def _patterns(patterns: Sequence[str], path: str) -> tuple[str, ...] | None:
    if list(patterns) == [""]:
        return ()
    return checks.words(patterns, path, MAX_PATTERNS) or None


def _text_as_is(text: str, _path: str) -> str:
    return text  # the registry checks it


def _time(time: Timestamp, path: str) -> datetime:
    try:
        return time.ToDatetime(UTC)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"{path} must be in the years 1 to 9999.", reason="OUT_OF_RANGE", field=path
        ) from None


RUN_REQUEST = Form(
    RunRequest,
    parts_pb2.RunRequest,
    text=partial(checks.bounded_text, most=MAX_REQUEST_CHARS, least=1),
    request_id=_optional_id,
    session_id=_optional_id,
    workspace=checks.folder_path,
    parallel_steps=lambda count, path: checks.whole(
        count or DEFAULT_PARALLEL_STEPS, path, 1, MAX_PARALLEL_STEPS
    ),
    labels=checks.labels,
    model=_optional_name,
    unattended=lambda unattended, path: unattended,
    tools=_patterns,
    tool_profile=_optional_name,
)
# The daemon chooses the limits that are not set.
BUDGET = Form(
    BudgetRequest,
    parts_pb2.Budget,
    ttl=_amount,
    llm_calls=_amount,
    tokens=_amount,
    tool_calls=_amount,
    passes=_amount,
    wall_seconds=partial(checks.real, least=0, most=MAX_AMOUNT),
    depth=_amount,
)
TOOL_CALL = Form(
    ToolCall,
    tools_pb2.ToolCall,
    tool=partial(checks.word, most=checks.MAX_NAME_CHARS),
    arguments_json=partial(json_object, max_bytes=MAX_ARGUMENTS_BYTES),
    call_id=_optional_id,
)
TOOL_SPEC = Form(
    ToolSpec,
    tools_pb2.ToolSpec,
    # These follow from the others, and from the offer.
    ignored=("recovery", "source", "offered", "digest", "unavailable"),
    name=_text_as_is,
    description=_text_as_is,
    input_schema_json=partial(json_object, max_bytes=MAX_TOOL_SCHEMA_BYTES),
    output_schema_json=partial(json_object, max_bytes=MAX_TOOL_SCHEMA_BYTES),
    effect=partial(EFFECTS.domain_or, default=Effect.UNDECLARED),
    idempotent=lambda idempotent, path: idempotent,
    example_json=lambda text, path: json_object(text, path, MAX_TOOL_SCHEMA_BYTES) if text else None,
    timeout_seconds=lambda seconds, path: checks.real(
        seconds or DEFAULT_TOOL_SECONDS, path, 0, MAX_DEADLINE_SECONDS
    ),
    max_output_bytes=lambda size, path: checks.whole(size or MAX_JSON_BYTES, path, 1, MAX_JSON_BYTES),
)
RECORDED_EFFECT = Form(
    RecordedEffect,
    tools_pb2.RecordedEffect,
    kind=_result_text,
    target=_result_text,
    detail=_result_text,
)
TOOL_RESULT = Form(
    ToolResult,
    tools_pb2.ToolResult,
    success=lambda success, path: success,
    data_json=lambda text, path: json_value(text, path) if text else None,
    error=_result_text,
    reason=_result_text,
    metadata_json=json_object,
    effects=each(RECORDED_EFFECT.read, MAX_RESULT_EFFECTS),
    taint=partial(checks.words, most=MAX_TAINT, chars=MAX_TAINT_CHARS),
)
PLAN_STEP = Form(
    PlanStep,
    parts_pb2.PlanStep,
    ignored=("incoming_context", "step_index", "total_steps", "errors", "clarity"),  # results of execution
    step_id=checks.word,
    description=_step_text,
    tool_call=TOOL_CALL.read,
    agent=lambda name, path: _optional_id(name, path) or None,
    depends_on=_ids,
    provides=_ids,
    handoff_to_next=_step_text,
)
APPROVAL = Form(
    ApprovalAnswer,
    runs_pb2.ApprovalDecision,
    approval_id=checks.word,
    digest=checks.word,
    approved=lambda approved, path: approved,
    scope=partial(SCOPES.domain_or, default=ApprovalScope.ONCE),
)
MESSAGE = Form(
    Message,
    sessions_pb2.Message,
    ignored=("run_id",),  # of stored messages only
    renamed={"time": "timestamp"},
    role=ROLES.domain,
    content_json=partial(json_value, max_bytes=MAX_MESSAGE_BYTES),
    metadata_json=json_object,
    time=_time,
)
GENERATE = Form(
    LLMRequest,
    models_pb2.GenerateRequest,
    ignored=("messages", "model"),
    max_tokens=lambda count, path: checks.whole(count or DEFAULT_TOKENS, path, 1, MAX_TOKENS),
    temperature=partial(checks.real, least=0, most=MAX_TEMPERATURE),
    seed=lambda seed, path: seed,
    stop=each(partial(checks.bounded_text, most=MAX_STOP_CHARS, least=1), MAX_STOPS),
    schema_json=_schema,
    priority=partial(PRIORITIES.domain_or, default=Priority.INTERACTIVE),
    deadline_seconds=lambda seconds, path: checks.real(
        seconds or DEFAULT_DEADLINE_SECONDS, path, 0, MAX_DEADLINE_SECONDS
    ),
)


def plan_from_wire(plan: parts_pb2.Plan, default_goal: str) -> Plan:
    """A client's plan: well formed, with indices assigned. Its meaning is not validated here."""
    checks.at_least_one(plan.steps, "plan.steps")
    checks.at_most(plan.steps, "plan.steps", MAX_PLAN_STEPS)
    if plan.ByteSize() > MAX_PLAN_BYTES:
        raise InvalidInputError(
            f"plan may have at most {MAX_PLAN_BYTES} bytes.", reason="TOO_LONG", field="plan"
        )
    goal = checks.bounded_text(plan.goal, "plan.goal", MAX_REQUEST_CHARS) or default_goal
    total = len(plan.steps)
    return Plan(
        goal,
        tuple(
            _plan_step(step, f"plan.steps[{index}]", step_index=index + 1, total_steps=total)
            for index, step in enumerate(plan.steps)
        ),
    )


def _plan_step(step: parts_pb2.PlanStep, path: str, **place: int) -> PlanStep:
    if step.HasField("tool_call") and step.agent:
        raise InvalidInputError(
            f"{path} has both a tool call and an agent: set only one of them.",
            reason="TOOL_AND_AGENT",
            field=f"{path}.agent",
        )
    return PLAN_STEP.read(step, path, **place)


def generate_from_wire(request: models_pb2.GenerateRequest, now: float) -> LLMRequest:
    """`now` is the Unix time given to messages that have none."""
    checks.at_least_one(request.messages, "messages")
    checks.at_most(request.messages, "messages", MAX_MESSAGES)
    time = datetime.fromtimestamp(now, UTC)
    messages = tuple(
        MESSAGE.read(message, f"messages[{index}]", timestamp=time)
        for index, message in enumerate(request.messages)
    )
    return GENERATE.read(request, messages=messages)
