from dataclasses import replace
from typing import Any

from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.runs.budgets import Amounts, Budget, BudgetLedger
from aeond.domain.runs.events import ChildRunStarted, StepEnded, StepStarted
from aeond.domain.runs.run import Ancestry, RunSnapshot
from aeond.domain.tools import Recovery, ToolCall
from aeond.orchestration.execution.agent_steps import AgentReasoner
from aeond.orchestration.execution.intents import PreparedIntents
from aeond.orchestration.matching.template_choice import TemplateLibrary
from tests.support.doubles import EchoAgent
from tests.support.null_objects import NoTemplates
from tests.support.service_world import NumberedIds
from tests.support.strategy import calls, registry, run_of, says, thinks, validator

FIRST = thinks("s1", "Look")


def prepare(step: PlanStep, run: RunSnapshot | None = None, **before: Any) -> StepStarted:
    """The intent for a step with this history."""
    run = run or run_of(FIRST, step, outputs={"s1": "garden"})
    current = replace(run.steps[step.step_id], **before)
    run = replace(run, steps={**run.steps, step.step_id: current})
    llm = says()
    reasoner = AgentReasoner({"llm": EchoAgent()}, llm)
    intents = PreparedIntents(registry(), reasoner, validator(), NoTemplates(), NumberedIds())
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


def test_a_reference_that_leads_nowhere_is_reported_in_the_step() -> None:
    """A step whose arguments cannot be bound carries the reason and does not run as written."""
    started = prepare(calls("s2", "look", "s1", path="$s1.colour"))
    assert started.mode is StepMode.TOOL
    assert "$s1.colour leads nowhere" in started.step.errors[0]


def test_arguments_that_do_not_fit_go_to_repair() -> None:
    """Bound arguments that break the schema are repaired before the tool is called."""
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


def test_data_in_repaired_arguments_is_no_reference() -> None:
    """Arguments that were bound and then repaired are literal, at every later attempt too."""
    step = PlanStep("s2", "Look", ToolCall("look", {"path": "$s1"}, "run-1/s2"), depends_on=("s1",))
    for mode in (StepMode.REPAIR, StepMode.TOOL):
        started = prepare(step, mode=mode, attempt=2, state=StepState.READY)
        assert started.step.tool_call is not None
        assert started.step.tool_call.arguments == {"path": "$s1"}


def test_a_tool_that_the_run_may_not_use_is_as_good_as_missing() -> None:
    """A run that is restricted to some tools calls no other, however its plan came about."""
    step = calls("s2", "store", key="k", value="v")
    run = run_of(FIRST, step, outputs={"s1": "garden"})
    started = prepare(step, replace(run, request=replace(run.request, tools=("look",))))
    assert started.mode is StepMode.REPAIR
    assert started.step.errors == ("Tool 'store' is not one that this run may use",)
    allowed = prepare(step, replace(run, request=replace(run.request, tools=("store",))))
    assert allowed.mode is StepMode.TOOL


TEMPLATE = Template("poem", "Writes a poem.", ("verse",), ("subject",), "Four lines.", ("look",))


def child_of(run: RunSnapshot, **inputs: str) -> ChildRunStarted | StepEnded:
    intents = PreparedIntents(
        registry(),
        AgentReasoner({}, says()),
        validator(),
        TemplateLibrary([TEMPLATE]),
        NumberedIds(),
    )
    return intents.prepare_child(run, "s1", SubtaskRequest("Write a poem.", inputs, ("poem",)), Amounts())


def below(lineage: tuple[str, ...] = (), **limit: Any) -> RunSnapshot:
    """A run whose first step asks for a subtask, started for this lineage and with these bounds."""
    run = run_of(calls("s1", "look", path="x"))
    return replace(run, ancestry=Ancestry(lineage=lineage), ledger=BudgetLedger(Budget(**limit)))


def test_a_child_gets_at_most_half_of_what_is_left() -> None:
    """Each dimension of the child's budget is half of the parent's rest, and one level less deep."""
    started = child_of(below(ttl=9, tokens=1_001, depth=2), subject="rain")
    assert isinstance(started, ChildRunStarted)
    budget = started.child.budget
    assert (budget.ttl, budget.tokens, budget.depth) == (4, 500, 1)
    assert (started.child.instructions, started.child.tools) == ("Four lines.", ("look",))
    assert len(started.child.lineage) == 1


def test_children_do_not_nest_deeper_than_the_budget_says() -> None:
    """A run with no depth left gets no child: its step fails with the reason."""
    ended = child_of(below(depth=0), subject="rain")
    assert isinstance(ended, StepEnded)
    assert (ended.state, ended.reason) == (StepState.FAILED, "SUBTASK_TOO_DEEP")


def test_a_subtask_within_itself_is_refused() -> None:
    """The same template with the same inputs above is a cycle; with other inputs it is not."""
    started = child_of(below(), subject="rain", mood="sad")
    assert isinstance(started, ChildRunStarted)
    ended = child_of(below(started.child.lineage), mood="sad", subject="rain")
    assert isinstance(ended, StepEnded)
    assert ended.reason == "SUBTASK_CYCLE"
    assert isinstance(child_of(below(started.child.lineage), subject="snow"), ChildRunStarted)


def test_a_subtask_that_no_template_does_fails_its_step() -> None:
    """Without a fitting template the step ends with the library's problem."""
    ended = child_of(below(), mood="sad")
    assert isinstance(ended, StepEnded)
    assert ended.reason == "TEMPLATE_INPUT_MISSING"
