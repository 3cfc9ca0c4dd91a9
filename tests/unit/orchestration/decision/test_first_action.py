"""Pages and files that are read because a request names them, and the file that is made from them."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.orchestration.decision.decider import Decider
from tests.support.deciders import READS_ALL, Composing, WholeTool, decider_of, words
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, STORE, TEXT, calls, grant, registry, run_of, spec

FETCH = replace(
    spec("fetch", {"url": TEXT, "raw": {"type": "boolean"}}, ("url",), Effect.NET), page_address="url"
)
ASKED = "Compare https://a.example/x with https://b.example, please"
RULES = (
    Rule(contains="Say in one word", text="look", likely={"look": -0.1}),
    Rule.model_validate({"json": {"answer": "Nothing to do."}}),
)


def asking(run: RunSnapshot) -> RunSnapshot:
    return replace(run, request=replace(run.request, text=ASKED))


async def test_pages_of_a_request_are_read_first() -> None:
    """Each page whose address the request has is read once, before a model is asked; without a tool that reads pages none is."""
    decider, llm = decider_of(RULES, registry(LOOK, FETCH))
    first = (await decider.choose(asking(run_of()), grant(20), lambda _: None)).value
    assert (first.route, first.tool_call) == (Route.DIRECT, ToolCall("fetch", {"url": "https://a.example/x"}))
    assert not llm.requests
    run = asking(after_pass(1, ran(calls("s1", "fetch", url="https://a.example/x"), output="red")))
    then = (await decider.evaluate(run, grant(20))).value
    assert [action.step.tool_call for action in then.actions if action.step] == [
        ToolCall("fetch", {"url": "https://b.example"})
    ]
    assert not llm.requests
    blind, _ = decider_of(RULES, registry(LOOK))
    assert (await blind.choose(asking(run_of()), grant(20), lambda _: None)).value.tool_call is None


WRITE = replace(
    spec("write", {"path": TEXT, "content": TEXT}, ("path", "content"), Effect.WRITE_CONTAINED),
    new_name="path",
    new_text="content",
)


@pytest.mark.parametrize(
    ("request_", "written"),
    [
        (
            "File what https://a.example says as notes/lake.md",
            ToolCall("write", {"path": "notes/lake.md", "content": "red"}),
        ),
        (
            "File https://a.example as lake.md and sea.md",
            ToolCall("write", {"path": "sea.md", "content": "blue"}),
        ),
    ],
)
async def test_a_new_file_is_made_from_what_was_read(request_: str, written: ToolCall) -> None:
    """Where the request names one new file, its text is written in a conversation of its own, below the page that was read; where it names
    several, the model chooses, and no other tool is offered."""
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.5, "files": -0.9}),
        Rule(contains="from what is shown above it", text="It is red."),
        Rule(contains="You write the text of a new file", text="red\n"),
        Rule.model_validate({"json": {"write": {"path": "sea.md", "content": "blue"}}}),
    )
    decider, llm = decider_of(rules, registry(STORE, FETCH, WRITE), Situation(folder_seen=True))
    run = after_pass(1, ran(calls("s1", "fetch", url="https://a.example"), output="red"))
    run = replace(run, request=replace(run.request, text=request_))
    (action,) = (await decider.evaluate(run, grant(20))).value.actions
    assert action.step is not None
    assert action.step.tool_call == written
    assert "store" not in str(llm.requests[-1].schema)


FOLDER = Situation(files=tuple((path, "") for path in ("notes/a.md", "notes/b.md", "notes/c.md", "list.txt")))
READ = replace(LOOK, candidates=("path",))


def gathering(*rules: Rule, subject: str) -> Decider:
    """A decider over the folder, for requests of this subject."""
    tools = Registry()
    tools.register(WholeTool(READ))
    given = (
        Rule(contains="Say in one word what a request", text=subject, likely=words(**{subject: 0.9})),
        *rules,
    )
    paths = tuple(path for path, _ in FOLDER.files)
    return decider_of(given, tools, FOLDER, Composing({}, paths))[0]


async def paths_read(decider: Decider, request: str, *, most: int = 9) -> Sequence[str]:
    """The files that a run for the request reads until it does something else."""
    run = run_of(request=request)
    chosen = (await decider.choose(run, grant(20), lambda _: None)).value.tool_call
    read = [str(chosen.arguments["path"])] if chosen else []
    while len(read) < most:
        steps = [
            ran(calls(f"s{number}", "look", path=path), output="red") for number, path in enumerate(read)
        ]
        judged = (
            await decider.evaluate(replace(after_pass(1, *steps), request=run.request), grant(20))
        ).value
        more = [action.step.tool_call for action in judged.actions if action.step]
        if not more:
            break
        read += [str(call.arguments["path"]) for call in more if call]
    return read


@pytest.mark.parametrize(
    ("odds", "read"),
    [(-0.05, ["notes/a.md", "notes/b.md", "notes/c.md"]), (-0.4, [])],
)
async def test_all_files_of_a_folder_are_read_for_what_is_about_them(
    odds: float, read: Sequence[str]
) -> None:
    """Where a question surely needs all files of the folder that it names, they are read before the answer, the others at once."""
    other = math.log(-math.expm1(odds))
    decider = gathering(
        Rule(contains=READS_ALL, text="all", likely={"all": odds, "one": other}),
        Rule(contains="from what is shown above it", text="Both are red."),
        Rule(contains="Find the words", text="?"),
        Rule.model_validate({"json": {"answer": "Red."}}),
        subject="files",
    )
    assert await paths_read(decider, "what do my notes say about the colours?") == read


async def test_the_files_that_a_request_names_are_read_before_a_new_one_is_made() -> None:
    """Where several files are named beside a new one, all of them are read first; of two with the same name the nearest one."""
    decider = gathering(
        Rule(contains="from what is shown above it", text="Both are red."),
        Rule.model_validate({"json": {"answer": "Done."}}),
        subject="do",
    )
    assert await paths_read(decider, "put what b.md and list.txt say into sum.md") == [
        "notes/b.md",
        "list.txt",
    ]
