from typing import Any

from aeond.domain.outcome import Outcome
from aeond.domain.plans.plan import PlanStep
from aeond.domain.tools import ToolCall
from aeond.orchestration.repair.step_repair import StepRepairer
from aeond.orchestration.repair.supervisor import Supervisor
from tests.support.strategy import calls, grant, registry, run_of, says, validator


async def repair(step: PlanStep, *answers: Any) -> Outcome[PlanStep]:
    repairer = StepRepairer(registry(), Supervisor(says(*answers), validator()))
    return await repairer.repair(step, run_of(step), grant())


async def test_a_missing_tool_is_replaced_by_a_registered_one() -> None:
    """A step of a tool that is not there comes back with one that is."""
    outcome = await repair(
        calls("s1", "viewer", path="garden"), '{"tool":"look","arguments":{"path":"garden"}}'
    )
    assert outcome.ok
    assert outcome.value.tool_call == ToolCall("look", {"path": "garden"})
    assert outcome.value.errors == ()


async def test_a_step_without_a_fitting_tool_stays() -> None:
    """When no tool fits the step comes back as it was, with a problem."""
    step = calls("s1", "viewer", path="garden")
    outcome = await repair(step, {"text": '{"tool":null}'})
    assert not outcome.ok
    assert outcome.value == step


async def test_arguments_are_repaired_and_the_call_keeps_its_id() -> None:
    """Arguments of the wrong type are set right, and the call stays the same call."""
    step = PlanStep("s1", "Add", ToolCall("add", {"a": "1", "b": 2}, "run-1/s1"), errors=("/a: no integer",))
    outcome = await repair(step)
    assert outcome.ok
    assert outcome.value.tool_call == ToolCall("add", {"a": 1, "b": 2}, "run-1/s1")
    assert outcome.value.errors == ()


async def test_arguments_that_cannot_be_repaired_are_reported_as_such() -> None:
    """Arguments without a repair that keeps their meaning fail the step as invalid."""
    step = PlanStep("s1", "Add", ToolCall("add", {"a": "one", "b": 2}, "run-1/s1"))
    outcome = await repair(step, {"text": '{"tool":"add","arguments":{"a":1,"b":2}}'})
    assert outcome.problem is not None
    assert outcome.problem.reason == "ARGUMENTS_INVALID"
    assert outcome.value == step
