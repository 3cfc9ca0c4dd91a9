"""Calls whose argument is written in a separate conversation."""

from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.domain.outcome import Outcome
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.interfaces import RouteChoice, discard_text
from aeond.schemas.parts import is_list
from tests.support.deciders import Composing, WholeTool, decider_of
from tests.support.strategy import TEXT, grant, registry, run_of, spec

NOTES: JsonObject = {"type": "array", "items": TEXT}
COMPOSITION = Composition(("notes",), "Say what changes.", (("old:\nx", "drop x", ["x"]),))
CHANGE = replace(
    spec("change", {"path": TEXT, "notes": NOTES}, ("path", "notes"), Effect.WRITE_CONTAINED),
    candidates=("path",),
    composition=COMPOSITION,
)
WRITE = replace(
    spec("write", {"path": TEXT, "text": TEXT}, ("path", "text"), Effect.WRITE_CONTAINED),
    for_existing="change",
)
ITEM: JsonObject = {"enum": ["a", "b"]}
WHOLE = {"change": {"path": "list", "notes": ["guessed"]}}
VIEW = "list:\na\nb"
SHOWN = CompositionView(VIEW, {"type": "array", "items": ITEM})
FACTS = Situation(facts=(("boat", "Ida"),))


async def chosen(
    decision: object,
    written: object,
    view: CompositionView | None = SHOWN,
    calls: int = 10,
    change: ToolSpec = CHANGE,
    after: object = WHOLE,
) -> tuple[Outcome[RouteChoice], ScriptedLLM]:
    rules = (
        Rule.model_validate({"contains": "Say what changes.", "json": written}),
        Rule.model_validate({"json": decision, "times": 1}),
        Rule.model_validate({"json": after}),
    )
    tools = registry(WRITE)
    tools.register(WholeTool(change))
    decider, llm = decider_of(rules, tools, FACTS, Composing({}, ("list",), view))
    return await decider.choose(run_of(request="drop b"), grant(llm_calls=calls), discard_text), llm


async def test_the_argument_is_written_with_the_content_in_view() -> None:
    """A decision without the argument is completed in a conversation that shows the view, the facts and the request."""
    choice, llm = await chosen({"change": {"path": "list"}}, ["b"])
    assert choice.value.tool_call == ToolCall("change", {"path": "list", "notes": ["b"]})
    assert choice.ok
    asked = llm.requests[-1]
    assert asked.schema == SHOWN.schema
    assert [str(message.content) for message in asked.messages] == [
        "Say what changes.",
        "old:\nx\n\nRequest: drop x",
        '["x"]',
        f"Remembered: boat = Ida\n\n{VIEW}\n\nRequest: drop b",
    ]


async def test_facts_are_left_out_where_none_are_needed() -> None:
    """A conversation that is about its view alone shows no facts."""
    _, llm = await chosen(
        {"change": {"path": "list"}},
        ["b"],
        change=replace(CHANGE, composition=replace(COMPOSITION, facts=False)),
    )
    assert llm.requests[-1].messages[-1].content == f"{VIEW}\n\nRequest: drop b"


async def test_the_decision_is_made_without_the_argument() -> None:
    """The schema of the decision and the line of the tool leave the argument out."""
    _, llm = await chosen({"change": {"path": "list"}}, ["b"])
    first = llm.requests[0]
    assert "notes" not in str(first.schema)
    assert "notes" not in str(first.messages[0].content)


@pytest.mark.parametrize("written", [[3], {"a": 1}])
async def test_a_change_that_cannot_be_written_is_refused(written: object) -> None:
    """Where the content is in view and what is written is no argument, the model is left only a refusal."""
    choice, llm = await chosen({"change": {"path": "list"}}, written, after={"cannot": "I cannot."})
    assert choice.value.answer is not None
    assert choice.value.answer.text == "I cannot."
    assert "change" not in str(llm.requests[-1].schema)


async def test_what_does_not_follow_from_the_request_is_not_used() -> None:
    """The view of a call says what the written value means, given what was said: only that is used, and where it does not follow the change
    is refused."""
    heard: list[str] = []

    def meant(value: JsonValue, text: str) -> JsonValue:
        assert is_list(value)
        heard.append(text)
        return [one for one in value if one in text.split()] or None

    view = replace(SHOWN, meant=meant)
    choice, _ = await chosen({"change": {"path": "list"}}, ["a", "b"], view)
    assert choice.value.tool_call == ToolCall("change", {"path": "list", "notes": ["b"]})
    assert "drop b" in heard[0]
    refused, _ = await chosen({"change": {"path": "list"}}, ["a"], view, after={"cannot": "I cannot."})
    assert refused.value.answer is not None
    assert refused.value.answer.text == "I cannot."


async def test_a_list_without_end_is_used_as_far_as_it_says_something_new() -> None:
    """A list that only repeats itself is cut there, long before the bound, and the call is paid for as far as it was written."""
    rules = (
        Rule.model_validate({"contains": "Say what changes.", "json": ["b", "c", *["b"] * 500]}),
        Rule.model_validate({"json": {"change": {"path": "list"}}}),
    )
    tools = registry()
    tools.register(WholeTool(CHANGE))
    decider, _ = decider_of(rules, tools, FACTS, Composing({}, ("list",), SHOWN))
    purse = grant()
    choice = await decider.choose(run_of(request="drop b"), purse, discard_text)
    assert choice.value.tool_call == ToolCall("change", {"path": "list", "notes": ["b", "c"]})
    assert purse.model_use is not None
    assert 0 < purse.model_use.calls[-1].completion_tokens < 100


@pytest.mark.parametrize("item", ["b", "an oar for Ida", "rope and tar"])
async def test_a_list_that_ends_is_used_whole(item: str) -> None:
    """Items that repeat others are kept in a list that the model has finished."""
    choice, _ = await chosen({"change": {"path": "list"}}, [item] * 3)
    assert choice.value.tool_call == ToolCall("change", {"path": "list", "notes": [item] * 3})


@pytest.mark.parametrize(("written", "times"), [({"json": [3]}, 1), ({"text": ""}, 2)])
async def test_what_was_not_written_is_not_asked_for_again(written: dict[str, object], times: int) -> None:
    """The same conversation of a run is held once, unless the model has failed in it."""
    rules = (
        Rule.model_validate({"contains": "Say what changes.", "times": 0, **written}),
        Rule.model_validate({"json": {"change": {"path": "list"}}, "times": 1}),
        Rule.model_validate({"json": {"cannot": "No."}, "times": 1}),
        Rule.model_validate({"json": {"change": {"path": "list"}}, "times": 1}),
        Rule.model_validate({"json": {"cannot": "No."}}),
    )
    tools = registry()
    tools.register(WholeTool(CHANGE))
    decider, llm = decider_of(rules, tools, FACTS, Composing({}, ("list",), SHOWN))
    for _ in range(2):
        await decider.choose(run_of(request="drop b"), grant(), discard_text)
    assert sum("Say what changes." in str(one.messages[0].content) for one in llm.requests) == times


async def test_a_look_that_cannot_be_written_gives_way_to_another_action() -> None:
    """A tool that changes nothing is left out, and another action is chosen."""
    look = replace(CHANGE, effect=Effect.READ)
    choice, _ = await chosen({"change": {"path": "list"}}, [3], change=look, after={"answer": "It is b."})
    assert choice.value.answer is not None
    assert choice.value.answer.text == "It is b."


async def test_a_call_for_which_nothing_can_be_shown_is_decided_whole() -> None:
    """Where there is nothing to show, the model is asked for the whole call."""
    choice, llm = await chosen({"change": {"path": "list"}}, ["b"], None)
    assert choice.value.tool_call == ToolCall("change", {"path": "list", "notes": ["guessed"]})
    assert "notes" in str(llm.requests[-1].schema)


async def test_what_exists_is_changed_and_not_replaced() -> None:
    """A call that would replace an existing thing unseen becomes a change of it; one that makes a new thing stays."""
    choice, _ = await chosen({"write": {"path": "list", "text": "b"}}, ["b"])
    assert choice.value.tool_call == ToolCall("change", {"path": "list", "notes": ["b"]})
    choice, _ = await chosen({"write": {"path": "other", "text": "b"}}, ["b"])
    assert choice.value.tool_call == ToolCall("write", {"path": "other", "text": "b"})


async def test_what_exists_and_cannot_be_shown_is_replaced() -> None:
    """A call that would replace an existing thing stays as decided if its content cannot be shown."""
    choice, _ = await chosen({"write": {"path": "list", "text": "b"}}, ["b"], None)
    assert choice.value.tool_call == ToolCall("write", {"path": "list", "text": "b"})


@pytest.mark.parametrize(
    ("request_", "first", "kept"),
    [
        ("The mast is 9 m.", "Ida", "9 m"),
        ("The boat is Ida again.", "Ida", "Ida"),
        ("The mast is 9 m, the gate 7714.", "for me", "9 m"),
        ("The gate has 7714.", "7714", "7714"),
    ],
)
async def test_a_fact_in_view_is_not_kept_again(request_: str, first: str, kept: str) -> None:
    """What is to be remembered and repeats a fact that the request does not name, or has none of its numbers, is written again without facts in view."""
    keep = replace(
        spec("keep", {"key": TEXT, "value": TEXT}, ("key", "value"), Effect.MEMORY),
        composition=Composition(("key", "value"), "Note it.", ()),
    )
    tools = registry()
    tools.register(WholeTool(keep))
    rules = (
        Rule.model_validate({"contains": "boat = Ida\n\n", "json": {"key": "boat", "value": first}}),
        Rule.model_validate({"contains": "Note it.", "json": {"key": "mast", "was": "", "value": "9 m"}}),
        Rule.model_validate({"json": {"keep": {}}}),
    )
    invoker = Composing({}, view_of=CompositionView("", {"type": "object"}))
    decider, _ = decider_of(rules, tools, FACTS, invoker)
    chosen = await decider.choose(run_of(request=request_), grant(10), discard_text)
    assert chosen.value.tool_call is not None
    assert chosen.value.tool_call.arguments["value"] == kept


@pytest.mark.parametrize(
    ("request_", "kept"),
    [
        ("Gate 9 is on 6 June.", "Gate 9 is on 6 June."),
        ("The gate 9.", "gate 9"),
        ("Gate 9 is shut.", "gate 9"),
    ],
)
async def test_a_request_with_a_number_is_kept_where_a_fact_only_repeats_its_name(
    request_: str, kept: str
) -> None:
    """The user's own words are kept in place of a value that says nothing but the name, where they have another number."""
    keep = replace(
        spec("keep", {"key": TEXT, "value": TEXT}, ("key", "value"), Effect.MEMORY),
        composition=Composition(("key", "value"), "Note it.", (), fact="key"),
    )
    tools = registry()
    tools.register(WholeTool(keep))
    rules = (
        Rule.model_validate({"contains": "Note it.", "json": {"key": "gate 9", "value": "gate 9"}}),
        Rule.model_validate({"json": {"keep": {}}}),
    )
    invoker = Composing({}, view_of=CompositionView("", {"type": "object"}))
    decider, _ = decider_of(rules, tools, Situation(), invoker)
    chosen = await decider.choose(run_of(request=request_), grant(10), discard_text)
    call = chosen.value.tool_call
    assert (call.arguments["value"] if call else "gate 9") == kept
