import pytest

from aeond.domain.plans.plan import PlanStep
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.planning.step_references import references_in_text, references_in_value, renamed_step
from tests.support.strategy import calls, thinks


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$s1", [("s1", ())]),
        ("$s1.result", [("s1", ("result",))]),
        ("$s12.entries[0].name", [("s12", ("entries", 0, "name"))]),
        ("$s1 * 2 + $s2", [("s1", ()), ("s2", ())]),
        ("It costs $5, or $ 7, or $USD.", []),
        ("see $fetch.body.", [("fetch", ("body",))]),
        ("$fetched", []),
        ("$s1_old", []),
        ("$s7", [("s7", ())]),
        ("$s1..x", [("s1", ())]),
        ("a$s1b", []),
    ],
)
def test_references_are_found_where_they_stand(text: str, found: list[object]) -> None:
    """A dollar sign and a step of the plan, or a numbered step, make a reference; anything else is text."""
    assert [(r.step_id, r.path) for r in references_in_text(text, ("s1", "fetch"))] == found


def test_a_reference_knows_its_place_in_the_text() -> None:
    """The text around a reference can be kept."""
    text = "twice $s1.n is"
    (reference,) = references_in_text(text, ())
    assert text[reference.start : reference.end] == reference.text == "$s1.n"


def test_references_anywhere_in_a_value_are_found_with_their_paths() -> None:
    """References are found in objects and lists, each with the JSON pointer of its text."""
    value: JsonValue = {"a": "$s1", "b/c": ["x", {"d": "$s2 and $s3"}], "e": 5}
    found = {(path, reference.step_id) for path, reference in references_in_value(value, (), "/arguments")}
    assert found == {
        ("/arguments/a", "s1"),
        ("/arguments/b~1c/1/d", "s2"),
        ("/arguments/b~1c/1/d", "s3"),
    }


NAMES = {"s1": "s2_1", "s2": "s2"}


def test_every_reference_follows_the_step() -> None:
    """A step's own id, what it waits for and what it refers to, however deep, get the new names; paths stay."""
    step = calls("s2", "store", "s1", key="k", value=[{"from": "$s1.text and $s1[0]"}, 5, None])
    assert renamed_step(step, NAMES) == PlanStep(
        "s2",
        "store something",
        ToolCall("store", {"key": "k", "value": [{"from": "$s2_1.text and $s2_1[0]"}, 5, None]}),
        depends_on=("s2_1",),
    )


def test_a_task_follows_too() -> None:
    """References in the task of an agent are renamed; what only looks like one is not."""
    step = thinks("s1", "Put $s1 beside $s12 and $s3, for $5.")
    assert renamed_step(step, NAMES).description == "Put $s2_1 beside $s12 and $s3, for $5."
    assert renamed_step(step, NAMES).step_id == "s2_1"
