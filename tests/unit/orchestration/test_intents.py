from dataclasses import replace
from typing import Any

from aeond.domain.budgets import Amounts
from aeond.domain.events import StepStarted
from aeond.domain.plans import PlanStep, StepState
from aeond.domain.runs import RunSnapshot
from aeond.domain.steps import StepMode
from aeond.domain.tools import Recovery, ToolCall
from aeond.orchestration.intents import PreparedIntents
from aeond.orchestration.readiness import StepReadiness
from aeond.orchestration.reasoning import AgentReasoner
from aeond.orchestration.trivial import NoTemplates
from tests.support.doubles import EchoAgent
from tests.support.service_world import NumberedIds
from tests.support.strategy import calls, registry, run_of, says, thinks, validator

FIRST = thinks("s1", "Look")


def prepare(step: PlanStep, run: RunSnapshot | None = None, **before: Any) -> StepStarted:
    """What becomes of a step, after what it went through before."""
    run = run or run_of(FIRST, step, outputs={"s1": "garden"})
    current = replace(run.steps[step.step_id], **before)
    run = replace(run, steps={**run.steps, step.step_id: current})
    llm = says()
    reasoner = AgentReasoner({"llm": EchoAgent()}, llm)
    intents = PreparedIntents(
        registry(), reasoner, validator(), StepReadiness(), NoTemplates(), NumberedIds()
    )
    return intents.prepare(run, step.step_id, Amounts(ttl=1))


def test_a_registered_tool_is_called_with_bound_arguments() -> None:
    """The intent holds the very arguments of the call, an id for it, and what a crash would mean."""
    started = prepare(calls("s2", "store", "s1", key="k", value="$s1"))
    assert started.mode is StepMode.TOOL
    assert started.recovery is Recovery.ASK
    assert started.step.tool_call == ToolCall("store", {"key": "k", "value": "garden"}, "run-1/s2")
    assert started.step.step_index == 2
    assert started.attempt == 1


def test_an_agents_step_goes_to_its_agent() -> None:
    """A step that names an agent that is there is reasoned about."""
    started = prepare(thinks("s2", "Think of $s1.", "s1"))
    assert started.mode is StepMode.AGENT
    assert "garden" in started.step.incoming_context


def test_a_reference_that_leads_nowhere_is_told_in_the_step() -> None:
    """A step whose arguments cannot be bound carries the reason and does not run as written."""
    started = prepare(calls("s2", "look", "s1", path="$s1.colour"))
    assert started.mode is StepMode.TOOL
    assert "$s1.colour leads nowhere" in started.step.errors[0]


def test_arguments_that_do_not_fit_go_to_repair() -> None:
    """Bound arguments that break the schema are mended before the tool is called."""
    started = prepare(calls("s2", "add", "s1", a="$s1", b=2))
    assert started.mode is StepMode.REPAIR
    assert started.recovery is Recovery.RERUN
    assert "/a" in started.step.errors[0]


def test_a_missing_tool_goes_to_repair_once_and_then_to_the_model() -> None:
    """A tool that is not there is looked for once; after that the model stands in."""
    step = calls("s2", "mystery")
    started = prepare(step)
    assert started.mode is StepMode.REPAIR
    assert started.step.errors == ("Tool 'mystery' not found in registry",)
    again = prepare(step, mode=StepMode.REPAIR, attempt=1, state=StepState.READY)
    assert again.mode is StepMode.FALLBACK
    assert again.attempt == 2


def test_references_of_a_replaced_tool_are_bound() -> None:
    """A step that was given another tool keeps its references, and they are bound for that tool."""
    step = calls("s2", "look", "s1", path="$s1")
    started = prepare(step, mode=StepMode.REPAIR, attempt=1, state=StepState.READY)
    assert started.step.tool_call is not None
    assert started.step.tool_call.arguments == {"path": "garden"}
    assert started.mode is StepMode.TOOL


def test_data_in_mended_arguments_is_no_reference() -> None:
    """Arguments that were bound and then mended are literal, at every later attempt too."""
    step = PlanStep("s2", "Look", ToolCall("look", {"path": "$s1"}, "run-1/s2"), depends_on=("s1",))
    for mode in (StepMode.REPAIR, StepMode.TOOL):
        started = prepare(step, mode=mode, attempt=2, state=StepState.READY)
        assert started.step.tool_call is not None
        assert started.step.tool_call.arguments == {"path": "$s1"}
