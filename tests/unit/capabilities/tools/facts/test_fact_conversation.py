"""The conversation in which a fact is written."""

from dataclasses import replace

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.tools.facts.fact_conversation import FACT
from aeond.capabilities.tools.facts.memory_tools import memory_tools
from aeond.capabilities.tools.registry import Registry
from aeond.domain.facts import FactSource
from aeond.domain.tools import ToolCall
from aeond.orchestration.planning.validator import PlanValidator
from aeond.schemas.parts import as_object
from tests.support.doubles import ManualClock
from tests.support.memory import InMemoryMemory
from tests.support.tools import CONTEXT


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


async def test_a_corrected_fact_keeps_its_name() -> None:
    """Where the call names a fact that there is, the model can write nothing but its new value; without a name, or with one of no fact, all is open."""
    memory = InMemoryMemory()
    await memory.of(0).write("gate_code", 7714, FactSource("r1"))
    remember, *_ = memory_tools(memory, ManualClock(), NoEmbedder())
    context = replace(CONTEXT, uid=0)

    async def key_and_was(**arguments: str) -> tuple[object, object]:
        view = await remember.composition_view(arguments, context, "")
        assert view is not None
        parts = as_object(as_object(view.schema)["properties"])
        return parts["key"], parts["was"]

    given = await key_and_was(key="gate code")
    assert given == ({"enum": ["gate_code"]}, {"enum": ["7714"]})
    assert await key_and_was() == await key_and_was(key="mast") != given


async def test_an_untrusted_fact_is_not_shown() -> None:
    """The value of a fact from an untrusted source stays hidden from a run that has read nothing untrusted."""
    memory = InMemoryMemory()
    await memory.of(0).write("gate", "read me", FactSource("r1", ("web:a.example",)))
    remember, *_ = memory_tools(memory, ManualClock(), NoEmbedder())
    clean = replace(CONTEXT, uid=0)
    shown = [
        await remember.composition_view({"key": "gate"}, one, "")
        for one in (clean, replace(clean, taint=("web:b.example",)))
    ]
    assert ["read me" in str(view and view.schema) for view in shown] == [False, True]
