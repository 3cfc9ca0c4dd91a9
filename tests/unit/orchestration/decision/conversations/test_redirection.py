"""What the person does with a request, asked where the word for its subject leaves that open: what follows for the first decision."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Effect, ToolCall
from aeond.orchestration.decision.conversations.subject import Subject
from aeond.orchestration.decision.decider import Decider
from aeond.orchestration.interfaces import RouteChoice, discard_text
from tests.support.deciders import CORRECTS, INTENT, NOWHERE, Composing, WholeTool, decider_of, words
from tests.support.strategy import LOOK, TEXT, grant, run_of, spec

KEEP = replace(spec("keep", {"note": TEXT}, ("note",), Effect.MEMORY), candidates=("note",))
WRITE = replace(spec("write", {"text": TEXT}, ("text",), Effect.WRITE_CONTAINED), candidates=("text",))
KEPT = {"keep": {"note": "red"}}
WRITTEN = {"write": {"text": "red"}}
LOOKED = {"look": {"path": "a"}}
OPEN, SURE = words(files=0.6, do=0.35), {**words(files=0.9), "do": -4.0}
ASKS, TELLS, EDITS, ACTS = words(ask=0.9), words(tell=0.05, edit=0.9), words(edit=0.9), words(act=0.9)
NO_FACT = {"none": -0.1, "A": -9.0}
MEMORY, FILE = {"memory": -0.1, "file": -3.0}, {"file": -0.1, "memory": -3.0}


def decider(
    *decisions: object,
    subject: Mapping[str, float] = OPEN,
    intent: Mapping[str, float],
    place: Mapping[str, float] = MEMORY,
    situation: Situation = NOWHERE,
    corrected: Mapping[str, float] = NO_FACT,
) -> tuple[Decider, ScriptedLLM]:
    rules = [
        Rule(contains=CORRECTS, text="?", likely=dict(corrected)),
        Rule(contains=INTENT, text="?", likely=dict(intent)),
        Rule(contains="Say in one word what a request", text="?", likely=dict(subject)),
        Rule(contains="Say in one word where", text="?", likely=dict(place)),
        Rule(contains="from what is shown above it", text="?"),
    ]
    rules += [Rule.model_validate({"json": one, "times": 1}) for one in decisions]
    tools = Registry()
    for one in (KEEP, WRITE, replace(LOOK, candidates=("path",))):
        tools.register(WholeTool(one))
    return decider_of(tuple(rules), tools, situation, Composing({}, values=("a",)))


async def chosen(one: tuple[Decider, ScriptedLLM], request: str = "Red.") -> RouteChoice:
    return (await one[0].choose(run_of(request=request), grant(10), discard_text)).value


async def test_a_statement_is_kept() -> None:
    """A request that states something is decided with the tools of the memory alone, if the memory is the place for it; that is asked
    unless it is sure."""
    sure = decider(KEPT, intent=words(tell=0.97), place=FILE)
    assert (await chosen(sure)).tool_call == ToolCall("keep", {"note": "red"})
    one = decider(KEPT, intent=TELLS)
    assert (await chosen(one)).tool_call == ToolCall("keep", {"note": "red"})
    offered = str(one[1].requests[-1].schema)
    assert "keep" in offered
    assert "write" not in offered
    assert "answer" not in offered
    elsewhere = decider(WRITTEN, intent=TELLS, place=FILE)
    assert (await chosen(elsewhere)).tool_call == ToolCall("write", {"text": "red"})


async def test_a_statement_is_kept_without_a_look_at_the_files() -> None:
    """The names of files are not in view where only the memory is concerned: reading them would take seconds."""
    situation = Situation(files=(("a.txt", "red"),), facts=(("colour", "blue"),))
    one = decider(KEPT, intent=TELLS, situation=situation)
    assert (await chosen(one)).tool_call is not None
    asked = str(one[1].requests[-1].messages[-1].content)
    assert "colour = blue" in asked
    assert "a.txt" not in asked


async def test_an_order_is_no_question() -> None:
    """Where the subject speaks against a change and the intent for one, the change is made, also in place of an answer."""
    assert (await chosen(decider(WRITTEN, intent=EDITS, place=FILE))).tool_call is not None
    announced = decider({"answer": "I will write red."}, WRITTEN, intent=EDITS, place=FILE)
    assert (await chosen(announced)).tool_call == ToolCall("write", {"text": "red"})


async def test_an_answer_from_what_is_in_view_is_not_refused() -> None:
    """An order that the model answers from a file or fact in view, and refuses where it is to change something, was a question; an answer that
    shows nothing, such as one that claims a change, gives way to the refusal."""
    seen = Situation(lines=(("a.txt", "hall code 4711"),), files=(("a.txt", ""),))
    for answer, expected in (("It is 4711.", "It is 4711."), ("It is red now.", "I cannot.")):
        one = decider({"answer": answer}, {"cannot": "I cannot."}, intent=EDITS, place=FILE, situation=seen)
        given = (await chosen(one, "Get me the code of the hall.")).answer
        assert given is not None
        assert given.text == expected


async def test_a_question_changes_nothing() -> None:
    """Where an answer is wanted, a change is decided again without tools that change something; where it is surely wanted from what is
    kept here, they are not offered."""
    unsure = decider(WRITTEN, LOOKED, subject=words(files=0.1, do=0.85), intent=ASKS)
    assert (await chosen(unsure)).tool_call == ToolCall("look", {"path": "a"})
    sure = decider(LOOKED, intent=ASKS)
    assert (await chosen(sure)).tool_call == ToolCall("look", {"path": "a"})
    assert "write" not in str(sure[1].requests[-1].schema)


async def test_a_sure_change_of_a_file_is_not_asked_about() -> None:
    """Only tools that change files, or look, are offered for it."""
    fact = Situation(facts=(("hall colour", "blue"),))
    sure = decider(WRITTEN, subject=words(do=0.9), intent=EDITS, place=MEMORY, situation=fact)
    assert (await chosen(sure)).tool_call == ToolCall("write", {"text": "red"})
    assert "keep" not in str(sure[1].requests[-1].schema)


@pytest.mark.parametrize(
    ("request_", "likely", "intent", "kept"),
    [
        ("The hall is red now.", -0.02, EDITS, True),
        ("The hall is red now.", -1.2, EDITS, False),
        ("The hall is red now.", -1.2, words(tell=0.6, edit=0.4), True),
        ("The hall is red now.", -6.0, EDITS, False),
        ("Write the hall colour into a.txt.", -0.02, EDITS, False),
    ],
)
async def test_a_fact_that_is_corrected_is_changed_in_the_memory(
    request_: str, likely: float, intent: Mapping[str, float], kept: bool
) -> None:
    """A change goes to the memory where a fact is surely corrected, or likely and the request is rather a statement than a change of a file; unless the request names a
    file."""
    known = Situation(files=(("a.txt", "red"),), facts=(("hall colour", "blue"),))
    made = KEPT if kept else WRITTEN
    fact = {"A": likely, "none": math.log(1 - math.exp(likely))}
    one = decider(made, subject=words(do=0.9), intent=intent, place=FILE, situation=known, corrected=fact)
    call = (await chosen(one, request_)).tool_call
    assert call is not None
    assert call.tool == ("keep" if kept else "write")
    offered = next(str(request.schema) for request in one[1].requests if request.schema is not None)
    assert ("write" in offered) is not kept


async def test_what_is_to_be_done_elsewhere_is_refused() -> None:
    """Without a tool of another author a call, a letter or an order can only be refused."""
    refusal = {"cannot": "I cannot print."}
    one = decider(refusal, subject=words(do=0.9), intent=ACTS)
    answer = (await chosen(one)).answer
    assert answer is not None
    assert answer.text == "I cannot print."
    assert "write" not in str(one[1].requests[-1].schema)


@pytest.mark.parametrize(
    ("subject", "request_", "asked"),
    [
        (OPEN, "Red.", True),
        (OPEN, "Is it red?", False),
        ({"do": -0.1, "files": -3.0}, "Can you make it red?", True),
        (SURE, "Red.", False),
    ],
)
async def test_it_is_asked_where_it_is_open(
    subject: Mapping[str, float], request_: str, *, asked: bool
) -> None:
    """The question is spared where the subject, or the form of a request that is no order, says that it asks."""
    one = decider(LOOKED, LOOKED, subject=subject, intent=ASKS)
    await chosen(one, request_)
    assert any(INTENT in str(request.messages[0].content) for request in one[1].requests) is asked


def test_without_a_word_for_it_the_subject_counts() -> None:
    """An intent of which the model said nothing changes nothing."""
    assert Subject(()).wants_change is False
    assert Subject(()).is_beyond is False
    assert Subject(()).is_statement is False
