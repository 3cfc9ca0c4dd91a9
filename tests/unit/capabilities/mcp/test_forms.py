"""Questions of servers and the answers to them."""

import mcp_types as types

from aeond.capabilities.mcp.forms import DECLINED, question_of, result_of
from aeond.capabilities.tools.request_checks import check_request
from aeond.schemas.compiled import CompiledSchema


def form(**fields: dict[str, object]) -> types.ElicitRequestFormParams:
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return types.ElicitRequestFormParams(message="Which one?", requested_schema=schema)


def test_a_choice_becomes_options() -> None:
    """A form with one choice has its values as options, and the one that declines."""
    asked = form(colour={"type": "string", "enum": ["red", "blue"]})
    question = question_of("paint", "paint_mix", asked)
    check_request("paint_mix", question)
    assert question.options == ("red", "blue", DECLINED)
    assert result_of(asked, "blue") == types.ElicitResult(action="accept", content={"colour": "blue"})


def test_choices_are_answered_as_the_server_wrote_them() -> None:
    """The value of a choice reaches the server with its own blanks."""
    asked = form(unit={"type": "string", "enum": ["a  b", "c"]})
    question = question_of("paint", "paint_mix", asked)
    assert question.options == ("a  b", "c", DECLINED)
    assert not CompiledSchema(question.schema).problems("a  b")


def test_a_single_field_is_asked_for_its_value() -> None:
    """The answer to a form with one field is the value of that field, or declines."""
    asked = form(count={"type": "integer", "minimum": 1})
    question = question_of("paint", "paint_mix", asked)
    check_request("paint_mix", question)
    schema = CompiledSchema(question.schema)
    assert [bool(schema.problems(answer)) for answer in (2, DECLINED, 0, "two")] == [False, False, True, True]


def test_several_fields_are_asked_for_an_object() -> None:
    """The answer to a form with several fields is an object with exactly these."""
    asked = form(a={"type": "string"}, b={"type": "boolean"})
    question = question_of("paint", "paint_mix", asked)
    check_request("paint_mix", question)
    schema = CompiledSchema(question.schema)
    assert not schema.problems({"a": "x", "b": True})
    assert schema.problems({"a": "x", "b": True, "c": 1})
    assert result_of(asked, DECLINED) == types.ElicitResult(action="decline")
