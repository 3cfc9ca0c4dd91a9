"""The conversation in which a fact is written."""

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.tools.facts.fact_conversation import FACT
from aeond.capabilities.tools.facts.memory_tools import memory_tools
from aeond.capabilities.tools.registry import Registry
from aeond.domain.tools import ToolCall
from aeond.orchestration.planning.validator import PlanValidator
from aeond.schemas.parts import as_object
from tests.support.doubles import ManualClock
from tests.support.memory import InMemoryMemory


def test_each_example_is_a_call() -> None:
    """A small model copies examples: each of them is what the tool takes, after what was remembered in the view."""
    remember, *_ = memory_tools(InMemoryMemory(), ManualClock(), NoEmbedder())
    registry = Registry()
    registry.register(remember)
    check = PlanValidator(registry, ())
    for view, _request, written in FACT.examples:
        was = str(as_object(written)["was"])
        assert not was or f"{as_object(written)['key']} = {was}" in view
        arguments = {name: as_object(written)[name] for name in remember.spec.composed}
        assert check.validate_tool_call(ToolCall("remember", arguments), remember.spec) == ()
