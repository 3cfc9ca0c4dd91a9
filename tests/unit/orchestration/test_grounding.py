"""Values that nobody said."""

import json
from typing import Any

import pytest

from aeond.domain.messages import Message, Role
from aeond.orchestration.call_schema import CallSchemas
from aeond.orchestration.constrained_asking import ConstrainedModel
from aeond.orchestration.grounding import GroundedAsking, copied_in, unsaid_in
from aeond.orchestration.repair import ModelSupervisor
from tests.support.strategy import SPECS, grant, says, spec, validator

TEXT: Any = {"type": "string"}
ORDERED = spec("order", {"by": {"enum": ["size", "name"]}, "what": TEXT})
KEEP = spec("keep", {"key": TEXT, "value": {"type": ["string", "number", "boolean"]}})
ASK = spec("request_user_input", {"prompt": TEXT})
RECALL = spec("memory_search", {"prefix": TEXT})
CALCULATOR = spec("calculator", {"expression": TEXT})
TOOLS = (CALCULATOR, *SPECS, ORDERED, KEEP, ASK, RECALL)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"route": "direct", "tool": tool, "arguments": arguments}


@pytest.mark.parametrize(
    ("its", "known", "unsaid"),
    [
        (call("look", path="london"), "Who mentions Lisbon?", ("'london'",)),
        (call("look", path="Lisbon"), "Who mentions Lisbon?", ()),
        (call("look", path="gardens"), "What grows in the garden?", ()),
        (call("look", path="verse.txt"), "Write a verse", ()),
        (call("keep", key="pin", value="1234"), "Remember my PIN.", ("1234",)),
        (call("keep", key="pin", value=1234), "Remember my PIN.", ("1234",)),
        (call("keep", key="pin", value="1234"), "Remember my PIN.\nResult: 1234", ()),
        (call("keep", key="sum", value=2400), "The sum is 2400.00 euros", ()),
        (call("keep", key="rest", value=True), "I rest", ()),
        (call("look", path="20 / 100 * 1000"), "What is 20% of my rent?", ("1000",)),
        (call("look", path="100 * 0.85"), "Convert 100 euros.", ("0.85",)),
        (call("look", path="64 * 0.85"), "64 euros, reduced by 15%", ()),
        (call("look", path="64 / 2.5"), "Half of that", ()),
        (call("look", path="5 * 24 + 7"), "5 days and 7 hours", ()),
        (call("look", path="0.175 * 2400"), "17.5% of 2400", ()),
        (call("look", path="sqrt(7056)"), "What is the square root of 7056?", ()),
        (call("order", by="size"), "Which is the largest?", ()),
        (call("look", path="one two three four five six seven"), "Write something", ()),
        (call("look", path="In 1871 " + "they went on and on " * 4), "Write something", ()),
        (call("look", path=""), "Look", ()),
        (call("look", depth=-1871), "It lies at -1871 metres.", ()),
        (call("nothing", path="london"), "Who mentions Lisbon?", ()),
        ({"done": True}, "Show it.", ()),
    ],
)
def test_what_nobody_said_is_found(its: Any, known: str, unsaid: tuple[str, ...]) -> None:
    """Numbers and whole calls that stand in nothing that was said; not what was written or comes of counting."""
    assert unsaid_in(its, TOOLS, known) == unsaid


@pytest.mark.parametrize(
    ("value", "known", "copied"),
    [
        ("tea is green", "Save it to a file.", "tea is green"),
        ("tea is green", "My tea is good.", ""),
        ("tea is cold", "Save it to a file.", ""),
        ("green", "Save it to a file.", ""),
        (3, "Save it to a file.", ""),
    ],
)
def test_what_is_copied_from_an_example_is_found(value: Any, known: str, copied: str) -> None:
    """A text of several words that was shown as an example, of which nobody said a word."""
    shown = "I know two things: sister is Mia, tea is green."
    assert copied_in(call("keep", key="x", value=value), shown, known) == copied
    assert copied_in({"answer": value}, shown, known) == copied


class Desk:
    """A model that is asked for a call."""

    def __init__(self, *answers: Any) -> None:
        self.llm = says(*(json.dumps(a) if "text" not in a else a for a in answers))

    async def ask(self, request: str, llm_calls: int = 2) -> Any:
        check = validator(*TOOLS)
        asking = GroundedAsking(ConstrainedModel(self.llm, ModelSupervisor(self.llm, check), check))
        told = (Message(Role.USER, request),)
        schema = CallSchemas().route(TOOLS)
        return (
            await asking.ask((Message(Role.SYSTEM, "london"),), told, schema, TOOLS, grant(llm_calls))
        ).value


async def test_what_was_said_is_asked_once() -> None:
    """A call that rests on the request costs one model call."""
    desk = Desk(call("look", path="Lisbon"))
    assert await desk.ask("Who mentions Lisbon?") == call("look", path="Lisbon")
    assert len(desk.llm.requests) == 1


async def test_what_nobody_said_is_looked_at_again() -> None:
    """The model is told what nobody said, rules and examples not counting as said, and its second word holds."""
    desk = Desk(call("look", path="london"), call("look", path="Lisbon"))
    assert await desk.ask("Who mentions Lisbon?") == call("look", path="Lisbon")
    *_, said, look = desk.llm.requests[1].messages
    assert said.content == '{"route":"direct","tool":"look","arguments":{"path":"london"}}'
    assert str(look.content).startswith("Result: no result, failed: 'london' stands nowhere in the request")


async def test_a_call_that_is_right_is_made_again() -> None:
    """What the model insists on is not questioned a third time."""
    desk = Desk(call("look", path="london"), call("look", path="london"))
    assert await desk.ask("Who mentions the capital of England?") == call("look", path="london")
    assert len(desk.llm.requests) == 2


QUESTION = call("request_user_input", prompt="What is your code?")


async def test_what_may_be_remembered_is_not_asked_for_at_once() -> None:
    """Before the user is asked for something of their own the model is pointed to the memory; it may insist."""
    desk = Desk(QUESTION, call("memory_search", prefix="code"))
    assert await desk.ask("What is my code?") == call("memory_search", prefix="code")
    assert "it may be remembered" in str(desk.llm.requests[1].messages[-1].content)
    assert await Desk(QUESTION, QUESTION).ask("What is my code?") == QUESTION


IDLE = call("calculator", expression="100")


@pytest.mark.parametrize(
    ("request_", "first", "why"),
    [
        ("Shorten this paragraph.", {"route": "reply"}, "this paragraph stands nowhere"),
        ("What are 100 euros?", IDLE, "nothing to compute"),
        ("Convert 100 euros.", {"route": "reply"}, "does not say into what"),
        ("Which share is 0.7 of it?", call("look", path="0.7 * 0.9"), "nobody said"),
    ],
)
async def test_doubts_are_told(request_: str, first: Any, why: str) -> None:
    """What is doubtful is told to the model in words, and what it says then counts."""
    desk = Desk(first, QUESTION)
    assert await desk.ask(request_) == QUESTION
    assert why in str(desk.llm.requests[1].messages[-1].content)


@pytest.mark.parametrize("second", [{"fail": "BAD_ANSWER", "text": ""}, {"text": "Well.", "times": 3}])
async def test_where_the_second_look_fails_the_first_holds(second: Any) -> None:
    """Neither a model that fails nor a spent grant loses the call."""
    first = call("look", path="london")
    assert await Desk(first, second).ask("Who mentions Lisbon?") == first
    assert await Desk(first).ask("Who mentions Lisbon?", llm_calls=1) == first
