from datetime import UTC, datetime

import pytest

from aeond.api.v1 import models_pb2, parts_pb2, sessions_pb2, tools_pb2
from aeond.domain.llm import Priority
from aeond.domain.plans.plan import PlanStep
from aeond.domain.runs.budgets import BudgetRequest
from aeond.domain.runs.run import Owner, RunRequest
from aeond.domain.tools import ToolCall
from aeond.errors import InvalidInputError
from aeond.server.wire.requests import BUDGET, RUN_REQUEST, generate_from_wire, plan_from_wire


def refused(request: models_pb2.GenerateRequest) -> tuple[str, str]:
    with pytest.raises(InvalidInputError) as raised:
        generate_from_wire(request, 5.0)
    return raised.value.reason, raised.value.field


def test_a_request_for_a_run_is_read_in_the_name_of_its_caller() -> None:
    """Fields that are not set mean the documented defaults, and the owner is the process that asked."""
    owner = Owner(1, 2)
    assert RUN_REQUEST.read(parts_pb2.RunRequest(text="hi"), "request", owner=owner) == RunRequest(
        "hi", owner=owner
    )


def test_only_limits_that_are_set_are_asked_for() -> None:
    """A limit of 0 is a limit; one that is not set is left to the daemon."""
    assert BUDGET.read(parts_pb2.Budget(tokens=0, wall_seconds=1.5), "budget") == BudgetRequest(
        tokens=0, wall_seconds=1.5
    )


def test_a_plan_is_numbered() -> None:
    """The steps of a plan get their positions, and its goal is the request if it has none."""
    call = tools_pb2.ToolCall(tool="t", arguments_json='{"a": 1}')
    wire = parts_pb2.Plan(
        steps=[
            parts_pb2.PlanStep(step_id="s1", tool_call=call, errors=["ignored"]),
            parts_pb2.PlanStep(step_id="s2", agent="llm", depends_on=["s1"]),
        ]
    )
    plan = plan_from_wire(wire, "the request")
    assert plan.goal == "the request"
    assert plan.steps == (
        PlanStep("s1", "", ToolCall("t", {"a": 1}), step_index=1, total_steps=2),
        PlanStep("s2", "", agent="llm", depends_on=("s1",), step_index=2, total_steps=2),
    )


def test_a_step_has_a_call_or_an_agent() -> None:
    """A step with both is refused under its path."""
    step = parts_pb2.PlanStep(step_id="s1", agent="llm", tool_call=tools_pb2.ToolCall(tool="t"))
    with pytest.raises(InvalidInputError) as raised:
        plan_from_wire(parts_pb2.Plan(steps=[step]), "")
    assert (raised.value.reason, raised.value.field) == ("TOOL_AND_AGENT", "plan.steps[0].agent")


def test_a_request_to_a_model_has_documented_defaults() -> None:
    """Unset numbers mean the defaults, and a message without a time gets that of its arrival."""
    said = sessions_pb2.Message(role=sessions_pb2.ROLE_USER, content_json='"hi"')
    read = generate_from_wire(models_pb2.GenerateRequest(messages=[said]), 5.0)
    assert (read.max_tokens, read.seed, read.schema, read.priority) == (512, None, None, Priority.INTERACTIVE)
    assert read.deadline_seconds == 300.0
    assert read.messages[0].timestamp == datetime.fromtimestamp(5.0, UTC)
    said.time.seconds = 60
    later = generate_from_wire(models_pb2.GenerateRequest(messages=[said], seed=0), 5.0)
    assert (later.seed, later.messages[0].timestamp) == (0, datetime.fromtimestamp(60, UTC))


def test_a_message_is_checked_under_its_path() -> None:
    """An author that is missing, a time that no calendar has and too many stops name their field."""
    said = sessions_pb2.Message(role=sessions_pb2.ROLE_USER, content_json='"hi"')
    nobody = sessions_pb2.Message(content_json='"hi"')
    assert refused(models_pb2.GenerateRequest(messages=[said, nobody])) == (
        "UNKNOWN_VALUE",
        "messages[1].role",
    )
    assert refused(models_pb2.GenerateRequest(messages=[said], stop=["x"] * 17)) == ("TOO_MANY", "stop")
    assert refused(models_pb2.GenerateRequest(messages=[said], stop=[""])) == ("EMPTY", "stop[0]")
    said.time.seconds = 1 << 50
    assert refused(models_pb2.GenerateRequest(messages=[said])) == ("OUT_OF_RANGE", "messages[0].time")
