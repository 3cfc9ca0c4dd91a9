"""Functions of a client as a schema of the model's answer."""

import pytest

from aeond.facades.openai.engine import call_schema, read_calls, with_rules
from aeond.facades.openai.failures import ApiError
from aeond.facades.openai.parts import Function, FunctionCall, Prompt, Said

EMPTY = {"type": "object"}
FUNCTIONS = (Function("f", "does", EMPTY), Function("g", "", EMPTY))


def prompt(choice: str = "auto", *, parallel: bool = True) -> Prompt:
    return Prompt("m", (Said("user", "hello"),), FUNCTIONS, choice=choice, parallel=parallel)


def test_the_schema_follows_the_choice() -> None:
    """Text is allowed by `auto` alone, and a chosen function is the only one, once."""
    assert len(call_schema(prompt())["anyOf"]) == 2
    required = call_schema(prompt("required", parallel=False))["properties"]["calls"]
    assert (len(required["items"]["anyOf"]), required["maxItems"]) == (2, 1)
    chosen = call_schema(prompt("function:g"))["properties"]["calls"]
    assert chosen["items"]["properties"]["name"] == {"const": "g"}
    with pytest.raises(ApiError, match="h"):
        call_schema(prompt("function:h"))


def test_the_rules_are_in_the_system_message() -> None:
    """The functions are described in the system message, or in one of their own."""
    first, second = with_rules(prompt())
    assert (first.role, second.text) == ("system", "hello")
    assert '"does"' in first.text


def test_an_answer_is_calls_or_text() -> None:
    """Calls get ids of their own; an answer that is neither is an error, which says so if the limit cut it."""
    calls, text = read_calls('{"calls": [{"name": "f", "arguments": {"a": 1}}]}', "x", cut=False)
    assert (calls, text) == ([FunctionCall("call_x_0", "f", '{"a": 1}')], "")
    assert read_calls('{"text": "hi"}', "x", cut=False) == ([], "hi")
    for cut, code in ((True, "max_tokens_reached"), (False, "model_output_invalid")):
        with pytest.raises(ApiError) as caught:
            read_calls('{"calls": [{', "x", cut=cut)
        assert caught.value.code == code
