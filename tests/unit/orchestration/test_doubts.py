"""What is looked at once more."""

import json
from typing import Any

import pytest

from aeond.domain.messages import Message, Role
from aeond.domain.tools import ToolCall
from aeond.orchestration.doubts import (
    MAX_LISTED,
    computes_nothing,
    files_unasked,
    handed_back,
    left_open,
    may_be_remembered,
    pointed_at,
    remembers_unasked,
    unlisted,
)
from tests.support.strategy import SPECS, spec

TEXT: Any = {"type": "string"}
ASK = spec("request_user_input", {"prompt": TEXT})
TOOLS = (*SPECS, ASK, spec("memory_search", {"prefix": TEXT}))
REPLY = {"route": "reply", "text": "It was."}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"route": "direct", "tool": tool, "arguments": arguments}


QUESTION = call("request_user_input", prompt="What is your code?")


def told(request: str, *turns: Any) -> tuple[Message, ...]:
    """A request, and calls and results in turn."""
    roles = (Role.AGENT, Role.USER)
    later = (
        Message(roles[place % 2], turn if isinstance(turn, str) else json.dumps(turn))
        for place, turn in enumerate(turns)
    )
    return (Message(Role.USER, request), *later)


@pytest.mark.parametrize(
    ("its", "conversation", "known_tools", "may"),
    [
        (QUESTION, told("What is my code?"), TOOLS, True),
        (QUESTION, told("Remember my code."), TOOLS, False),
        (QUESTION, told("What is this word in German?"), TOOLS, False),
        (QUESTION, told("What is my code?", call("memory_search", prefix="")), TOOLS, False),
        (QUESTION, told("What is my code?"), SPECS, False),
        (call("look", path="x"), told("What is my code?"), TOOLS, False),
    ],
)
def test_what_may_be_remembered(its: Any, conversation: Any, known_tools: Any, may: bool) -> None:
    """Only what a question says is the user's own, where there is a memory, and before it was looked into."""
    assert may_be_remembered(its, known_tools, conversation) is may


@pytest.mark.parametrize(
    ("its", "conversation", "known_tools", "pointed"),
    [
        (REPLY, told("Shorten this paragraph."), TOOLS, "this paragraph"),
        (REPLY, told("How many vowels are in these two words?"), TOOLS, "these two words"),
        (REPLY, told("Sum up the following e-mail, please."), TOOLS, "the following e-mail"),
        (REPLY, told("Shorten this paragraph: It was a long day."), TOOLS, ""),
        (REPLY, told("Shorten this paragraph.\nIt was a long day."), TOOLS, ""),
        (REPLY, told("Shorten this letter, note.md."), TOOLS, ""),
        (REPLY, told("Is this word a noun, 'day'?"), TOOLS, ""),
        (REPLY, told("What was said before:\nIt was a long day.\n\nShorten this sentence."), TOOLS, ""),
        (REPLY, told("Is this folder full?"), TOOLS, ""),
        (REPLY, told("Shorten this paragraph."), SPECS, ""),
        (QUESTION, told("Shorten this paragraph."), TOOLS, ""),
        (REPLY, told("Shorten this paragraph.", QUESTION, "It was a long day."), TOOLS, ""),
    ],
)
def test_what_is_pointed_at_and_not_there(
    its: Any, conversation: Any, known_tools: Any, pointed: str
) -> None:
    """Only a text that neither request nor session holds, as long as the user can be asked and was not."""
    assert pointed_at(its, known_tools, conversation) == pointed


@pytest.mark.parametrize(
    ("expression", "nothing"), [("100", True), (" 2.50 ", True), ("100 * 2", False), ("sqrt(9)", False)]
)
def test_what_computes_nothing(expression: str, nothing: bool) -> None:
    """A bare number is what was put in; anything else computes."""
    assert computes_nothing(call("calculator", expression=expression)) is nothing
    assert not computes_nothing(call("look", path=expression))


ENTRIES = {
    "total": 3,
    "entries": [{"name": "oak", "size": 1}, {"name": "elm", "size": 2}, {"name": "fir", "size": 3}],
}
LISTED = told(
    "List the trees and tell me which is the oldest.",
    call("look", path="."),
    f"Result: {json.dumps(ENTRIES)}",
)


@pytest.mark.parametrize(
    ("answer", "conversation", "missing"),
    [
        ("The oldest is elm.", LISTED, ("oak", "elm", "fir")),
        ("Oaks and more: oak, elm, fir. The oldest is elm.", LISTED, ()),
        ("There are elm and oak.", LISTED, ()),
        ("The oldest is elm.", told("Which tree is the oldest?", *(str(m.content) for m in LISTED[1:])), ()),
        ("None.", told("List the trees.", call("look", path="."), "Result: no result, failed: no park"), ()),
        ("It is.", told("List the trees.", call("look", path="."), 'Result: "oak"'), ()),
        (
            "Many.",
            told(
                "List the trees.",
                call("look", path="."),
                "Result: " + json.dumps({"entries": [{"name": f"tree {n}"} for n in range(MAX_LISTED + 1)]}),
            ),
            (),
        ),
    ],
)
def test_what_was_to_be_listed_and_is_not(answer: str, conversation: Any, missing: tuple[str, ...]) -> None:
    """Only where a list is wanted, most of it is left out, and it is short enough for an answer."""
    assert unlisted({"answer": answer}, conversation) == missing
    assert unlisted(call("look", path="."), conversation) == ()


@pytest.mark.parametrize(
    ("its", "conversation", "unasked"),
    [
        (call("memory_write", key="word", value="oak"), told("Spell it.", QUESTION, "oak"), True),
        (
            call("memory_write", key="word", value="oak"),
            told("Spell and remember it.", QUESTION, "oak"),
            False,
        ),
        (call("memory_write", key="word", value="oak"), told("My word is oak."), False),
        (call("look", path="oak"), told("Spell it.", QUESTION, "oak"), False),
    ],
)
def test_what_nobody_wants_remembered(its: Any, conversation: Any, unasked: bool) -> None:
    """What came of a call is kept only where the request speaks of keeping; what it tells itself may be kept."""
    assert remembers_unasked(its, conversation) is unasked


@pytest.mark.parametrize(
    ("its", "request_text", "unasked"),
    [
        (call("write_file", path="oak.txt", content="kao"), "Spell it backwards.", True),
        (call("write_file", path="oak.txt", content="kao"), "Spell it backwards and save that.", False),
        (call("write_file", path="oak.txt", content="kao"), "Spell it backwards in oak.txt", False),
        (call("look", path="oak.txt"), "Spell it backwards.", False),
    ],
)
def test_what_nobody_wants_in_a_file(its: Any, request_text: str, unasked: bool) -> None:
    """What came of a call is filed only where the request speaks of a file or of writing."""
    assert files_unasked(its, told(request_text, QUESTION, "oak")) is unasked
    assert not files_unasked(its, told(request_text))


@pytest.mark.parametrize(
    ("its", "conversation", "known_tools", "part"),
    [
        (REPLY, told("Convert ten miles."), TOOLS, "into what"),
        (REPLY, told("Please translate 'cat'."), TOOLS, "into what"),
        (REPLY, told("Convert ten miles into kilometres."), TOOLS, ""),
        (call("look", path="x"), told("Divide 80"), TOOLS, "by what"),
        (REPLY, told("Rename a.txt"), TOOLS, "to what"),
        (REPLY, told("Compare a.txt and b.txt"), TOOLS, ""),
        (REPLY, told("Can you convert miles?"), TOOLS, ""),
        (QUESTION, told("Convert ten miles."), TOOLS, ""),
        (REPLY, told("Convert ten miles."), SPECS, ""),
        (REPLY, told("Convert ten miles.", QUESTION, "Into feet."), TOOLS, ""),
        (REPLY, told("What was said before:\nIt is far.\n\nConvert ten miles."), TOOLS, ""),
    ],
)
def test_which_part_of_a_command_is_left_open(
    its: Any, conversation: Any, known_tools: Any, part: str
) -> None:
    """Only of commands that need two parts, as long as the user can be asked and was not."""
    assert left_open(its, known_tools, conversation) == part


@pytest.mark.parametrize(
    ("request_", "prompt", "back"),
    [
        ("Is it safe to eat raw potatoes?", "Is it safe to eat raw potatoes?", True),
        ("Which planet is the largest?", "What is the largest planet?", True),
        ("Wie hoch ist der Brocken?", "wie hoch ist der Brocken", True),
        ("What is my name?", "What is your name?", False),
        ("Ask me: what is your name?", "What is your name?", False),
        ("Note my blood group.", "What is your blood group?", False),
    ],
)
def test_a_question_that_is_handed_back(request_: str, prompt: str, back: bool) -> None:
    """Only the user's own question, whatever its language; what is asked of the user is another one."""
    assert handed_back(ToolCall("request_user_input", {"prompt": prompt}), request_) is back
    assert not handed_back(ToolCall("echo", {"prompt": prompt}), request_)
