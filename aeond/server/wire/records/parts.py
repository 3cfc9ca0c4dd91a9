"""Translates requests, plans, budgets and answers, in both directions."""

import math

from google.protobuf.timestamp_pb2 import Timestamp

from aeond.api.v1 import parts_pb2 as pb
from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import MAX_PLAN_STEPS, Plan, PlanStep
from aeond.domain.runs.budgets import Amounts, Budget, BudgetRequest, ModelUse
from aeond.domain.runs.run import MAX_REQUEST_CHARS, Answer, Owner, RunRequest
from aeond.errors import InvalidInputError
from aeond.server.wire import checks
from aeond.server.wire.enums import CLARITIES
from aeond.server.wire.json_text import plain_text
from aeond.server.wire.records.tools import effects_to_wire, tool_call_from_wire, tool_call_to_wire

MAX_PLAN_BYTES = 1 << 20
MAX_STEP_TEXT_CHARS = 10_000
MAX_PARALLEL_STEPS = 16
DEFAULT_PARALLEL_STEPS = 4
MAX_AMOUNT = 1_000_000_000


def timestamp(seconds: float) -> Timestamp:
    """A time in wire format, with the precision of a double."""
    fraction, whole = math.modf(seconds)
    return Timestamp(seconds=int(whole), nanos=min(round(fraction * 1e9), 999_999_999))


def plain_texts(texts: tuple[str, ...]) -> list[str]:
    return [plain_text(text) for text in texts]


# ---------------------------------------------------------------- from the wire


def run_request_from_wire(request: pb.RunRequest, owner: Owner) -> RunRequest:
    """The run request, in the name of the caller identified by the door."""
    field = "request"
    return RunRequest(
        text=checks.bounded_text(request.text, f"{field}.text", MAX_REQUEST_CHARS, least=1),
        request_id=checks.word(request.request_id, f"{field}.request_id", optional=True),
        session_id=checks.word(request.session_id, f"{field}.session_id", optional=True),
        workspace=checks.folder_path(request.workspace, f"{field}.workspace"),
        parallel_steps=checks.whole(
            request.parallel_steps or DEFAULT_PARALLEL_STEPS, f"{field}.parallel_steps", 1, MAX_PARALLEL_STEPS
        ),
        owner=owner,
        labels=checks.labels(request.labels, f"{field}.labels"),
        model=checks.word(request.model, f"{field}.model", checks.MAX_NAME_CHARS, optional=True),
    )


def budget_from_wire(budget: pb.Budget) -> BudgetRequest:
    """The limits that are set; the daemon chooses the others."""

    def amount(name: str) -> int | None:
        if not budget.HasField(name):  # type: ignore[arg-type] # the generated type lists the names
            return None
        return checks.whole(getattr(budget, name), f"budget.{name}", 0, MAX_AMOUNT)

    return BudgetRequest(
        ttl=amount("ttl"),
        llm_calls=amount("llm_calls"),
        tokens=amount("tokens"),
        tool_calls=amount("tool_calls"),
        passes=amount("passes"),
        wall_seconds=checks.real(budget.wall_seconds, "budget.wall_seconds", 0, MAX_AMOUNT)
        if budget.HasField("wall_seconds")
        else None,
        depth=amount("depth"),
    )


def plan_from_wire(plan: pb.Plan, default_goal: str) -> Plan:
    """A client's plan: well formed, with indices assigned. Its meaning is not validated here."""
    checks.at_least_one(plan.steps, "plan.steps")
    checks.at_most(plan.steps, "plan.steps", MAX_PLAN_STEPS)
    if plan.ByteSize() > MAX_PLAN_BYTES:
        raise InvalidInputError(
            f"plan may have at most {MAX_PLAN_BYTES} bytes.", reason="TOO_LONG", field="plan"
        )
    total = len(plan.steps)
    return Plan(
        goal=checks.bounded_text(plan.goal, "plan.goal", MAX_REQUEST_CHARS) or default_goal,
        steps=tuple(
            _step_from_wire(step, f"plan.steps[{index}]", index + 1, total)
            for index, step in enumerate(plan.steps)
        ),
    )


def _step_from_wire(step: pb.PlanStep, field: str, step_index: int, total_steps: int) -> PlanStep:
    has_call = step.HasField("tool_call")
    if has_call and step.agent:
        raise InvalidInputError(
            f"{field} has both a tool call and an agent: set only one of them.",
            reason="TOOL_AND_AGENT",
            field=f"{field}.agent",
        )
    return PlanStep(
        step_id=checks.word(step.step_id, f"{field}.step_id"),
        description=checks.bounded_text(step.description, f"{field}.description", MAX_STEP_TEXT_CHARS),
        tool_call=tool_call_from_wire(step.tool_call, f"{field}.tool_call") if has_call else None,
        agent=checks.word(step.agent, f"{field}.agent", optional=True) or None,
        depends_on=checks.words(step.depends_on, f"{field}.depends_on", MAX_PLAN_STEPS),
        provides=checks.words(step.provides, f"{field}.provides", MAX_PLAN_STEPS),
        handoff_to_next=checks.bounded_text(
            step.handoff_to_next, f"{field}.handoff_to_next", MAX_STEP_TEXT_CHARS
        ),
        step_index=step_index,
        total_steps=total_steps,
    )


# ---------------------------------------------------------------- to the wire


def run_request_to_wire(request: RunRequest) -> pb.RunRequest:
    return pb.RunRequest(
        text=plain_text(request.text),
        request_id=request.request_id,
        session_id=request.session_id,
        workspace=plain_text(request.workspace),
        parallel_steps=request.parallel_steps,
        labels=request.labels,
        model=plain_text(request.model),
    )


def owner_to_wire(owner: Owner) -> pb.Owner:
    return pb.Owner(uid=owner.uid, pid=owner.pid)


def budget_to_wire(budget: Budget) -> pb.Budget:
    return pb.Budget(
        ttl=budget.ttl,
        llm_calls=budget.llm_calls,
        tokens=budget.tokens,
        tool_calls=budget.tool_calls,
        passes=budget.passes,
        wall_seconds=budget.wall_seconds,
        depth=budget.depth,
    )


def amounts_to_wire(amounts: Amounts) -> pb.Amounts:
    return pb.Amounts(
        ttl=amounts.ttl,
        llm_calls=amounts.llm_calls,
        tokens=amounts.tokens,
        tool_calls=amounts.tool_calls,
        passes=amounts.passes,
    )


def model_use_to_wire(use: ModelUse | None) -> pb.ModelUse | None:
    if use is None:
        return None
    return pb.ModelUse(
        prompt_tokens=use.prompt_tokens,
        completion_tokens=use.completion_tokens,
        cached_tokens=use.cached_tokens,
        first_token_seconds=use.first_token_seconds,
        engine_seconds=use.engine_seconds,
    )


def problem_to_wire(problem: Problem | None) -> pb.Problem | None:
    if problem is None:
        return None
    return pb.Problem(
        reason=problem.reason,
        message=plain_text(problem.message),
        path=plain_text(problem.path),
        retryable=problem.retryable,
    )


def step_to_wire(step: PlanStep) -> pb.PlanStep:
    return pb.PlanStep(
        step_id=plain_text(step.step_id),
        description=plain_text(step.description),
        tool_call=tool_call_to_wire(step.tool_call) if step.tool_call is not None else None,
        agent=plain_text(step.agent or ""),
        depends_on=plain_texts(step.depends_on),
        provides=plain_texts(step.provides),
        handoff_to_next=plain_text(step.handoff_to_next),
        incoming_context=plain_text(step.incoming_context),
        step_index=step.step_index,
        total_steps=step.total_steps,
        errors=plain_texts(step.errors),
        clarity=CLARITIES.wire(step.clarity),
    )


def plan_to_wire(plan: Plan | None) -> pb.Plan | None:
    if plan is None:
        return None
    return pb.Plan(goal=plain_text(plan.goal), steps=[step_to_wire(step) for step in plan.steps])


def answer_to_wire(answer: Answer | None) -> pb.Answer | None:
    if answer is None:
        return None
    return pb.Answer(
        text=plain_text(answer.text),
        step_ids=plain_texts(answer.step_ids),
        confidence=answer.confidence,
        notes=plain_texts(answer.notes),
        budget_exhausted=answer.budget_exhausted,
        synthesized=answer.synthesized,
        effects=effects_to_wire(answer.effects),
    )
