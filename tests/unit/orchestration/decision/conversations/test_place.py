"""Where something is to be done: what is called in place of a first choice that acts elsewhere."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.orchestration.decision.conversations.place import place_of
from aeond.orchestration.interfaces import RouteChoice, discard_text
from aeond.orchestration.prompts.subject_prompts import place_view
from tests.support.deciders import NOWHERE, Composing, WholeTool, decider_of
from tests.support.strategy import LOOK, TEXT, grant, registry, run_of, says, spec

KEEP = replace(spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY), candidates=("note",))
WRITE = replace(spec("write", {"text": TEXT}, ("text",), Effect.WRITE_CONTAINED), candidates=("text",))
LAMP = spec("lamp", {"text": TEXT}, ("text",), Effect.WRITE_OUTSIDE)
SHRED = replace(
    spec("shred", {"note": TEXT}, ("note",), Effect.WRITE_CONTAINED),
    only_existing=("note",),
    for_part="write",
)
PHONE = spec("phone", {"note": TEXT}, ("note",), Effect.NET)
KEPT, WRITTEN = {"keep": {"note": "red"}}, {"write": {"text": "red"}}
MEMORY, FILE, WORLD = (
    {"memory": -0.1, "file": -2.5},
    {"file": -0.1, "world": -2.5},
    {"world": -0.2, "file": -2.0},
)
UNSURE = {"memory": -0.9, "file": -1.1, "world": -1.3}
WANTED = {"do": -0.1}


async def first(
    *decisions: object,
    place: Mapping[str, float],
    request: str = "Red.",
    calls: int = 10,
    situation: Situation = NOWHERE,
) -> RouteChoice:
    rules = [
        Rule(contains="Say in one word what a request", text="do", likely=WANTED),
        Rule(contains="Say in one word where", text="?", likely=dict(place)),
    ]
    rules += [Rule.model_validate({"json": one, "times": 1}) for one in decisions]
    tools = registry(SHRED, PHONE, LAMP)
    for one in (KEEP, WRITE, replace(LOOK, candidates=("path",))):
        tools.register(WholeTool(one))
    decider, _ = decider_of(tuple(rules), tools, situation, Composing({}, values=("a",)))
    return (await decider.choose(run_of(request=request), grant(calls), discard_text)).value


@pytest.mark.parametrize(
    ("chosen", "place", "other"),
    [(WRITTEN, MEMORY, KEPT), (KEPT, FILE, WRITTEN), ({"shred": {"note": "red"}}, MEMORY, KEPT)],
)
async def test_a_change_is_made_where_it_belongs(
    chosen: object, place: Mapping[str, float], other: Mapping[str, Mapping[str, str]]
) -> None:
    """A first call that changes files is decided again with the tools for the memory where the request is about that, and the
    other way round."""
    ((tool, arguments),) = other.items()
    assert (await first(chosen, other, place=place)).tool_call == ToolCall(tool, arguments)


@pytest.mark.parametrize("place", [MEMORY, UNSURE, {}])
async def test_a_change_stays_that_is_not_surely_elsewhere(place: Mapping[str, float]) -> None:
    """A call that fits the place, or for which none is more likely than the others, is made."""
    assert (await first(KEPT, WRITTEN, place=place)).tool_call == ToolCall("keep", {"note": "red"})


@pytest.mark.parametrize(
    ("request_", "place", "tool"),
    [
        ("Make a.txt red.", MEMORY, "write"),
        ("Make a.txt red.", UNSURE, "write"),
        ("Make b.txt red.", MEMORY, "keep"),
        ("Send a.txt to Ida.", WORLD, ""),
    ],
)
async def test_what_names_a_file_is_not_done_in_the_memory(
    request_: str, place: Mapping[str, float], tool: str
) -> None:
    """A change for a request with the name of a file that exists is one of files, whatever the model says but that it is about the world."""
    decisions = {"write": (WRITTEN,), "keep": (WRITTEN, KEPT), "": (WRITTEN, {"cannot": "I cannot send it."})}
    situation = Situation(files=(("a.txt", "blue"),))
    made = await first(*decisions[tool], place=place, request=request_, situation=situation)
    assert (made.tool_call.tool if made.tool_call else "") == tool


async def test_an_order_to_others_changes_nothing_here() -> None:
    """What is to be done by people, shops or devices is done by a tool of another author, or refused."""
    answer = (await first(WRITTEN, {"cannot": "I cannot print."}, place=WORLD)).answer
    assert answer is not None
    assert answer.text == "I cannot print."
    called = await first(WRITTEN, {"phone": {"note": "red"}}, place=WORLD)
    assert called.tool_call == ToolCall("phone", {"note": "red"})


async def test_what_a_tool_knows_alone_is_left_to_it() -> None:
    """A tool of the user's own that knows no values, such as one that switches a lamp, is called wherever it acts."""
    lamp = {"lamp": {"text": "red"}}
    assert (await first(lamp, KEPT, place=WORLD)).tool_call == ToolCall("lamp", {"text": "red"})
    assert (await first(lamp, KEPT, place=MEMORY)).tool_call == ToolCall("lamp", {"text": "red"})
    assert (await first(WRITTEN, lamp, place=WORLD)).tool_call == ToolCall("lamp", {"text": "red"})


async def test_a_change_here_is_not_refused() -> None:
    """A refusal is decided again where the place is known; one about the world, and about an unknown place, stays."""
    refusal = {"cannot": "I cannot keep that."}
    assert (await first(refusal, KEPT, place=MEMORY)).tool_call == ToolCall("keep", {"note": "red"})
    looked = await first(refusal, {"look": {"path": "a"}}, place=FILE)
    assert looked.tool_call == ToolCall("look", {"path": "a"})
    asked = await first(refusal, {"look": {"path": "a"}}, place=MEMORY, request="Where is the oar?")
    assert asked.tool_call == ToolCall("look", {"path": "a"})
    assert (await first(refusal, KEPT, place=WORLD)).tool_call is None
    assert (await first(refusal, KEPT, place=UNSURE)).tool_call is None


async def test_an_announced_change_is_made_where_it_belongs() -> None:
    """In place of an answer where a change is surely wanted, only tools of its place are offered."""
    announced = {"answer": "I will remember that."}
    assert (await first(announced, KEPT, place=MEMORY)).tool_call == ToolCall("keep", {"note": "red"})
    assert (await first(announced, WRITTEN, KEPT, place=MEMORY)).tool_call is None


async def test_a_run_without_tools_of_the_place_calls_those_it_has() -> None:
    """What a run may not use is not demanded: the first call is made, and an announced change with the tools that there are."""
    rules = [
        Rule(contains="Say in one word what a request", text="do", likely=WANTED),
        Rule(contains="Say in one word where", text="memory", likely=MEMORY),
    ]
    for decisions in ((WRITTEN,), ({"answer": "I will."}, WRITTEN)):
        made = [Rule.model_validate({"json": one, "times": 1}) for one in decisions]
        tools = Registry()
        tools.register(WholeTool(WRITE))
        decider, _ = decider_of((*rules, *made), tools, invoker=Composing({}, values=("a",)))
        chosen = await decider.choose(run_of(), grant(10), discard_text)
        assert chosen.value.tool_call == ToolCall("write", {"text": "red"})


async def test_a_spent_budget_leaves_the_place() -> None:
    """Without calls of the model left to ask and to decide again, the first call is made."""
    assert (await first(WRITTEN, KEPT, place=MEMORY, calls=3)).tool_call == ToolCall("write", {"text": "red"})


async def test_the_facts_are_in_view() -> None:
    """The question shows what is remembered, since what corrects a fact belongs to the memory."""
    seen = Situation(facts=(("lamp colour", "green"),), memory_seen=True)
    llm = says({"text": "memory", "likely": {"?": -0.1}})
    assert await place_of(llm, run_of(request="red"), seen, grant(1)) == ""
    assert llm.requests[0].messages[-1].content == "Remembered: lamp colour = green\nRequest: red"
    assert place_view("red", Situation()) == "Request: red"
