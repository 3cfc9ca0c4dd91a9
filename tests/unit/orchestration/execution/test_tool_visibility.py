from dataclasses import replace

from aeond.orchestration.execution.tool_visibility import may_use, offered_tools
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
