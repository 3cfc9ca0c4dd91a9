"""Invented numbers are not kept."""

from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.decision.interfaces import Turn
from aeond.orchestration.decision.invention import (
    glimpsed_in,
    has_news,
    is_copied,
    is_invented,
    is_unsaid,
    removes_other,
)
from aeond.orchestration.interfaces import discard_text
from tests.support.deciders import Composing, WholeTool, decider_of
from tests.support.strategy import LOOK, TEXT, grant, registry, run_of, spec

KEEP = spec("keep", {"key": TEXT, "value": TEXT}, ("key", "value"), Effect.MEMORY)
ASK = replace(spec("ask", {"question": TEXT}, ("question",)), asks_user=True)
NOW = Situation("Friday 27 November 2026, 10:15")


def invented(request: str, value: JsonValue, *results: str, context: str = "") -> bool:
    run = run_of()
    run = replace(run, request=replace(run.request, text=request), context=context)
    turns = [Turn(ToolCall("look"), result) for result in results]
    return is_invented(ToolCall("keep", {"key": "it", "value": value}), KEEP, run, NOW, turns)


@pytest.mark.parametrize(
    ("request_", "value"),
    [
        ("Keep the code of the shed.", "4711"),
        ("The mast is new, remember its length.", 9.5),
        ("Keep when Vera was born.", "1990-04-02"),
        ("Keep the 12 lamps.", "13"),
    ],
)
def test_a_number_that_nobody_said_is_invented(request_: str, value: JsonValue) -> None:
    """The request names no such number."""
    assert invented(request_, value)


@pytest.mark.parametrize(
    ("request_", "value"),
    [
        ("The code of the shed is 4711.", "4711"),
        ("Der Mast hat 9,5 m.", 9.5),
        ("The harbour: 0471 / 22 11", "0471-2211"),
        ("The lamps come on Tuesday.", "2026-12-01"),
        ("Vera was born on 2.4.1990", "2.4.1990"),
        ("The sails are red.", "red"),
    ],
)
def test_a_number_that_was_said_may_be_kept(request_: str, value: JsonValue) -> None:
    """In any notation; a date of this year or the next may stand for a day that was said."""
    assert not invented(request_, value)


def test_numbers_of_results_and_of_the_conversation_were_said() -> None:
    """Numbers that a step found or that were said before can be kept."""
    assert not invented("Keep the length of the mast.", "9.5", "length 9.5 m")
    assert not invented("Keep that.", "4711", context="User: the code is 4711")


@pytest.mark.parametrize(
    ("name", "value", "invented_"),
    [
        ("birthday of Omar", "Omar, birthday of", True),
        ("birthday", "Keep the birthday of Omar!", True),
        ("new sailmaker Greta", "Greta", False),
        ("seasick", "in small boats", False),
    ],
)
def test_a_fact_says_more_than_its_name(name: str, value: str, invented_: bool) -> None:
    """A value with the words of the name, or with those of the request, is none."""
    call = ToolCall("keep", {"key": name, "value": value})
    assert is_invented(call, KEEP, run_of(request="Keep the birthday of Omar"), NOW, ()) is invented_


def test_only_what_is_remembered_is_checked() -> None:
    """A call that keeps nothing may name any number."""
    assert not is_invented(ToolCall("look", {"path": "7"}), LOOK, run_of(), NOW, ())


@pytest.mark.parametrize(("model_calls", "tool"), [(10, "ask"), (3, "keep")])
async def test_the_user_is_asked_for_it(model_calls: int, tool: str) -> None:
    """A decision that would keep an invented number is made again: the user is asked, if the budget has a call for it."""
    keep = {"keep": {"key": "code", "value": "4711"}}
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule.model_validate({"json": keep, "times": 1}),
        Rule.model_validate({"json": {"ask": {"question": "Which code?"}}}),
    )
    decider, _ = decider_of(rules, registry(KEEP, ASK), NOW)
    chosen = await decider.choose(run_of(request="Keep the code."), grant(model_calls), discard_text)
    assert chosen.value.tool_call is not None
    assert chosen.value.tool_call.tool == tool


def test_what_a_corrected_fact_says_is_not_invented() -> None:
    """Numbers of the fact that has the same name may stay; those of other facts are not said of it."""
    situation = replace(NOW, facts=(("harbour office", "open 8 to 12"), ("gate code", 7714)))
    run = run_of(request="The harbour office is open on Saturdays too, same hours.")
    for value, invented_ in (("Saturdays too, 8 to 12", False), ("open 8 to 13", True), ("7714", True)):
        call = ToolCall("keep", {"key": "Harbour Office", "value": value})
        assert is_invented(call, KEEP, run, situation, ()) is invented_


FORGET = replace(
    spec("forget", {"key": TEXT}, ("key",), Effect.MEMORY), candidates=("key",), only_existing=("key",)
)
LOCKER = Situation(facts=(("gym locker", 57), ("berth", 15)))


@pytest.mark.parametrize(
    ("request_", "news"),
    [
        ("I have locker 83 at the gym now, no longer 57.", True),
        ("Forget my locker, it was 57.", False),
        ("The locker is not mine any more.", False),
        ("I gave my locker up in week 3.", False),
    ],
)
def test_a_request_with_another_number_corrects_a_fact(request_: str, news: bool) -> None:
    """A number of several digits that a fact does not hold is something new about it, which forgetting would lose."""
    run = run_of(request=request_)
    assert has_news(ToolCall("forget", {"key": "gym_locker"}), FORGET, run, LOCKER) is news
    assert not has_news(ToolCall("forget", {"key": "unknown"}), FORGET, run, LOCKER)
    assert not has_news(ToolCall("keep", {"key": "gym_locker"}), KEEP, run, LOCKER)


@pytest.mark.parametrize(
    ("request_", "other"),
    [
        ("We don't want the kite along, strike it from the sailing trip", True),
        ("Strike the kite from the trip, my locker has one", False),  # it names the fact
        ("Strike number 57 and what trips hold", False),  # no word of a file's name
        ("Nimm den Drachen von der Liste", False),
    ],
)
async def test_what_a_named_file_holds_is_not_forgotten(request_: str, *, other: bool) -> None:
    """A fact that shares no word with the request stays, where the request has a word of a file's name: the model chooses a change of files."""
    run, files = run_of(request=request_), (("lists/trip_sailing.md", ""),)
    situation = replace(LOCKER, files=files)
    forgetting = ToolCall("forget", {"key": "gym locker"})
    assert removes_other(forgetting, FORGET, run, situation) is other
    assert not removes_other(forgetting, FORGET, run, LOCKER)
    assert not removes_other(ToolCall("keep", {"key": "gym locker"}), KEEP, run, situation)
    edit = replace(spec("edit", {"path": TEXT}, ("path",), Effect.WRITE_CONTAINED), candidates=("path",))
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule(contains="whether it is an update", text="none", likely={"none": -0.1}),
        Rule.model_validate({"json": {"forget": {"key": "gym locker"}}, "times": 1}),
        Rule.model_validate({"json": {"edit": {"path": "lists/trip_sailing.md"}}}),
    )
    tools = Registry()
    for one in (FORGET, edit):
        tools.register(WholeTool(one))
    decider, _ = decider_of(rules, tools, situation, Composing({}, ("gym locker", "lists/trip_sailing.md")))
    chosen = (await decider.choose(run, grant(10), discard_text)).value.tool_call
    assert chosen is not None
    assert chosen.tool == ("edit" if other else "forget")


@pytest.mark.parametrize(
    ("request_", "tool"), [("I have locker 83 now.", "keep"), ("I have none now.", "forget")]
)
async def test_a_fact_is_corrected_and_not_forgotten(request_: str, tool: str) -> None:
    """Where a call would forget what the request says something new about, that is kept in its place."""
    keep = replace(KEEP, composition=Composition(("key", "value"), "Note it.", ()))
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule(contains="whether it is an update", text="update", likely={"update": -0.1}),
        Rule.model_validate({"contains": "Note it.", "json": {"key": "gym locker", "value": "83"}}),
        Rule.model_validate({"json": {"forget": {"key": "gym locker"}}}),
    )
    tools = Registry()
    tools.register(WholeTool(keep))
    tools.register(WholeTool(FORGET))
    invoker = Composing({}, ("gym locker",), CompositionView("", {"type": "object"}))
    decider, _ = decider_of(rules, tools, LOCKER, invoker)
    chosen = await decider.choose(run_of(request=request_), grant(10), discard_text)
    assert chosen.value.tool_call is not None
    assert chosen.value.tool_call.tool == tool


WRITE = replace(
    spec("write", {"path": TEXT, "text": TEXT}, ("path", "text")), for_existing="edit", new_text="text"
)
KNOWING = replace(NOW, facts=(("berth", "number 15"),), nearest=("club/crew.csv",))


@pytest.mark.parametrize(
    ("text", "unsaid", "invented_"),
    [
        ("torch, rope and 2 lamps", False, False),
        ("Rope, 2 lamps and a torch for number 15", False, False),
        ("12 Quay Road", True, True),
        ("41.5", True, True),
        ("27 November 2026", False, False),
        ("Lena\nOmar\nTill", True, False),
        ("[\n", True, False),
        ("torch, lamps\ntorch, lamps\n", True, False),
        (" ", False, False),
        ("A torch for 4 people\nRope", True, False),  # a list may count what was not counted
    ],
)
def test_what_is_written_comes_from_what_was_said(text: str, unsaid: bool, invented_: bool) -> None:
    """Something new that consists mostly of other words, or has another number, signs alone or one line twice, was not said; a single line with
    such a number is made up."""
    run = run_of(request="Write a file with a torch, rope and 2 lamps for me.")
    call = ToolCall("write", {"path": "torch/for_me.txt", "text": text})
    assert is_unsaid(call, WRITE, run, KNOWING) is unsaid
    assert is_invented(call, WRITE, run, KNOWING, ()) is invented_
    assert not is_invented(call, WRITE, run, KNOWING, (Turn(ToolCall("look"), ""),))
    assert not is_unsaid(call, KEEP, run, KNOWING)


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("Omar: 95 euros\nTill: 120 euros", True),
        ("Omar: 95 euros\nFlour: 7 pounds", False),  # not most of them
        ("Omar\nTill", False),
        ("95\n120", False),
        ("A torch for 2 euros", False),  # the number was said
    ],
)
def test_names_with_amounts_of_examples_are_copied(text: str, *, copied: bool) -> None:
    """A new file most of whose lines have names and numbers of the prompt's examples was copied from there; names or numbers alone may be
    from elsewhere."""
    run = run_of(request="Write a file with a torch, rope and 2 lamps for me.")
    call = ToolCall("write", {"path": "for_me.txt", "text": text})
    shown = "name,fee\nOmar,95\nTill,120\n12 % of 340 euros"
    assert is_copied(call, WRITE, run, KNOWING, shown) is copied
    assert not is_copied(call, KEEP, run, KNOWING, shown)


@pytest.mark.parametrize(
    ("text", "glimpsed"),
    [
        ("name,rows,since", "club/crew.csv"),
        ("club/crew.csv\nname,rows,since", "club/crew.csv"),
        ("name: Lena\nrows: yes", ""),
        ("# Crew\nLena 7", ""),
        ("a torch and rope", ""),  # all of it was said
    ],
)
def test_a_line_in_view_is_not_what_a_file_holds(text: str, glimpsed: str) -> None:
    """A new file that has nothing unsaid but the line of a file that is in view was made without reading that one."""
    run = run_of(request="Write a file with a torch, rope and who rows for me.")
    view = replace(KNOWING, files=(("club/crew.csv", "name,rows,since"), ("notes.md", "# Crew")))
    call = ToolCall("write", {"path": "for_me.txt", "text": text})
    assert glimpsed_in(call, WRITE, run, view) == glimpsed
    assert not glimpsed_in(call, KEEP, run, view)


@pytest.mark.parametrize(
    ("request_", "nearest", "expected"),
    [
        ("Write who rows into heron.txt", ("club/crew.csv",), ToolCall("look", {"path": "club/crew.csv"})),
        ("Write my address into heron.txt", (), ToolCall("ask", {"question": "Which?"})),
        ("Write '4 Quay Road' into heron.txt", ("club/crew.csv",), None),
    ],
)
async def test_a_new_file_is_not_filled_with_what_was_not_said(
    request_: str, nearest: tuple[str, ...], expected: ToolCall | None
) -> None:
    """Before that the nearest file is read, or, where none is near, the user is asked for it."""
    written = {"path": "heron.txt", "text": "4 Quay Road"}
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule.model_validate({"json": {"write": written}, "times": 1}),
        Rule.model_validate({"json": {"ask": {"question": "Which?"}}}),
    )
    look = replace(LOOK, candidates=("path",))
    tools = registry(ASK)
    for one in (look, replace(WRITE, effect=Effect.WRITE_CONTAINED)):
        tools.register(WholeTool(one))
    decider, _ = decider_of(
        rules, tools, replace(NOW, nearest=nearest), invoker=Composing({}, values=("club/crew.csv",))
    )
    chosen = await decider.choose(run_of(request=request_), grant(10), discard_text)
    assert chosen.value.tool_call == (expected or ToolCall("write", written))


async def test_what_is_copied_from_examples_is_looked_up() -> None:
    """A new file that would be filled with names and amounts of the prompt's own examples is not made: the model chooses a look first."""
    copied = {"path": "totals.md", "content": "Omar: 95\nTill: 120"}
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule.model_validate({"json": {"write_file": copied}, "times": 1}),
        Rule.model_validate({"json": {"read_file": {"path": "club/crew.csv"}}}),
    )
    made = spec("write_file", {"path": TEXT, "content": TEXT}, ("path", "content"), Effect.WRITE_CONTAINED)
    tools = registry(ASK)
    tools.register(WholeTool(replace(spec("read_file", {"path": TEXT}, ("path",)), candidates=("path",))))
    tools.register(WholeTool(replace(made, for_existing="edit", new_name="path", new_text="content")))
    decider, _ = decider_of(
        rules, tools, replace(NOW, nearest=()), invoker=Composing({}, values=("club/crew.csv",))
    )
    chosen = await decider.choose(run_of(request="Write who paid into totals.md"), grant(10), discard_text)
    assert chosen.value.tool_call == ToolCall("read_file", {"path": "club/crew.csv"})


@pytest.mark.parametrize(
    ("nearest", "expected"),
    [(("club/crew.csv",), "look"), ((), "write")],
)
async def test_a_named_new_file_is_made_and_no_other_one_changed(
    nearest: tuple[str, ...], expected: str
) -> None:
    """A call that would change a file which the request does not name, while it names a new one, is not made: the nearest file is
    read, or the decision is made again without that tool."""
    edit = replace(
        spec("edit", {"path": TEXT, "changes": TEXT}, ("path", "changes"), Effect.WRITE_CONTAINED),
        candidates=("path",),
        composition=Composition(("changes",), "Say what changes.", ()),
    )
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule.model_validate({"json": {"edit": {"path": "club/crew.csv"}}, "times": 1}),
        Rule.model_validate({"json": {"write": {"path": "heron.txt", "text": "the names who rows in"}}}),
    )
    tools = Registry()
    for one in (edit, replace(LOOK, candidates=("path",)), replace(WRITE, effect=Effect.WRITE_CONTAINED)):
        tools.register(WholeTool(one))
    situation = Situation(files=(("club/crew.csv", ""),), nearest=nearest)
    decider, _ = decider_of(rules, tools, situation, Composing({}, values=("club/crew.csv",)))
    run = run_of(request="the names of who rows in go into heron.txt")
    chosen = (await decider.choose(run, grant(10), discard_text)).value.tool_call
    assert chosen is not None
    assert chosen.tool == expected


def test_a_result_is_not_asked_for() -> None:
    """A number in a new file may be the result of a calculation whose operands the request gives."""
    call = ToolCall("write", {"path": "a.txt", "text": "42"})
    assert not is_invented(call, WRITE, run_of(request="Write 12 times 3.5 into a.txt"), KNOWING, ())
    assert is_invented(call, WRITE, run_of(request="Write my size into a.txt"), KNOWING, ())
