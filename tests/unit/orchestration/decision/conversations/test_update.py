"""Whether something to be remembered updates the fact that its call names."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall
from aeond.orchestration.interfaces import discard_text
from tests.support.deciders import Composing, WholeTool, decider_of
from tests.support.strategy import TEXT, grant, registry, run_of, spec

FACTS = Situation(facts=(("gate code", 7714), ("boat", "Ida")))
KEEP = replace(
    spec("keep", {"key": TEXT, "value": TEXT}, ("key", "value"), Effect.MEMORY),
    composition=Composition(("key", "value"), "Note it.", ()),
)
ASKED = "whether it is an update"


async def kept(
    key: str, value: str, likely: Mapping[str, float], calls: int = 10
) -> tuple[ToolCall | None, ScriptedLLM]:
    """The call after a model has written this key and value, and without facts in view another key."""
    tools = registry()
    tools.register(WholeTool(KEEP))
    rules = (
        Rule(contains=ASKED, text="new", likely=dict(likely)),
        Rule.model_validate({"contains": "boat = Ida\n\n", "json": {"key": key, "value": value}}),
        Rule.model_validate({"contains": "Note it.", "json": {"key": "shed code", "value": value}}),
        Rule.model_validate({"json": {"keep": {}}}),
    )
    invoker = Composing({}, view_of=CompositionView("", {"type": "object"}))
    decider, llm = decider_of(rules, tools, FACTS, invoker)
    run = run_of(request="The shed has the code 3316.")
    return (await decider.choose(run, grant(calls), discard_text)).value.tool_call, llm


@pytest.mark.parametrize(
    ("likely", "key"),
    [
        ({"new": -0.1, "update": -2.5}, "shed code"),
        ({"update": -0.5, "new": -0.9}, "shed code"),
        ({"update": -0.1, "new": -2.5}, "gate code"),
        ({"yes": -0.1}, "gate code"),
    ],
)
async def test_what_is_new_gets_a_name_of_its_own(likely: Mapping[str, float], key: str) -> None:
    """What would overwrite a fact is written again without facts in view, unless the request surely updates that fact or the model
    says neither."""
    call, llm = await kept("gate code", "3316", likely)
    assert call == ToolCall("keep", {"key": key, "value": "3316"})
    asked = next(
        str(one.messages[-1].content) for one in llm.requests if ASKED in str(one.messages[0].content)
    )
    assert asked == "Request: The shed has the code 3316.\nRemembered: gate code = 7714"


@pytest.mark.parametrize(
    ("key", "value", "calls"), [("mast", "9 m", 10), ("gate code", "7714", 10), ("gate code", "3316", 3)]
)
async def test_nothing_is_asked_where_no_fact_would_change(key: str, value: str, calls: int) -> None:
    """Another name, the same value, or too few calls lead to no question."""
    _, llm = await kept(key, value, {"new": -0.1}, calls)
    assert not any(ASKED in str(one.messages[0].content) for one in llm.requests)
