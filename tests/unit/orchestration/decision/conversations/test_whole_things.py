"""The question whether a part or the whole is to be removed."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.llm import LikelyToken
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall
from aeond.orchestration.decision.conversations.odds import log_odds
from aeond.orchestration.interfaces import discard_text
from aeond.orchestration.prompts.decision_prompts import PART, REMOVAL
from tests.support.deciders import INTENT, Composing, WholeTool, decider_of
from tests.support.strategy import LOOK, TEXT, grant, registry, run_of, spec

DELETE = replace(
    spec("delete", {"path": TEXT}, ("path",), Effect.WRITE_CONTAINED), candidates=("path",), for_part="change"
)
CHANGE = replace(
    spec("change", {"path": TEXT, "notes": TEXT}, ("path", "notes"), Effect.WRITE_CONTAINED),
    candidates=("path",),
    composition=Composition(("notes",), "Say what changes.", ()),
)
MOVE = replace(
    spec("move", {"path": TEXT, "to": TEXT}, ("path", "to"), Effect.WRITE_CONTAINED),
    candidates=("path",),
    only_existing=("path",),
    new_name="to",
)
NAMING = "Say in one word what the name is for"
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
        ({"part": -0.5, "other": -0.1, "par": -0.1, "Whole": -0.1}, math.inf),
        ({"whole": -0.1}, -math.inf),
        ({}, -math.inf),
    ],
)
def test_odds_are_those_of_a_part_against_the_whole(likely: dict[str, float], odds: float) -> None:
    """Other words do not count."""
    tokens = [LikelyToken(*one) for one in likely.items()]
    assert log_odds(tokens, REMOVAL.read, PART) == pytest.approx(odds)


async def named(
    request: str,
    likely: Mapping[str, float],
    *,
    more_files: bool = False,
    move: bool = True,
    subject: str = "do",
) -> tuple[ToolCall | None, list[str]]:
    """The first call, where the model would change `list.txt`, and the views in which it was asked what a name is for."""
    rules = (
        Rule(contains=SUBJECT, text=subject, likely={subject: -0.1, "know": -4.0}),
        Rule(contains=INTENT, text="edit", likely={"edit": -0.1}),
        Rule(contains=NAMING, text=next(iter(likely), "?"), likely=dict(likely), times=0),
        Rule.model_validate({"contains": "Say what changes.", "json": "b"}),
        Rule.model_validate({"json": {"change": {"path": "list.txt"}}}),
    )
    tools = Registry()
    for one in (CHANGE, *([MOVE] if move else ())):
        tools.register(WholeTool(one))
    seen = Situation(files=(("home/list.txt", "a"), ("other.txt", "c")), more_files=more_files)
    decider, llm = decider_of(rules, tools, seen, Composing({}, ("home/list.txt", "other.txt"), SHOWN))
    chosen = await decider.choose(run_of(request=request), grant(10), discard_text)
    asked = [one.messages for one in llm.requests if NAMING in str(one.messages[0].content)]
    return chosen.value.tool_call, [str(messages[-1].content) for messages in asked]


async def test_a_file_gets_a_new_name_without_a_decision() -> None:
    """Where the one new name of a request is surely meant for the one file that it names, that is renamed as the request spells it."""
    likely = {"rename": -0.05, "new": -3.0}
    call, asked = await named("list.txt is to be old/things.txt", likely)
    assert (call, len(asked)) == (ToolCall("move", {"path": "home/list.txt", "to": "old/things.txt"}), 1)


@pytest.mark.parametrize(
    "likely", [{"rename": -0.5, "new": -1.0}, {"text": -0.1, "rename": -3.0}, {"?": -0.1}]
)
async def test_a_name_may_be_for_something_else(likely: Mapping[str, float]) -> None:
    """A name for a new file or for a text, and one that the model is not sure of, leaves the decision as it is."""
    call, asked = await named("things.txt, and list.txt", likely)
    assert call is not None
    assert (call.tool, len(asked)) == ("change", 1)


@pytest.mark.parametrize(
    ("request_", "more_files", "move"),
    [
        ("add bread to list.txt", False, True),
        ('list.txt into "my things.txt"', False, True),
        ("list.txt to things.txt.bak", False, True),
        ("list.txt and other.txt into things.txt", False, True),
        ("list.txt into things.txt and more.txt", False, True),
        ("list.txt to things.txt", True, True),
        ("list.txt to things.txt", False, False),
    ],
)
async def test_other_requests_are_not_asked_about(request_: str, *, more_files: bool, move: bool) -> None:
    """Without exactly one file and one new name, and a tool that renames, there is no question."""
    assert (await named(request_, {"rename": -0.05}, more_files=more_files, move=move))[1] == []


async def test_a_question_renames_nothing() -> None:
    """Where no change is wanted, the model is not asked what the name is for."""
    for request_ in ("was list.txt things.txt before?", "Look at list.txt. Was it things.txt before?"):
        assert (await named(request_, {"rename": -0.05}, subject="files"))[1] == []


async def test_an_order_beside_a_question_gives_a_file_its_new_name() -> None:
    """What the name is for is asked of the sentence that has it, without the questions beside it."""
    text = "Move list.txt to things.txt, please. How many are on it?"
    call, asked = await named(text, {"rename": -0.05, "new": -3.0}, subject="files")
    assert (call, len(asked)) == (ToolCall("move", {"path": "home/list.txt", "to": "things.txt"}), 1)
    assert asked[0].endswith("Request: Move list.txt to things.txt, please.")


@pytest.mark.parametrize(
    ("odds", "tool"), [({"new": -0.1, "rename": -3.0}, "look"), ({"text": -0.1}, "change")]
)
async def test_what_a_new_file_is_made_from_is_read_first(odds: Mapping[str, float], tool: str) -> None:
    """Where something is to be written under a new name, the file that the request names as well is read before."""
    look = replace(LOOK, candidates=("path",))
    rules = (
        Rule(contains=SUBJECT, text="do", likely={"do": -0.1}),
        Rule(contains=NAMING, text=next(iter(odds)), likely=dict(odds)),
        Rule.model_validate({"contains": "Say what changes.", "json": "b"}),
        Rule.model_validate({"json": {"change": {"path": "boat.txt"}}}),
    )
    tools = Registry()
    for one in (MOVE, CHANGE, look):
        tools.register(WholeTool(one))
    situation = Situation(files=(("boat.txt", "mast 9 m"),))
    decider, _ = decider_of(rules, tools, situation, Composing({}, ("boat.txt",), SHOWN))
    run = run_of(request="the mast of boat.txt goes into mast.txt")
    chosen = (await decider.choose(run, grant(10), discard_text)).value.tool_call
    assert chosen is not None
    assert (chosen.tool, chosen.arguments["path"]) == (tool, "boat.txt")
