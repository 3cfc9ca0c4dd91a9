"""Pages and files that are read because a request names them."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.profiles import Route
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.decision.decider import Decider
from tests.support.deciders import (
    INTENT,
    PAGES,
    READS_ALL,
    Composing,
    Seen,
    WholeTool,
    decider_of,
    observing,
    words,
)
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, STORE, TEXT, calls, grant, registry, run_of, spec

FETCH = replace(
    spec("fetch", {"url": TEXT, "raw": {"type": "boolean"}}, ("url",), Effect.NET), page_address="url"
)
ASKED = "Compare https://a.example/x with https://b.example, and https://a.example/x once more"
FIRST, SECOND = "https://a.example/x", "https://b.example"


def reading(content: float, **said: float) -> Decider:
    """A decider with a tool for pages, for a request that needs their content with these log-odds."""
    share = 1 / (1 + math.exp(-content))
    return decider_of(
        (
            Rule(
                contains=PAGES,
                text="content",
                likely={"content": math.log(share), "address": math.log(1 - share)},
            ),
            Rule(contains=INTENT, text="ask", likely=words(**(said or {"ask": 0.9}))),
            Rule(contains="Say in one word", text="files", likely=words(**(said or {"files": 0.9}))),
            Rule(contains="from what is shown above it", text="Both are red."),
            Rule.model_validate({"json": {"answer": "Nothing to do."}}),
        ),
        registry(LOOK, FETCH),
    )[0]


def asking(run: RunSnapshot, text: str = ASKED) -> RunSnapshot:
    return replace(run, request=replace(run.request, text=text))


async def first_call(decider: Decider, run: RunSnapshot) -> ToolCall | None:
    return (await decider.choose(run, grant(20), lambda _: None)).value.tool_call


async def next_calls(decider: Decider, *steps: StepSnapshot) -> Sequence[ToolCall | None]:
    judged = (await decider.evaluate(asking(after_pass(1, *steps)), grant(20))).value
    return [action.step.tool_call for action in judged.actions if action.step]


def fetched(number: int, url: str, output: JsonValue = None, error: str = "") -> StepSnapshot:
    return ran(calls(f"s{number}", "fetch", url=url), output=output, error=error)


async def test_pages_of_a_request_are_read_first() -> None:
    """Each page whose address the request has is read once, before another decision, the others in one go."""
    decider = reading(2.0)
    chosen = (await decider.choose(asking(run_of()), grant(20), lambda _: None)).value
    assert (chosen.route, chosen.tool_call) == (Route.DIRECT, ToolCall("fetch", {"url": FIRST}))
    first, second = fetched(1, FIRST, output="red"), fetched(2, SECOND, output="red")
    assert await next_calls(decider, first) == [ToolCall("fetch", {"url": SECOND})]
    assert await next_calls(decider, first, second) == []
    changed = ran(calls("s3", "edit", path="a", changes=[{"add": FIRST}]), output="done")
    assert await next_calls(decider, first, second, changed) == []


async def test_a_page_that_has_moved_is_read_where_it_is() -> None:
    """The place where a page has moved is read as the page is, up to eight pages in a run; the places that other tools report are not read."""
    decider = reading(2.0)
    steps = [fetched(1, FIRST, output={"location": "https://c.example/1"}), fetched(2, SECOND, output="red")]
    booked = ran(calls("s9", "look", path="a"), output={"location": "https://d.example"})
    assert await next_calls(decider, *steps, booked) == [ToolCall("fetch", {"url": "https://c.example/1"})]
    for number in range(1, 7):
        read = await next_calls(decider, *steps)
        assert read == [ToolCall("fetch", {"url": f"https://c.example/{number}"})]
        place = f"https://c.example/{number}"
        steps.append(fetched(number + 2, place, output={"location": f"https://c.example/{number + 1}"}))
    assert await next_calls(decider, *steps) == []


async def test_a_page_that_cannot_be_read_ends_the_run() -> None:
    """The answer says which page could not be read and why, and nothing is read in its place."""
    decider = reading(2.0)
    steps = fetched(1, FIRST, output="red"), fetched(2, SECOND, error="responded with the status 404")
    judged = (await decider.evaluate(asking(after_pass(1, *steps)), grant(20))).value
    assert not judged.actions
    assert judged.evaluation.final_output == f"{SECOND}: responded with the status 404"
    moved = fetched(1, FIRST, output={"location": "https://c.example"})
    gone = fetched(3, "https://c.example", error="no such host")
    run = asking(after_pass(1, moved, fetched(2, SECOND, output="red"), gone))
    judged = (await decider.evaluate(run, grant(20))).value
    assert judged.evaluation.final_output == "https://c.example: no such host"
    other = ran(calls("s4", "look", path=FIRST), error="no such file")
    judged = (await decider.evaluate(asking(after_pass(1, other)), grant(20))).value
    assert judged.evaluation.final_output == "Nothing to do."


@pytest.mark.parametrize(("odds", "answered"), [(-2.8, True), (-2.2, False)])
async def test_a_page_that_a_request_names_is_believed_sooner(odds: float, answered: bool) -> None:
    """An answer from a page that the request names may be more doubtful than one from a file that was only near."""
    decider, _ = decider_of(
        (
            Rule(contains=PAGES, text="content", likely={"content": -0.1}),
            Rule(contains="Say in one word", text="files", likely=words(files=0.9)),
            Rule(contains="from what is shown above it", text="At nine.", likely={"At": -0.01, "?": odds}),
            Rule(contains="looked for and not found", text="It does not say it."),
        ),
        registry(FETCH),
    )
    run = asking(
        after_pass(1, fetched(1, "https://a.example", output="red")), "When does https://a.example open?"
    )
    judged = (await decider.evaluate(run, grant(20))).value
    assert judged.evaluation.final_output == ("At nine." if answered else "It does not say it.")


async def test_what_a_page_does_not_show_is_not_looked_for_elsewhere() -> None:
    """A question about a page that does not answer it is refused, without a look into files and without an answer from general knowledge."""
    tools = registry(FETCH)
    tools.register(WholeTool(replace(LOOK, candidates=("path",))))
    decider, llm = decider_of(
        (
            Rule(contains=PAGES, text="content", likely={"content": -0.1}),
            Rule(contains="Say in one word", text="files", likely=words(files=0.9)),
            Rule(contains="from what is shown above it", text="?"),
            Rule(contains="from general knowledge alone", text="Nine", likely={"Nine": -0.01}),
            Rule(contains="looked for and not found", text="https://a.example does not say it."),
        ),
        tools,
        Situation(files=(("a.txt", "Ida"),), nearest=("a.txt",)),
        Composing({}, ("a.txt",)),
    )
    run = asking(
        after_pass(1, fetched(1, "https://a.example", output="red")), "When does https://a.example open?"
    )
    judged = (await decider.evaluate(run, grant(20))).value
    assert not judged.actions
    assert judged.evaluation.final_output == "https://a.example does not say it."
    assert "Looked at: https://a.example\n" in str(llm.requests[-1].messages[-1].content)


async def test_an_address_alone_is_not_read() -> None:
    """A page whose content is not needed is not read, nor is the tool for it offered, and none is read for what is to be remembered."""
    decider = reading(-2.0)
    assert await first_call(decider, asking(run_of(), f"put {FIRST} on the list")) is None
    assert isinstance(decider.means.llm, ScriptedLLM)
    assert not any("fetch" in str(one.schema) for one in decider.means.llm.requests)
    assert (
        await first_call(
            reading(2.0, do=0.9, tell=0.97), asking(run_of(), f"From now on my page is {FIRST}.")
        )
        is None
    )


async def test_a_tool_for_pages_is_not_offered_without_an_address() -> None:
    """Where nothing in view may be an address, the model does not see the tool among those that may fit."""
    known = Situation(facts=(("club page", "https://club.example"),))
    for text, situation, asked in (
        ("Is it open on Sundays?", Situation(files=(("a.txt", "Ida"),)), False),
        ("Is harbour.example open on Sundays?", Situation(), True),
        (
            "What does letters.md say?",
            Situation(files=(("letters.md", "see script.pl"), ("script.pl", ""))),
            False,
        ),
        ("What does letters.md say?", Situation(files=(("notes.txt", "Ida"),)), True),
        ("Is the club open?", known, True),
    ):
        decider = reading(2.0)
        decider = observing(decider, Seen(situation))
        await first_call(decider, asking(run_of(), text))
        assert isinstance(decider.means.llm, ScriptedLLM)
        assert any("fetch(" in str(one.messages[-1].content) for one in decider.means.llm.requests) is asked


async def test_other_runs_read_no_pages_by_themselves() -> None:
    """Without a tool that reads pages, and in a run that follows instructions, no page is read."""
    run = asking(run_of())
    instructed = replace(run, request=replace(run.request, instructions="Be brief."))
    assert await first_call(reading(2.0), instructed) is None
    rules = (Rule.model_validate({"json": {"answer": "No."}}),)
    assert await first_call(decider_of(rules, registry(LOOK))[0], run) is None


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
    """Where several files are named beside a new one, all of them are read first."""
    decider = gathering(
        Rule(contains="from what is shown above it", text="Both are red."),
        Rule.model_validate({"json": {"answer": "Done."}}),
        subject="do",
    )
    assert await paths_read(decider, "put what b.md and list.txt say into sum.md") == [
        "notes/b.md",
        "list.txt",
    ]


@pytest.mark.parametrize(("edits", "changed"), [(0.3, False), (0.9, True)])
async def test_much_that_was_read_is_for_an_answer(edits: float, changed: bool) -> None:
    """After files of a whole folder, the answer ends the run unless a change is surely wanted."""
    keep = replace(STORE, for_existing="other")
    rules = (
        Rule(contains=INTENT, text="edit", likely=words(edit=edits, ask=1 - edits)),
        Rule(contains="Say in one word what a request", text="do", likely=words(do=edits, files=0.6)),
        Rule(contains="from what is shown above it", text="All are red."),
        Rule.model_validate({"json": {"store": {"key": "a", "value": "red"}}}),
    )
    tools = Registry()
    for one in (READ, keep):
        tools.register(WholeTool(one))
    paths = tuple(path for path, _ in FOLDER.files)
    decider, _ = decider_of(rules, tools, FOLDER, Composing({}, paths))
    steps = [ran(calls(f"s{n}", "look", path=path), output="red") for n, path in enumerate(paths[:3])]
    run = asking(after_pass(1, *steps), "go through my colours, which are they")
    judged = (await decider.evaluate(run, grant(20))).value
    assert bool(judged.actions) is changed
    assert changed or judged.evaluation.final_output.startswith("All are red.")
