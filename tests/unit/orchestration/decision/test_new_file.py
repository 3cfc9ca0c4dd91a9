"""The new file that a request names."""

from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from tests.support.deciders import PAGES, decider_of, words
from tests.support.judging import after_pass, ran
from tests.support.strategy import LOOK, STORE, TEXT, calls, grant, registry, spec

FETCH = replace(spec("fetch", {"url": TEXT}, ("url",), Effect.NET), page_address="url")
WRITE = replace(
    spec("write", {"path": TEXT, "content": TEXT}, ("path", "content"), Effect.WRITE_CONTAINED),
    new_name="path",
    new_text="content",
)
ORDER = "File what https://a.example says as notes/lake.md"
PAGE = ran(calls("s1", "fetch", url="https://a.example"), output="red")
KEEP = replace(STORE, for_existing="other")
OTHER = ToolCall("store", {"key": "a", "value": "b"})


async def made(
    request: str,
    *steps: StepSnapshot,
    subject: str = "do",
    text: str = "red\n",
    reply: str = "It is red.",
    naming: str = "new",
) -> ToolCall | None:
    """What a run does after these steps, in which a page was read."""
    share = words(**{subject: 0.5, "files": 0.2}) if subject == "do" else words(**{subject: 0.9})
    rules = (
        Rule(contains=PAGES, text="content", likely={"content": -0.1}),
        Rule(contains="Say in one word what the name is for", text=naming, likely={naming: -0.1}),
        Rule(contains="Say in one word what a request", text=subject, likely=share),
        Rule(contains="from what is shown above it", text=reply, likely={reply: -0.1}),
        Rule(contains="You write the text of a new file", text=text),
        Rule.model_validate({"json": {"store": {"key": "a", "value": "b"}}}),
    )
    situation = Situation(files=(("boat.md", "Ida"),), folder_seen=True)
    decider, _ = decider_of(rules, registry(KEEP, LOOK, FETCH, WRITE), situation)
    run = after_pass(1, *(steps or (PAGE,)))
    run = replace(run, request=replace(run.request, text=request))
    actions = (await decider.evaluate(run, grant(20))).value.actions
    return actions[0].step.tool_call if actions and actions[0].step else None


async def test_it_is_made_from_what_was_read() -> None:
    """The text is written in a conversation of its own, and the file lies where the request says."""
    assert await made(ORDER) == ToolCall("write", {"path": "notes/lake.md", "content": "red"})


async def test_it_is_made_where_the_source_is_named() -> None:
    """If the page that the request names may not show an answer, the text is written from it all the same."""
    assert await made(ORDER, reply="?") == ToolCall("write", {"path": "notes/lake.md", "content": "red"})


@pytest.mark.parametrize(
    ("request_", "given"),
    [
        ("File https://a.example as lake.md and sea.md", {}),
        (ORDER, {"text": " \n"}),
        ("In boat.md name lake.md, as https://a.example does", {"naming": "text"}),
    ],
)
async def test_other_orders_are_decided_about(request_: str, given: dict[str, str]) -> None:
    """With several new names, without a text, and where the name is only to stand in a file that exists, the model chooses what to do."""
    assert await made(request_, **given) == OTHER


async def test_a_question_makes_no_file() -> None:
    """A question that names a missing file is answered."""
    answered = await made("does https://a.example say what lake.md says?", subject="files")
    assert answered is None or answered.tool != "write"


async def test_it_is_not_made_from_half_of_its_sources() -> None:
    """Where a file could not be read, none is made from the others."""
    failed = ran(calls("s0", "look", path="sea.md"), error="no such file")
    assert await made(ORDER, failed, PAGE) == OTHER
