"""Objections to what a small model chose; those to invented calls are tested with `invention`."""

from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, CompositionView, Effect, ToolCall
from aeond.orchestration.decision.decider import NOT_FULFILLED
from aeond.orchestration.interfaces import RouteChoice, discard_text
from tests.support.deciders import Composing, WholeTool, decider_of
from tests.support.strategy import LOOK, TEXT, grant, run_of, spec

WRITE = replace(
    spec("write", {"path": TEXT, "text": TEXT}, ("path", "text"), Effect.WRITE_CONTAINED),
    for_existing="edit",
    new_text="text",
)
VIEW = Situation(files=(("club/crew.csv", "name,rows,since"), ("notes.md", "Lena rows")))


async def writing(request: str, situation: Situation, *rules: Rule) -> RouteChoice:
    """What is chosen for an order where files can be written and looked at."""
    tools = Registry()
    for one in (WRITE, replace(LOOK, candidates=("path",))):
        tools.register(WholeTool(one))
    does = Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1})
    invoker = Composing({}, values=tuple(path for path, _ in situation.files))
    decider, _ = decider_of((does, *rules), tools, situation, invoker)
    return (await decider.choose(run_of(request=request), grant(10), discard_text)).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,rows,since", ToolCall("look", {"path": "club/crew.csv"})),
        ("torch and rope", ToolCall("write", {"path": "heron.txt", "text": "torch and rope"})),
    ],
)
async def test_a_file_is_read_before_its_lines_go_into_another(text: str, expected: ToolCall) -> None:
    """A new file that would hold no more than the line of a file which is in view is not made before that file is read."""
    writes = Rule.model_validate({"json": {"write": {"path": "heron.txt", "text": text}}})
    chosen = await writing("Write who rows, the torch and the rope into heron.txt", VIEW, writes)
    assert chosen.tool_call == expected


EDIT = replace(
    spec("edit", {"path": TEXT, "changes": TEXT}, ("path", "changes"), Effect.WRITE_CONTAINED),
    candidates=("path",),
    only_existing=("path",),
    composition=Composition(("changes",), "Say what changes.", ()),
)
FILES = Situation(files=(("crew.csv", ""), ("notes.md", ""), ("trips.csv", "")))


@pytest.mark.parametrize(
    ("request_", "nearest", "changed"),
    [
        ("Lena rows now", ("trips.csv",), "trips.csv"),
        ("Lena rows now", ("trips.csv", "crew.csv"), "crew.csv"),
        ("Lena rows now", (), "crew.csv"),
        ("Lena rows now, crew.csv", ("trips.csv",), "crew.csv"),
    ],
)
async def test_a_near_file_is_changed(request_: str, nearest: tuple[str, ...], changed: str) -> None:
    """A chosen file that is neither named nor among the near ones gives way to the nearest."""
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.1}),
        Rule.model_validate({"contains": "Say what changes.", "json": "Lena rows"}),
        Rule.model_validate({"json": {"edit": {"path": "crew.csv"}}}),
    )
    tools = Registry()
    tools.register(WholeTool(EDIT))
    invoker = Composing({}, tuple(path for path, _ in FILES.files), CompositionView("", TEXT))
    decider, _ = decider_of(rules, tools, replace(FILES, nearest=nearest), invoker)
    chosen = await decider.choose(run_of(request=request_), grant(10), discard_text)
    assert chosen.value.tool_call == ToolCall("edit", {"path": changed, "changes": "Lena rows"})


ENDLESS = '{"write":{"path":"heron.txt","text":"' + "2026 " * 200


async def test_a_model_that_finds_no_end_looks_first() -> None:
    """Where the first decision was cut for repeating itself, the model chooses among the tools that look."""
    looks = Rule.model_validate({"json": {"look": {"path": "crew.csv"}}})
    chosen = await writing("Write the years into heron.txt", FILES, Rule(text=ENDLESS, times=1), looks)
    assert chosen.tool_call == ToolCall("look", {"path": "crew.csv"})


async def test_a_model_that_finds_no_end_again_refuses() -> None:
    """Where the choice among looks is cut, too, the request is refused, and nothing is planned from it."""
    refuses = Rule.model_validate({"json": {"cannot": "No years are there."}})
    chosen = await writing("Write the years into heron.txt", FILES, Rule(text=ENDLESS, times=2), refuses)
    assert chosen.answer is not None
    assert (chosen.answer.text, chosen.answer.notes) == ("No years are there.", (NOT_FULFILLED,))
