"""The calls of a plan that are known before they are made."""

from dataclasses import replace

import pytest

from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepMode, StepSnapshot
from aeond.domain.runs.run import RunRequest, RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonObject
from aeond.orchestration.execution.planned_calls import PlannedCalls
from tests.support.doubles import ScriptedTool
from tests.support.service_world import ScriptedRegistry, ScriptedValidator

REGISTRY = ScriptedRegistry(ScriptedTool("work"))


def run_of(*steps: StepSnapshot, tools: tuple[str, ...] | None = None) -> RunSnapshot:
    request = RunRequest("do it", tools=tools)
    return RunSnapshot("run", request=request, steps={step.step_id: step for step in steps})


def step(step_id: str, tool: str = "work", **arguments: object) -> StepSnapshot:
    call = ToolCall(tool, arguments)  # type: ignore[arg-type]  # a test gives JSON
    return StepSnapshot(PlanStep(step_id, "do it", call), StepState.READY)


def found(run: RunSnapshot) -> list[str]:
    return [step_id for step_id, _ in PlannedCalls(REGISTRY, ScriptedValidator())(run)]


def test_calls_with_known_arguments_are_found_in_plan_order() -> None:
    """Steps that wait, are ready or call their tool now; with the call id that each is made with."""
    running = replace(step("s2", n=2), state=StepState.RUNNING, mode=StepMode.TOOL)
    waiting = replace(step("s3", n=3), state=StepState.PENDING)
    run = run_of(step("s1", n=1), running, waiting)
    calls = PlannedCalls(REGISTRY, ScriptedValidator())(run)
    assert calls[0] == ("s1", ToolCall("work", {"n": 1}, "run/s1"))
    assert [step_id for step_id, _ in calls] == ["s1", "s2", "s3"]


@pytest.mark.parametrize(
    "left_out",
    [
        step("s2", text="$s1.text"),
        step("s2", deep={"list": ["see $s1"]}),
        step("s2", tool="unknown"),
        replace(step("s2"), state=StepState.SUCCEEDED),
        replace(step("s2"), state=StepState.RUNNING, mode=StepMode.REPAIR),
        StepSnapshot(PlanStep("s2", "think", agent="llm"), StepState.READY),
    ],
)
def test_a_call_that_is_not_known_is_left_out(left_out: StepSnapshot) -> None:
    """References, missing tools, steps that have ended or do something else than to call their tool."""
    assert found(run_of(step("s1"), left_out)) == ["s1"]


def test_a_call_that_the_run_may_not_make_is_left_out() -> None:
    """A tool that the template of the run does not allow is never called."""
    assert found(run_of(step("s1"), tools=("other",))) == []


def test_a_call_with_invalid_arguments_is_left_out() -> None:
    """It is repaired first, and has other arguments then."""

    class Strict(ScriptedValidator):
        def validate_tool_call(self, call: ToolCall, spec: object) -> tuple[Problem, ...]:
            arguments: JsonObject = call.arguments
            return (Problem("X", "no"),) if "n" not in arguments else ()

    run = run_of(step("s1"), step("s2", n=1))
    assert [step_id for step_id, _ in PlannedCalls(REGISTRY, Strict())(run)] == ["s2"]
