"""What is read because the request has its address, and the file that is made from it."""

from dataclasses import replace

from aeond.capabilities.llm.adapters.scripted import Rule
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from tests.support.deciders import decider_of
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


async def test_a_new_file_is_made_from_what_was_read() -> None:
    """Where the request names a new file, what was found on a page is written there, and nowhere else."""
    write = replace(
        spec("write", {"path": TEXT, "content": TEXT}, ("path", "content"), Effect.WRITE_CONTAINED),
        for_existing="change",
    )
    rules = (
        Rule(contains="Say in one word what a request", text="do", likely={"do": -0.5, "files": -0.9}),
        Rule(contains="from what is shown above it", text="It is red."),
        Rule.model_validate({"json": {"write": {"path": "lake.md", "content": "red"}}}),
    )
    decider, llm = decider_of(rules, registry(STORE, FETCH, write), Situation(folder_seen=True))
    run = after_pass(1, ran(calls("s1", "fetch", url="https://a.example"), output="red"))
    text = "File what https://a.example says as notes/lake.md"
    run = replace(run, request=replace(run.request, text=text))
    (action,) = (await decider.evaluate(run, grant(20))).value.actions
    assert action.step is not None
    assert action.step.tool_call == ToolCall("write", {"path": "notes/lake.md", "content": "red"})
    schema = str(llm.requests[-1].schema)
    assert "write" in schema
    assert "store" not in schema
