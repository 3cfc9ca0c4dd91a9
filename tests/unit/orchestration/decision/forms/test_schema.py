from dataclasses import replace

import pytest

from aeond.domain.tools import Effect
from aeond.orchestration.decision.forms.schema import decision_arguments, decision_schema
from aeond.orchestration.decision.interfaces import Offer
from aeond.schemas.checker import SchemaChecker
from aeond.schemas.parts import as_object
from tests.support.strategy import ADD, LOOK, spec

WRITE = spec("write", {"path": {"type": "string", "maxLength": 9}}, ("path",), Effect.WRITE_CONTAINED)


def admits(offer: Offer, value: object) -> bool:
    return not SchemaChecker().check(value, decision_schema(offer), "DECISION")  # type: ignore[arg-type]  # any value


def test_each_tool_is_tied_to_its_own_arguments() -> None:
    """An action is one key with the arguments of that tool and no others."""
    offer = Offer((ADD, LOOK))
    assert admits(offer, {"add": {"a": 1, "b": 2}})
    assert not admits(offer, {"look": {"a": 1, "b": 2}})
    assert not admits(offer, {"dance": {}})


def test_a_tool_that_only_looks_gets_existing_values_alone() -> None:
    """A name that does not exist cannot be read; it can be written."""
    offer = Offer((LOOK, WRITE), {("look", "path"): ("a.txt",), ("write", "path"): ("a.txt",)})
    assert admits(offer, {"look": {"path": "a.txt"}})
    assert not admits(offer, {"look": {"path": "b.txt"}})
    assert admits(offer, {"write": {"path": "b.txt"}})


def test_an_argument_with_only_existing_values_gets_no_other() -> None:
    """A tool that changes what is there takes no name that does not exist."""
    change = replace(WRITE, only_existing=("path",))
    offer = Offer((change,), {("write", "path"): ("a.txt",)})
    assert admits(offer, {"write": {"path": "a.txt"}})
    assert not admits(offer, {"write": {"path": "b.txt"}})


def test_without_a_tool_at_least_an_answer_is_left() -> None:
    """Other tools remain as they were; where there are none, an answer can be given."""
    assert Offer((ADD, LOOK), answer=False).without("add") == Offer((LOOK,), answer=False)
    assert Offer((LOOK,), answer=False).without("look").answer


def test_a_long_list_of_values_leaves_the_argument_free() -> None:
    """Where more values exist than are listed, another name may still be right."""
    values = tuple(f"{n}.txt" for n in range(60))
    assert admits(Offer((LOOK,), {("look", "path"): values}), {"look": {"path": "other.txt"}})


def test_a_plan_is_admitted_only_where_it_is_offered() -> None:
    """Later decisions of a run cannot turn it into a planned one."""
    assert admits(Offer(plan=True), {"plan": True})
    assert not admits(Offer(), {"plan": True})


def test_texts_have_no_upper_length() -> None:
    """Large bounds expand the engines' grammars: the token limit of the call bounds the text."""
    assert "maxLength" not in str(decision_schema(Offer((WRITE,))))


def test_a_question_to_the_user_has_no_proposed_answers() -> None:
    """Of a tool that asks the user only the arguments that it needs can be given."""
    asking = replace(
        spec("ask", {"prompt": {"type": "string"}, "default": {"type": "string"}}, ("prompt",)),
        asks_user=True,
    )
    given = as_object(decision_arguments(asking, Offer((asking,)))["properties"])
    assert list(given) == ["prompt"]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Window or aisle?", True),
        ("¿Qué día?", True),
        ("何日ですか？", True),
        ("Who? When?", False),
        ('Who is "Ida"?', False),
        ("Now", False),
    ],
)
def test_the_user_is_asked_one_question(text: str, *, asks: bool) -> None:
    """A question to the user ends with its first question mark, and has no quotation mark, which some grammars take for its end."""
    asking = replace(spec("ask", {"prompt": {"type": "string"}}, ("prompt",)), asks_user=True)
    assert admits(Offer((asking,)), {"ask": {"prompt": text}}) is asks
