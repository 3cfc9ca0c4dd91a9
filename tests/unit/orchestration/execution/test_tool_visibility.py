from dataclasses import replace

from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.tools import ToolCall
from aeond.orchestration.execution.tool_visibility import (
    MAX_SHOWN,
    MAX_WHOLE,
    may_use,
    offered_tools,
    usual_tools,
)
from tests.support.strategy import SPECS, registry, run_of


def test_a_run_may_use_what_is_registered() -> None:
    """A run that a client asked for is offered every tool, by name."""
    names = [spec.name for spec in offered_tools(registry(), run_of())]
    assert names == sorted(spec.name for spec in SPECS)


def test_a_child_run_may_only_use_the_tools_of_its_template() -> None:
    """A run with a list of tools is offered those of them that are registered, and without any none."""
    run = run_of()
    chosen = replace(run, request=replace(run.request, tools=("store", "look", "fly")))
    assert [spec.name for spec in offered_tools(registry(), chosen)] == ["look", "store"]
    none = replace(run, request=replace(run.request, tools=()))
    assert offered_tools(registry(), none) == ()


def test_a_tool_that_is_not_offered_is_there_for_those_who_name_it() -> None:
    """A tool that is not offered is hidden from models unless their run's Template names it, but may be called."""
    registered = registry(*(replace(spec, offered=spec.name != "look") for spec in SPECS))
    run = run_of()
    assert "look" not in [spec.name for spec in offered_tools(registered, run)]
    assert may_use(run, "look")
    named = replace(run, request=replace(run.request, tools=("look",)))
    assert [spec.name for spec in offered_tools(registered, named)] == ["look"]


def test_patterns_allow_tools() -> None:
    """A pattern stands for names; a tool that is not offered by default is not shown by a pattern."""
    registered = registry(*(replace(spec, offered=spec.name != "store") for spec in SPECS))
    run = run_of()
    patterned = replace(run, request=replace(run.request, tools=("l*", "st?re")))
    assert [spec.name for spec in offered_tools(registered, patterned)] == ["look"]
    assert may_use(patterned, "store")
    assert not may_use(patterned, "store2")


MANY = tuple(
    replace(SPECS[0], name=f"tool{number:02}", description=f"About {number}.") for number in range(40)
)


def test_of_many_tools_the_chosen_ones_are_shown_and_those_called() -> None:
    """A run is shown the tools of its choice; what it has called before stays."""
    chosen = replace(run_of(), shown=("tool03", "tool07"))
    assert [spec.name for spec in offered_tools(registry(*MANY), chosen)] == ["tool03", "tool07"]
    step = StepSnapshot(PlanStep("s1", "", ToolCall("tool20")), StepState.SUCCEEDED)
    called = replace(chosen, steps={"s1": step})
    assert [spec.name for spec in offered_tools(registry(*MANY), called)] == ["tool03", "tool07", "tool20"]


def test_without_a_choice_the_words_of_the_request_choose() -> None:
    """A run whose tools were never chosen is shown a bounded number of them, the same each time."""
    run = run_of()
    asking = replace(run, request=replace(run.request, text="Something about 33?"))
    names = [spec.name for spec in offered_tools(registry(*MANY), asking)]
    assert (len(names), "tool33" in names) == (MAX_SHOWN, True)
    assert usual_tools(registry(*MANY)) == ()


def test_a_few_tools_are_all_shown() -> None:
    """A choice that was made among many has no effect once they are few."""
    few = MANY[:MAX_WHOLE]
    assert len(offered_tools(registry(*few), replace(run_of(), shown=("tool03",)))) == MAX_WHOLE
