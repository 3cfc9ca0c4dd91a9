"""The question whether a part or the whole is to be removed."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.domain.llm import LikelyToken
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall
from aeond.orchestration.decision.conversations.part_or_whole import part_odds
from aeond.orchestration.interfaces import discard_text
from tests.support.deciders import Composing, WholeTool, decider_of
from tests.support.strategy import TEXT, grant, registry, run_of, spec

DELETE = replace(
    spec("delete", {"path": TEXT}, ("path",), Effect.WRITE_CONTAINED), candidates=("path",), for_part="change"
)
CHANGE = replace(
    spec("change", {"path": TEXT, "notes": TEXT}, ("path", "notes"), Effect.WRITE_CONTAINED),
    candidates=("path",),
    composition=Composition(("notes",), "Say what changes.", ()),
)
SEEN = Situation(files=(("list", "a\nb"), ("other", "c")))
SUBJECT = "Say in one word what a request"
ASKED = "Say in one word what: whole"
SHOWN = CompositionView("list:\na\nb", TEXT)


async def decided(
    likely: Mapping[str, float], *, path: str = "list", calls: int = 10, shown: CompositionView | None = SHOWN
) -> tuple[ToolCall | None, ScriptedLLM]:
    rules = (
        Rule(contains=SUBJECT, text="do", likely={"do": -0.1}),
        Rule(contains=ASKED, text=next(iter(likely), "?"), likely=dict(likely)),
        Rule.model_validate({"contains": "Say what changes.", "json": "b"}),
        Rule.model_validate({"json": {"delete": {"path": path}}, "times": 1}),
        Rule.model_validate({"json": {"change": {"path": path, "notes": "guessed"}}}),
    )
    tools = registry()
    for one in (DELETE, CHANGE):
        tools.register(WholeTool(one))
    decider, llm = decider_of(rules, tools, SEEN, Composing({}, ("list", "other"), shown))
    chosen = await decider.choose(run_of(request="b is done"), grant(llm_calls=calls), discard_text)
    return chosen.value.tool_call, llm


async def test_a_part_is_taken_out_and_the_rest_stays() -> None:
    """A call that would remove the whole becomes a change where a part is more likely meant."""
    call, llm = await decided({"part": -0.3, "whole": -1.5})
    assert call == ToolCall("change", {"path": "list", "notes": "b"})
    question = next(one for one in llm.requests if ASKED in str(one.messages[0].content))
    assert question.messages[-1].content == "list: a\nb\nRequest: b is done"


@pytest.mark.parametrize("likely", [{"whole": -0.1, "part": -2.0}, {"?": -0.1}])
async def test_the_whole_is_removed_where_it_is_meant(likely: Mapping[str, float]) -> None:
    """The call stays where the whole is more likely meant, and where the model says neither."""
    call, _ = await decided(likely)
    assert call == ToolCall("delete", {"path": "list"})


async def test_what_does_not_exist_is_not_asked_about() -> None:
    """A call for something unknown stays as it is, and fails on its own."""
    call, llm = await decided({"part": -0.1}, path="unknown")
    assert call == ToolCall("delete", {"path": "unknown"})
    assert not any(ASKED in str(one.messages[0].content) for one in llm.requests)


async def test_a_spent_budget_asks_nothing() -> None:
    """Without a call left to write the change the decision stays."""
    call, _ = await decided({"part": -0.1}, calls=3)
    assert call == ToolCall("delete", {"path": "list"})


async def test_a_part_of_what_cannot_be_shown_is_decided_whole() -> None:
    """Where the content cannot be shown the model writes the whole change, and nothing is removed."""
    call, _ = await decided({"part": -0.1}, shown=None)
    assert call == ToolCall("change", {"path": "list", "notes": "guessed"})


@pytest.mark.parametrize(
    ("likely", "odds"),
    [
        ({"part": -0.5, "whole": -1.5}, 1.0),
        ({"part": -0.5, "other": -0.1}, math.inf),
        ({"whole": -0.1}, -math.inf),
        ({}, -math.inf),
    ],
)
def test_odds_are_those_of_a_part_against_the_whole(likely: dict[str, float], odds: float) -> None:
    """Other words do not count."""
    assert part_odds(LikelyToken(*one) for one in likely.items()) == pytest.approx(odds)
