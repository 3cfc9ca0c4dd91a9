import pytest

from aeond.domain.values import JsonValue
from aeond.orchestration.call_schema import MAX_FINAL_CHARS, CallSchemas
from aeond.orchestration.plan_schema import largest_bytes
from tests.support.strategy import ADD, LOOK, SPECS, validator

CALL: JsonValue = {"route": "direct", "tool": "look", "arguments": {"path": "garden"}}


@pytest.mark.parametrize("said", [{"route": "reply"}, {"route": "plan"}, CALL])
def test_a_route_is_one_of_three(said: JsonValue) -> None:
    """A request is replied to, planned, or begun with one call of a tool."""
    assert validator().validate_output(said, CallSchemas().route(SPECS)) == ()


@pytest.mark.parametrize(
    "said",
    [
        {"route": "direct"},
        {"route": "reply", "tool": "look"},
        {"route": "direct", "tool": "fly", "arguments": {}},
        {"route": "direct", "tool": "look", "arguments": {}},
        {"route": "direct", "tool": "look", "arguments": {"path": "garden", "colour": "green"}},
        {"route": "direct", "tool": "look", "arguments": {"a": 1, "b": 2}},
        {"done": True},
    ],
)
def test_nothing_else_can_be_said(said: JsonValue) -> None:
    """An unknown tool, an unknown argument, one missing, or another tool's arguments are outside the schema."""
    assert validator().validate_output(said, CallSchemas().route(SPECS)) != ()


@pytest.mark.parametrize("said", [{"done": True}, {"answer": "It is green."}, CALL])
def test_a_result_is_followed_by_an_end_or_a_call(said: JsonValue) -> None:
    """After a result the run is done, has its answer, or goes on with a call."""
    assert validator().validate_output(said, CallSchemas().following(SPECS)) == ()


def test_without_tools_only_an_end_can_follow() -> None:
    """Where no other call may be made, the schema has none."""
    schema = CallSchemas().following(())
    assert validator().validate_output({"done": True}, schema) == ()
    assert validator().validate_output(CALL, schema) != ()


def test_an_answer_has_a_bound() -> None:
    """What can be said has a largest size, so that a cut is a cut."""
    assert largest_bytes(CallSchemas().following(())) >= MAX_FINAL_CHARS


def test_the_schema_follows_the_tools() -> None:
    """Other tools give another schema; the same ones the same."""
    schemas = CallSchemas()
    assert schemas.route((ADD,)) != schemas.route((LOOK,))
    assert schemas.route((LOOK,)) == CallSchemas().route((LOOK,))
